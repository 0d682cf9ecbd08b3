// Package cloak is the cloaking mechanism (Smith, Álvarez and Lawrence 2019; Hall, Rinaldo and
// Wasserman 2013): the common part of regression, classification and the choice of
// hyper-parameters.
//
// A [Problem] is public inputs X (N×d) and private outputs y (N), clipped to an interval of width
// Δ. A [Model] makes of X the cloaking matrix C (P×N), by which the predictions at P test inputs
// are linear in the outputs, f = Cy. SolveDesigns finds the smallest covariance M of noise for
// which every column of C has a Mahalanobis norm cᵀM⁻¹c of at most one (package design), and a
// [Mechanism] releases the range of C with that noise, scaled to Δ and to (ε, δ).
//
// Why it works: one output changes f by at most Δ·c_j for its column c_j, which in the norm of M is
// at most Δ; noise N(0, (Δ·c(δ)/ε)² M) then hides it as the Gaussian mechanism hides a number. C is
// computed from the inputs alone, which are public here: whose outputs they are, and how many there
// are, is not protected. Noise is shaped by M so that test points far from all data, where
// predictions do not move, get little.
package cloak
