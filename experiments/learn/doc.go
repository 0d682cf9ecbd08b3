// Package learn holds the small learners and scores that several papers share: support vector
// machines with cross-validation of their C, nearest neighbours, random forests, k-means
// clustering, cross-validation folds, the L2 distance of two densities and the ROC curve.
//
// # Guarantees
//
// Everything here is deterministic: random draws come from the *rand.Rand that the caller passes,
// ties are broken by the smaller index or label, and sums have a fixed order for any number of
// workers. Matrices have samples as rows (N×d), labels are any integers. Everything computes in
// float64 on the CPU.
//
// Nothing here is private: a learner on private data without noise has no guarantee, as the privacy
// blocks of the experiments state.
//
// # Algorithms
//
// The algorithms are the known ones, in the variants of well-known libraries, so that answers can
// be compared: SMO with second-order working sets for support vector machines (as LIBSVM), greedy
// k-means++ with Lloyd's iteration (as scikit-learn), contiguous folds of the sizes of NumPy.
// Methods that are faster than the textbook's give its answer up to rounding: bounds of the
// triangle inequality in k-means, matrix products that only select candidates for nearest
// neighbours, ranks for the splits of a forest, the fast Gauss transform for sums of kernels.
//
// # Errors
//
// Invalid input is an error with its reason and a remedy: too few samples, values that are not
// finite, an iteration that reaches its cap. There is no silent result of a search that did not
// converge.
package learn
