// Package judge compares records of trials with the published values of a ledger:
// [Index] collects the records, [Evaluate] makes of a table and its records the
// [Evaluation], and [Check] is the gate of reference values.
//
// # Differences
//
// A cell with "minus" is its metric less a metric of the same trials or of
// others. Where the other setting has all the seeds of the cell, differences are
// taken seed by seed, and mean and standard error are those of the differences:
// what both have in common cancels. Otherwise the other's mean over its own
// seeds is subtracted from every value, and the two standard errors are added in
// quadrature, as of independent trials. The scatter of a single trial is not
// known and counts as none, as everywhere: the standard error is then that of
// the cell's own trials alone, and too small.
//
// # Values that are not computed from trials of their own
//
// A cell with "quoted" is a result of another method as the paper prints it: it
// has no trials. A cell with "mean_of" is the mean that a table prints of a row
// or column: of every seed that they all have, the mean of its other values
// is taken, and mean and standard error are over the seeds, so that values which
// share their trials or their random draws are not counted as independent ones.
// A mean of differences is the difference of the means, seed by seed as above.
// Where too few seeds have all of its values, its deviation is taken to be the
// mean of theirs, own or pooled, the largest that it can have however their
// draws depend on each other: the band holds at least what a band is to hold.
//
// # Verdicts
//
// See [Verdict] and [Rules], which every printed table carries as a footnote.
package judge
