// Package judge compares records of trials with the published values of a ledger:
// [Index] collects the records, [Evaluate] computes the [Evaluation] of a table from its
// records, and [Check] compares it with reference values.
//
// # Differences
//
// A cell with "minus" is its metric less a metric of the same trials or of
// others. Where the other setting has all the seeds of the cell, differences are
// taken seed by seed, and mean and standard error are those of the differences,
// because common effects cancel. Otherwise the other's mean over its own seeds is
// subtracted from every value, and the two standard errors are added in quadrature,
// as for independent trials. The scatter of a single trial is unknown and counts as
// 0: the standard error is then that of the cell's own trials alone, and too small.
//
// # Values that are not computed from trials of their own
//
// A cell with "quoted" is a result of another method as the paper prints it: it
// has no trials. A cell with "mean_of" is the mean that a table prints of a row
// or column: of every seed that they all have, the mean of its other values
// is taken, and mean and standard error are over the seeds, because values may
// share their trials or their random draws.
// A mean of differences is the difference of the means, seed by seed as above.
// Where too few seeds have all of its values, its deviation is replaced by the mean
// of theirs, own or pooled, which is an upper bound for any dependence of their
// draws: the coverage of the band is at least nominal.
//
// # Verdicts
//
// See [Verdict] and [Rules], a footnote of every table.
package judge
