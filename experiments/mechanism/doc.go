// Package mechanism holds the mechanisms of differentially private releases and
// the arithmetic of their budgets:
//
//   - calibrations of Gaussian noise, and its exact δ(ε), [GaussianDelta];
//   - [EntryNoise], the noise of least magnitude for single entries of a matrix;
//   - [Exponential], which chooses one of several candidates by their utilities;
//   - [CoinPress], the mean of numbers in several steps;
//   - [Select], which chooses one of several candidates that are private
//     themselves, and stops at random;
//   - [ZCDP] and [GDP], the budgets of Gaussian noise and of its compositions.
//
// Every random draw comes from the stream that the caller gives, so that equal
// streams give equal releases.
//
// A calibration turns (ε, δ) into the ratio of the noise's standard deviation
// to the sensitivity of the query (for a vector, both measured in the
// norm of the noise's covariance). Three are offered:
//
//   - [HallFactor], the one of Hall, Rinaldo and Wasserman (2013, Proposition
//     3), which the cloaking papers use. Its proof holds for ε ≤ 1 only.
//   - [AnalyticGaussian], the exact calibration of Balle and Wang (2018,
//     Theorem 8), valid for every ε > 0 and never larger than needed.
//   - [ClassicalGaussian], the one of textbooks, for comparisons; ε ≤ 1 only.
//
// δ is not the probability with which ε-differential privacy fails: (ε, δ)
// bounds P(out) by e^ε P'(out) + δ for every set of outcomes, and a mechanism
// may satisfy it although no outcome satisfies the pure bound. (The δ of
// EntryNoise is such a probability, of the worst kind.)
package mechanism
