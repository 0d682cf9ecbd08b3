package judge

import "math"

// Verdict is the outcome of comparing a reproduced value with a published one.
type Verdict string

// The verdicts. They are decided in this order:
//
//  0. Quoted: a value of another method as the paper prints it; nothing is
//     computed for it.
//  1. NotRun: not one trial of the cell is there, or the cell cannot be
//     computed from what is there; the reason says why.
//  2. Unpublished: the paper prints no value and makes no statement; ours
//     stands alone.
//  3. Match: |ours − published| ≤ rounding + 2·√(SE_published² + SE_ours²). The
//     rounding is half a unit of the last printed digit. A printed bound such
//     as "< 0.0018" is matched from its own side by any value. A statement
//     matches when it holds.
//  4. UnderSpecified: outside, and the paper leaves settings open, so that the
//     difference says as much about our choice as about the paper.
//  5. Better, Worse: outside, where the ledger gives a direction.
//  6. Differs: outside.
const (
	Match          Verdict = "match"
	Differs        Verdict = "differs"
	Better         Verdict = "better"
	Worse          Verdict = "worse"
	UnderSpecified Verdict = "under-specified"
	NotRun         Verdict = "not run"
	Unpublished    Verdict = "unpublished"
	Quoted         Verdict = "quoted"
)

// Verdicts lists all verdicts in the order in which summaries show them.
var Verdicts = []Verdict{Match, Better, Worse, Differs, UnderSpecified, Unpublished, Quoted, NotRun}

// Rules is the footnote that explains the verdicts under every table.
const Rules = "match: |ours − published| ≤ half a unit of the last printed digit + 2·√(SE²published + SE²ours), or " +
	"the statement holds; otherwise better or worse where a direction is meaningful, under-specified where the paper " +
	"leaves settings open, else differs."

// QuotedRule is the footnote of a table with quoted values.
const QuotedRule = "quoted: a value of another method as the paper prints it; it is not reproduced here."

// MeanRule is the footnote of a table with means over its own columns.
const MeanRule = "means: of every seed, the mean of the other values of the row or column; mean and standard error " +
	"are over the seeds."

// MinusRule is the footnote of a table with differences.
const MinusRule = "differences: seed by seed where the subtracted setting has the same seeds, otherwise mean less " +
	"mean, with the standard errors added in quadrature; a single trial adds none."

// Plain says that a verdict calls for no emphasis.
func (v Verdict) Plain() bool { return v == Match || v == Unpublished || v == Quoted }

// outside names the verdict of a value outside its band; diff is ours minus
// published.
func outside(stated bool) Verdict {
	if !stated {
		return UnderSpecified
	}
	return Differs
}

// band is the half width inside which two values count as equal: the rounding
// of the print and two standard errors of the difference.
func band(rounding, sePublished, seOurs float64) float64 {
	return rounding + 2*math.Hypot(sePublished, seOurs)
}
