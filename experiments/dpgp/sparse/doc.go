// Package sparse is Algorithm 1 of Honkela (2021): the posterior of a sparse Gaussian
// process from sums over the data to which noise was added once.
//
// With M inducing inputs Z, chosen without the private data, the optimal variational
// posterior q(u) = N(m, S) of the function values at Z (Titsias 2009, Eq. 2) depends on
// the rows (x_i, y_i) through two sums alone,
//
//	A = Σ_i k_i y_i (length M),  B = Σ_i k_i k_iᵀ (M×M),  k_i = k(Z, x_i)
//
// (Eq. 3). Substituting one row moves them by at most Δ (Eq. 6), for which the Gaussian
// mechanism is calibrated; everything after the noise, predictions at any inputs
// included, is post-processing. Inputs are protected as well as outputs, unlike with the
// cloaking of Smith, Álvarez and Lawrence.
//
// A [Model] is what is public beforehand, [Noise] what is added to the sums, and a
// [Posterior] what may be published. [ExactSums] are the sums of a release, in whole
// numbers and with exact noise.
//
// It is the ground of the experiments: they share the settings and metrics of the
// model's noise, the simulated observations, and a [Problem], which a trial computes
// with.
//
// What differs from the print is a choice, each with the printed form beside it: the
// limits of the sum in Eq. (7) ([Eq7], [Eq7Printed]), the last factor of λ in Eq. (10)
// ([Regularisation]), and the covariance of Eq. (14) for noise that is one symmetric
// draw ([Covariance]).
package sparse
