// Package choose chooses hyper-parameters with differential privacy (Smith, Álvarez and Lawrence
// 2019, Section 4, Algorithm 1).
//
// Hyperparameters cost privacy too where they are chosen by errors on private heights.
// cloaking/selection is the paper's Algorithm 1: a grid of lengthscales and variances, the squared
// error of each by cross-validation, with the noise that a release would have, and one
// configuration chosen by the exponential mechanism. The utility is minus the sum of squared errors
// (SSE); its sensitivity determines how flat the probabilities must be.
//
// As published it is Eq. (9), which leaves out a term and is no bound. For heights in an interval
// of length d there is an exact one: with the errors a linear function of the heights, e = Az, the
// largest change of ‖Az‖² is found per height from H = AᵀA. It is smaller than (9) where
// predictions average over many heights (1.36 d² against 9.01 d²), and larger where they do not.
// Choosing and then releasing predictions of the same heights adds up: (ε_s, 0) and (ε, δ) make
// (ε_s + ε, δ).
package choose
