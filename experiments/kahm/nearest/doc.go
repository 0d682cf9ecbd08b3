// Package nearest holds the classifiers of the paper: a point gets the class whose
// machines it is nearest to (Eq. 62). The experiments differ in their data: digits
// (kahm/classifier), digits of several parties (kahm/federated), features of photographs
// (kahm/freiburg) and R-R intervals (kahm/stress).
//
// Each class c has a wide machine of S_c branches (Definition 5), and with Γ_c(y) the
// distance of y to the nearest of them (Eq. 60) the class is argmin_c Γ_c(y). Privacy
// depends on the samples that machines model: the given ones (Definition 7), those with
// noise (Definition 12), or those fabricated from noisy ones (Definition 15). Distances
// also reveal membership of the training set: the membership-inference score (Eq. 69)
// compares their densities over training and over test points.
//
// All experiments go through one evaluation: build a [wide.Model] from one source of
// samples for each class (and party), search the nearest machine of every test point
// with [hull.Ensemble], then score.
package nearest
