// Package cloaking reproduces M. T. Smith, M. A. Álvarez and N. D. Lawrence,
// "Differentially private regression and classification with sparse Gaussian
// processes" (2019): heights of the !Kung predicted from age and weight, with
// noise that protects every single height.
//
// A GP's posterior mean is linear in the training outputs y: Cy, with the
// cloaking matrix C a function of the public inputs alone. Gaussian noise
// shaped by C (package design) makes a set of predictions differentially
// private. The more a prediction leans on single outputs, the more noise it
// needs; the paper compares three models in this respect:
//
//   - standard: a GP with the exponentiated quadratic kernel;
//   - sparse: the FITC approximation with few inducing inputs, placed by
//     k-means on the public inputs, which average over many outputs;
//   - nonstationary: Gibbs' kernel with lengthscales that follow the density of
//     the inputs.
//
// Heights are clipped to an interval of length sensitivity_cm and measured from
// a prior mean. As published, interval and mean come from the private heights;
// with normalisation=public they are constants.
//
// # Classification
//
// The mode of a GP classifier is found by Newton's method (package laplace). A
// step is linear in the labels, with the cloaking matrix C = ½(K⁻¹ + W)⁻¹, so
// that noise shaped by C protects them (Section 3). What is released at each
// step is w = By + noise, in the whitened coordinates B of C's range; the step,
// the posterior and all predictions are computed from w, public inputs and the
// modes that earlier steps released. T steps spend (ε/T, δ/T) each. Labels at
// equal inputs are taken together, which makes matrices smaller and changes
// nothing else: each label moves a step by the column of its input.
//
// Where C is square and invertible the best noise is independent noise on every
// label. Cloaking does better only where C is of low rank, which smooth kernels
// make it numerically, and inducing inputs exactly.
//
// # Selection
//
// Hyperparameters cost privacy too where they are chosen by errors on private
// heights. cloaking/selection is the paper's Algorithm 1: a grid of lengthscales
// and variances, the squared error of each by cross-validation, with the noise
// that a release would have, and one configuration chosen by the exponential
// mechanism. The utility is minus the sum of squared errors (SSE); its
// sensitivity says how flat the probabilities must be.
//
// As published it is Eq. (9), which leaves out a term and is no bound. For
// heights in an interval of length d there is an exact one: with the errors a
// linear function of the heights, e = Az, the largest change of ‖Az‖² is found
// per height from H = AᵀA. It is smaller than (9) where predictions average over
// many heights (1.36 d² against 9.01 d²), and larger where they do not. Choosing
// and then releasing predictions of the same heights adds up: (ε_s, 0) and
// (ε, δ) make (ε_s + ε, δ).
//
// # Errata
//
// The paper's mistakes that matter here, and what this package does:
//
//   - Eq. (2) is the derivative of Σλ − log|M| by λ_j, 1 − c_jᵀM⁻¹c_j, not of
//     M⁻¹. The norm in the formula before it must be squared; confusing Δ with
//     Δ² over-noises for Δ > 1 and breaks the guarantee for Δ < 1. Here the
//     noise is scaled by the largest Mahalanobis norm that the design has.
//   - Hall's c(δ) = √(2 log(2/δ)) is proved for ε ≤ 1 only: larger ε are an
//     error with calibration=hall. calibration=analytic is exact.
//   - (ε, δ) does not mean that the ε-inequality "holds with probability 1 − δ".
//   - The midpoint, mean and standard deviation of the heights are private.
//   - A pseudo-inverse of a singular M is unsafe; package design projects on a
//     public range instead.
//   - The text calls the sparse method undegraded by the weight; its Table 1 has
//     9.9 against 10.2 cm.
//   - The diagonal of W is +π(1 − π), not −π(1 − π), and B = I + W^½KW^½. Two
//     Newton steps must share ε and δ.
//   - Eq. (9) is no upper bound (see above), Algorithm 1 has the wrong sign in
//     its exponent, and sorts in the wrong order. The utility is −SSE, with one
//     sensitivity for all configurations.
//   - The zeros of Table 2 follow from a cut of the SSEs, which are private, not
//     from one of the sensitivities. No ε holds for it: parameter sse_cut.
//
// The ledger lists these with their places.
package cloaking
