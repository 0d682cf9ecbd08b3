// Package sdp solves the two semi-definite programs of privacy-aware Gaussian process
// regression (Tuo and Bhattacharya, "Privacy-aware Gaussian Process Regression") and
// certifies each answer with a duality gap.
//
//   - [SolveWeak]: the least noise covariance Σ with a tolerance at each of
//     several sensitive inputs, problem (10) of the paper.
//   - [SolveDiagonal]: the least diagonal Σ for one sensitive input, the
//     comparison of the paper's Example 1.
//
// The data are M = K_XX + V (n×n), the covariance of the training outputs, columns a_i =
// K_{X,s_i} for the sensitive inputs s_i, and q_i = K(s_i,s_i) − ξ_i. A predictive
// variance of at least ξ_i at s_i is a_iᵀ(Σ+M)⁻¹a_i ≤ q_i, which by a Schur complement
// is a linear matrix inequality in Σ. All have the unit of a variance.
//
// The first follows the central path of the program's own logarithmic barrier with
// Newton's method, the second that of its dual with a primal-dual method. Both finish
// with an exact step on the face that the path points to. Neither step is trusted: a
// solution carries an upper bound, the trace of a covariance whose feasibility was
// measured, and a lower bound, the dual value of a point that is dual feasible by
// construction. Their difference is the gap.
//
// A general interior-point method has n(n+1)/2 unknowns, and its Newton system O(n⁶)
// operations. Both programs are smaller than they look: (10) has ρ(ρ+1)/2 unknowns for
// the rank ρ of the a_i, the diagonal one n + 1 in its dual. At n = 120 and ten
// sensitive inputs that is a second instead of ten minutes.
//
// All matrices are dense and in float64. Nothing here depends on the number of
// processors.
package sdp
