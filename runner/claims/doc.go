// Package claims holds the published values that the project reproduces, and
// judges what was computed against them.
//
// A paper's package embeds a ledger: a YAML file that lists, table by table and
// cell by cell, the printed text, the experiment that reproduces it with its
// parameters and seeds, and whether the paper states all settings. [Read]
// decodes it strictly, [Ledger.Validate] holds it against the experiments,
// [Table.Trials] says which trials a table is made of, [Evaluate] compares
// records of such trials with the print, and [Write] prints the outcome.
//
// # Parameters of a cell
//
// A cell is evaluated once per variant. Its parameters are the table's, over
// them the variant's, over those the cell's own; the experiment's defaults fill
// the rest. A table may mix experiments: a table's or variant's parameter is
// then left out where a cell's experiment does not have it, and is an error
// where none of the table's experiments does. The right-hand side of a statement
// ("holds") and what is subtracted ("minus") start from the cell's parameters in
// the same manner.
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
// or column: of every seed, the mean of its other values is taken, and mean and
// standard error are over the seeds, so that values which share their trials or
// their random draws are not counted as independent ones. A mean of
// differences is the difference of the means, seed by seed as above.
//
// # Verdicts
//
// See [Verdict] and [Rules], which every printed table carries as a footnote.
package claims
