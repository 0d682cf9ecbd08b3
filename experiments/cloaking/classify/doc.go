// Package classify predicts classes with Gaussian processes and cloaking (Smith, Álvarez and
// Lawrence 2019, Sections 3 and 5.4 to 5.6).
//
// The mode of a GP classifier is found by Newton's method (package laplace). A step is linear in
// the labels, with the cloaking matrix C = ½(K⁻¹ + W)⁻¹, so that noise shaped by C protects them
// (Section 3). The release of each step is w = By + noise, in the whitened coordinates B of C's
// range; the step, the posterior and all predictions are computed from w, public inputs and the
// modes that earlier steps released. T steps spend (ε/T, δ/T) each. Labels at equal inputs are
// taken together, which makes matrices smaller and changes nothing else: each label moves a step by
// the column of its input.
//
// Where C is square and invertible the best noise is independent noise on every label. Cloaking
// does better only where C is of low rank, which smooth kernels make it numerically, and inducing
// inputs exactly.
package classify
