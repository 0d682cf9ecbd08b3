// Package infer has adversaries who name the class of a row from its features, such as the person behind it.
//
// # Adversaries
//
// A support vector machine with an RBF kernel, nearest neighbours, a random forest, boosted trees and a network of one
// hidden layer. Each is tuned by cross-validation in three parts of the training rows alone, and where these are many
// in the first of the parts. Its settings climb ladders: from the best of some places to a better neighbour on any of
// them, until no neighbour is better. So there are tried settings on both sides of a chosen one, unless it is at the
// end of a ladder; then the adversary is untuned, and a stronger one of her kind may exist. An end beyond which there
// is nothing, such as one neighbour, is no such end.
//
// The chosen adversary is the one with the best cross-validated accuracy. It does not depend on the test rows, and so
// its accuracy about them is an unbiased one; the largest of several is not.
//
// # Pooling
//
// Rows that are known to be of one class are named together: by the class with the largest sum of logarithms of the
// probabilities of all of them, and with machines by the votes of the sums of decisions.
//
// # Intervals
//
// [IntervalOf] has those of an accuracy over units, such as persons, which are independent while the rows of one are
// not.
package infer
