// Package reconstruct restores inputs from features that were published by a compression.
//
// The adversary has the file of the compression, the features of the rows that she attacks, and known rows with all
// inputs, from which she has means, standard deviations, ranges and features. She guesses each input
//
//   - by its mean over the known rows, which needs no features;
//   - by a linear function of the features that is learnt from the known rows (ridge regression);
//   - by an input with these features (a pre-image), in the ranges: from several starts, by the derivatives of the
//     kernels;
//   - by a pre-image near the linear guess, whose distance has a weight.
//
// Weights, and which of these she uses, are chosen by known rows that are held out, and not by those that she attacks.
//
// Errors are in standard deviations of the known rows: guessing the mean has about 1.
package reconstruct
