// Package sdp solves the two semi-definite programs of privacy-aware Gaussian
// process regression (Tuo and Bhattacharya, "Privacy-aware Gaussian Process
// Regression") and certifies each answer with a duality gap.
//
//   - [SolveWeak]: the least noise covariance Σ with a tolerance at each of
//     several sensitive inputs, problem (10) of the paper.
//   - [SolveDiagonal]: the least diagonal Σ for one sensitive input, the
//     comparison of the paper's Example 1.
//
// The first follows the central path of the program's own logarithmic barrier
// with Newton's method, the second that of its dual with a primal-dual method.
// Both finish with an exact step on the face that the path points to. Neither
// step is trusted: a solution carries an upper bound, the trace of a covariance
// whose feasibility was measured, and a lower bound, the dual value of a point
// that is dual feasible by construction. Their difference is the gap.
//
// All matrices are dense and in float64. Nothing here depends on the number of
// processors.
package sdp
