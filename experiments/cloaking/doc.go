// Package cloaking reproduces M. T. Smith, M. A. Álvarez and N. D. Lawrence, "Differentially
// private regression and classification with sparse Gaussian processes" (2019): heights of the
// !Kung predicted from age and weight, with noise that protects every single height.
//
// A GP's posterior mean is linear in the training outputs y: Cy, with the cloaking matrix C a
// function of the public inputs alone. Gaussian noise shaped by C (package design) makes a set of
// predictions differentially private. The more a prediction leans on single outputs, the more noise
// it needs; the paper compares three models in this respect:
//
//   - standard: a GP with the exponentiated quadratic kernel;
//   - sparse: the FITC approximation with few inducing inputs, placed by
//     k-means on the public inputs, which average over many outputs;
//   - nonstationary: Gibbs' kernel with lengthscales that follow the density of
//     the inputs.
//
// The alternative of Section 5.3 is a weighted sum of two GPs after Herlands et al. 2016, whose
// weights follow the same density.
//
// Heights are clipped to an interval of length sensitivity_cm and measured from a prior mean. As
// published, interval and mean come from the private heights; with normalisation=public they are
// constants.
//
// Package cloak holds the part that all experiments share: data, models, the noise and its solver,
// and the steps of a release that do not depend on the problem. On it stand regress (predictions of
// numbers), classify (of classes) and choose (of hyper-parameters), each of which imports cloak and
// none of which another. This package puts them together to a paper.
//
// # Errata
//
// The paper's mistakes that matter here, and their treatment in this package:
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
//   - Section 4 samples the noise in the squared errors, and finds that it "doesn't
//     introduce extra DP requirements": a draw enters times the error, which a
//     height moves. Parameter noise_in_errors; its expectation has no such term.
//   - The authors' code for Section 5.7 (lionfish0/dask_dp4gp, dp4gp) takes five
//     steps from two random starts, a pseudo-inverse and Δ without the root, draws
//     the errors anew after it has cut them, and knows no threshold. Parameters
//     solver=gradient, inverse and scaling have its noise.
//   - The spreads over folds in Table 1 are about half of those of one draw.
//   - Fig. 2 has the noise of the variable lengthscale "slightly reduced", the text
//     "much reduced".
//   - In Section 5.3 it is the other input's lengthscale, not its covariance, that
//     the best lengthscale approaches: l_m² = 2d² + √(4d⁴ + l_n⁴).
//   - The zeros of Table 2 follow from a cut of the SSEs, which are private, not
//     from one of the sensitivities. No ε holds for it: parameter sse_cut.
//
// The ledger lists these with their places.
package cloaking
