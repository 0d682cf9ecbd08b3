// Package learn holds the small learners that several papers share: k-means
// clustering and cross-validation folds. Everything here is deterministic:
// what is random comes from the *rand.Rand that the caller passes.
package learn
