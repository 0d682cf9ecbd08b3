// Package regress predicts numbers with Gaussian processes and cloaking (Smith,
// Álvarez and Lawrence 2019, Sections 1, 2, 5.1 and 5.2): the heights of the census,
// or a column of a user's file.
//
// The posterior mean at the test inputs is Cy, with the cloaking matrix C a function
// of the public inputs alone. All predictions of a set are released together, with
// noise shaped by C. Trials compute errors and the noise's standard deviation;
// [Plan] plans a release.
package regress
