package ledger

import "math"

// Relation compares two numbers.
type Relation string

// The relations of a statement and of a printed bound; a print that is Equal is no bound.
const (
	Less         Relation = "<"
	LessEqual    Relation = "<="
	Greater      Relation = ">"
	GreaterEqual Relation = ">="
	Equal        Relation = "="
)

var relations = []string{string(Less), string(LessEqual), string(Greater), string(GreaterEqual), string(Equal)}

// Holds reports whether left op right holds up to an excess of tolerance. A strict
// relation without tolerance is strict.
func (op Relation) Holds(left, right, tolerance float64) bool {
	switch op {
	case Less:
		if tolerance == 0 {
			return left < right
		}
		return Within(left-right, tolerance, left, right)
	case LessEqual:
		return Within(left-right, tolerance, left, right)
	case Greater:
		return Less.Holds(right, left, tolerance)
	case GreaterEqual:
		return LessEqual.Holds(right, left, tolerance)
	case Equal:
		return Within(math.Abs(left-right), tolerance, left, right)
	}
	return false
}

// Symbol returns the typographic sign, such as ≤.
func (op Relation) Symbol() string {
	switch op {
	case LessEqual:
		return "≤"
	case GreaterEqual:
		return "≥"
	}
	return string(op)
}

// Within compares |diff| with a tolerance. The slack of a few units in the last
// place of the operands keeps 13.35 inside the band of a printed 13.3.
func Within(diff, tolerance float64, operands ...float64) bool {
	slack := 0.0
	for _, v := range operands {
		slack = max(slack, 8*0x1p-52*math.Abs(v))
	}
	return diff <= tolerance+slack
}
