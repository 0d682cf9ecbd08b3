// Package learn holds the small learners and scores that several papers share:
// support vector machines with cross-validation of their C, nearest neighbours,
// random forests, k-means clustering, cross-validation folds, the L2 distance
// of two densities and the ROC curve. Everything here is deterministic: what is
// random comes from the *rand.Rand that the caller passes.
package learn
