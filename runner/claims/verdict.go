package claims

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
const Rules = "match: |ours − published| ≤ half a unit of the last printed digit + 2·√(SE²published + SE²ours), or the statement holds; " +
	"otherwise better or worse where a direction is meaningful, under-specified where the paper leaves settings open, else differs."

// QuotedRule is the footnote of a table with quoted values.
const QuotedRule = "quoted: a value of another method as the paper prints it; it is not reproduced here."

// MeanRule is the footnote of a table with means over its own columns.
const MeanRule = "means: of every seed, the mean of the other values of the row or column; mean and standard error are over the seeds."

// MinusRule is the footnote of a table with differences.
const MinusRule = "differences: seed by seed where the subtracted setting has the same seeds, otherwise mean less mean, " +
	"with the standard errors added in quadrature; a single trial adds none."

// plain says that a verdict calls for no emphasis.
func (v Verdict) plain() bool { return v == Match || v == Unpublished || v == Quoted }

// Direction says which way a metric improves.
type Direction string

// The directions of a cell; empty where none is meaningful.
const (
	Lower  Direction = "lower"
	Higher Direction = "higher"
)

// outside names the verdict of a value outside its band; diff is ours minus
// published.
func outside(diff float64, dir Direction, stated bool) Verdict {
	switch {
	case !stated:
		return UnderSpecified
	case dir == Lower && diff < 0, dir == Higher && diff > 0:
		return Better
	case dir != "":
		return Worse
	}
	return Differs
}

// band is the half width inside which two values count as equal: the rounding
// of the print and two standard errors of the difference.
func band(rounding, sePublished, seOurs float64) float64 {
	return rounding + 2*math.Hypot(sePublished, seOurs)
}

// within compares |diff| with a tolerance. The slack of a few units in the last
// place of the operands keeps 13.35 inside the band of a printed 13.3.
func within(diff, tolerance float64, operands ...float64) bool {
	slack := 0.0
	for _, v := range operands {
		slack = max(slack, 8*0x1p-52*math.Abs(v))
	}
	return diff <= tolerance+slack
}

// Relation compares two numbers.
type Relation string

// The relations of a statement, and (but for Equal, which is no relation
// there) of a printed bound.
const (
	Less         Relation = "<"
	LessEqual    Relation = "<="
	Greater      Relation = ">"
	GreaterEqual Relation = ">="
	Equal        Relation = "="
)

var relations = []string{string(Less), string(LessEqual), string(Greater), string(GreaterEqual), string(Equal)}

// holds says whether left op right, where an excess up to tolerance is allowed.
// A strict relation without tolerance is strict.
func (op Relation) holds(left, right, tolerance float64) bool {
	switch op {
	case Less:
		if tolerance == 0 {
			return left < right
		}
		return within(left-right, tolerance, left, right)
	case LessEqual:
		return within(left-right, tolerance, left, right)
	case Greater:
		return Less.holds(right, left, tolerance)
	case GreaterEqual:
		return LessEqual.holds(right, left, tolerance)
	case Equal:
		return within(math.Abs(left-right), tolerance, left, right)
	}
	return false
}

// Symbol returns the sign as print shows it.
func (op Relation) Symbol() string {
	switch op {
	case LessEqual:
		return "≤"
	case GreaterEqual:
		return "≥"
	}
	return string(op)
}
