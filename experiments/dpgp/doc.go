// Package dpgp reproduces A. Honkela, "Gaussian processes with differential privacy" (2021): sparse
// Gaussian processes that protect inputs and outputs.
//
// A sparse GP with fixed, public inducing inputs Z depends on the data through
//
//	A = Σ k_i y_i,  B = Σ k_i k_iᵀ,  k_i = K_ZXi (Eq. 3)
//
// alone, which get Gaussian noise once (Algorithm 1). The rest is post-processing (Eqs. 9 to 15):
// λI keeps the update positive definite in spite of the noise in B, and S₂ in the posterior's
// covariance accounts for the noise. The posterior N(m, S) of the function at Z is all that is
// needed to predict (Eq. 17); package graphs/sparsegp computes it.
//
// Package sparse holds the model, its noise, the sums and the posterior, and the settings that the
// experiments share; package simulated holds the experiments on the mechanism and on the posterior of
// simulated observations. This package holds the paper, the private search for hyperparameters and
// classification, both for simulated data and for a user's own.
//
// # Unit of protection
//
// One row, input and output, substituted by any other. Kernel, noise level, R_y, Z and the number
// of rows are public. Outputs beyond R_y are clipped; their number is private.
//
// # The bound on a row
//
// The noise is proportional to the sensitivity (6), which rests on a bound R_k of ‖k_i‖. The
// paper's is Eq. (7) in one dimension, for inducing inputs at least d_z apart; parameter bound
// offers it as printed (valid, with terms to spare), as derived, the looser Eqs. (4) and (8), and
// the exact maximum over all inputs, with which a quarter less noise is needed for the paper's nine
// inducing inputs.
//
// # Errata
//
// The ledger lists them. Those that change results are parameters: covariance (Eq. 14 takes the two
// off-diagonal elements of the noise for independent ones, but they are one), regularisation (the
// smaller variance off the diagonal enters λ as a variance where it should as a standard deviation)
// and rule (Algorithm 2 compares a sum with the bound of one of its terms). Parameter coinpress is
// no erratum: as published its intervals reach beyond the one in which values lie.
//
// # Claims
//
// Statements of the text across settings have experiments of their own: dpgp/scenarios takes all of
// Fig. 2 for a trial, so that scenarios are compared on the same functions, dpgp/regularisation
// counts how often the noise exceeds λ and how often the update fails without it,
// dpgp/heteroscedastic holds Appendix D's sensitivity against substitutions, and dpgp/search-time
// measures Algorithm 2.
//
// # Your own data
//
// Package regression has experiment dpgp/regression, which fits a user's file and releases the
// model; package modelfile reads such a file and predicts, without data.
//
// # Where the paper is silent
//
// Kernel variance 1, inputs uniform on [−4, 4], the bound (7), R_y = 1 for sin(2x)/(2x) and 2 for
// functions drawn from the GP, with outputs beyond clipped. σ_a/σ_b = 1 stands in Section 7 only.
// In Section 6.2 we count test observations, with the variance of their noise; parameter cover
// counts the true function instead.
package dpgp
