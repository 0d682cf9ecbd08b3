// Package design finds the noise covariance of the cloaking mechanism.
//
// A prediction Cy is a linear function of the private outputs y; C is the cloaking matrix (P×N),
// c_i its columns. Changing output i by at most s moves the prediction by at most s·c_i, so that
// noise N(0, (s·f)² M), f from a calibration of (ε, δ), protects the outputs if every column has a
// Mahalanobis norm √(c_iᵀM⁻¹c_i) ≤ 1. The covariance with the smallest determinant is
//
//	M = Σ λ_i c_i c_iᵀ,  λ ≥ 0 maximal point of log|M| − Σ λ_i
//
// (Smith, Álvarez, Zwiessele and Lawrence 2018): the minimum-volume ellipsoid around ±c_i, and the
// dual of D-optimal experimental design. At the optimum Σλ = r, the rank, and g_i = c_iᵀM⁻¹c_i ≤ 1.
// For any λ, scaled so that Σλ = r, r·log(max_i g_i) bounds how much log|M|, made feasible, exceeds
// the smallest one: the certificate that every result carries.
//
// # Rank
//
// C is often singular to working precision: test points repeat, and smooth kernels make singular
// values fall geometrically. A pseudo-inverse of M is then unsafe: a direction that it drops is
// released without noise. [Whiten] treats the rank instead: with C = USVᵀ and a rank r chosen from
// public inputs, the released value is U_rU_rᵀCy, in which only the kept directions appear, and the
// noise lies in them. The optimisation runs in the coordinates b_i = S_r⁻¹U_rᵀc_i, where it is as
// well conditioned as it can be; optimum and certificate do not change under a linear map.
package design
