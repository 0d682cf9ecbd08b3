// Package sparse implements Algorithm 1 of Honkela (2021): the posterior of a sparse Gaussian
// process from sums over the data to which noise is added once.
//
// With M inducing inputs Z, chosen without the private data, the optimal variational posterior q(u)
// = N(m, S) of the function values at Z (Titsias 2009, Eq. 2) depends on the rows (x_i, y_i)
// through two sums alone,
//
//	A = Σ_i k_i y_i (length M),  B = Σ_i k_i k_iᵀ (M×M),  k_i = k(Z, x_i)
//
// (Eq. 3). Substituting one row moves them by at most Δ (Eq. 6), for which the Gaussian mechanism
// is calibrated; everything after the noise, predictions at any inputs included, is
// post-processing. Inputs are protected as well as outputs, unlike with the cloaking of Smith,
// Álvarez and Lawrence.
//
// A [Model] holds the public numbers, [Noise] the noise of the sums, and a [Posterior] the result,
// which may be published. [ExactSums] are the sums of a release, in whole numbers and with exact
// noise.
//
// The experiments share the settings of the model, its bound and its noise, the simulated observations,
// and a [Problem], which a trial computes with.
//
// Each departure from the print is a choice that offers the printed form as well: the limits of the
// sum in Eq. (7) ([Eq7], [Eq7Printed]), the last factor of λ in Eq. (10) ([Regularisation]), and
// the covariance of Eq. (14) for noise that is one symmetric draw ([Covariance]).
package sparse
