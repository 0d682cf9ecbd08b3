// Package fit holds the experiments on the fit of single kernel affine hull machines:
// formula-generated data on which implementations are compared (kahm/reference), the
// two sides of the inequalities of the paper's theorems (kahm/bounds), and the time that a
// machine takes (kahm/timing).
//
// The formulas need no file and no random numbers, so that another implementation can
// reproduce λ*, distances and classes to the last digits with the settings alone. The
// times are of one machine without layers, the case of the paper's Table 11: its authors
// decompose the p×p covariance, the code here the smaller of that and the N×N Gram
// matrix, so that p = 20,000 columns take seconds.
//
// Theorems 2 to 5 hold where the sum of memberships is positive, as it is for the formula
// data. For the six points of the counterexample it changes its sign on a ray, towards
// which images and distances grow without bound.
package fit
