package compare

import (
	"fmt"
	"math"
	"strings"

	"privkern/runner/experiment"
)

// first returns the methods that sentences are about: those that protect the unit, or, where there is none, those that
// protect less.
func (r *Results) first() *Block { return r.Blocks[0] }

// protected names the part of the data that the methods of a block protect.
func (r *Results) protected(b *Block) string {
	if b.Protects == UnitInputs {
		return "row's inputs"
	}
	return b.Protects
}

// relation completes the unit where it is added or removed, and not substituted.
func (r *Results) relation() string {
	if r.Contest.AddsRemoves() {
		return " added or removed"
	}
	return ""
}

// cells are the scores of the methods of a block at an epsilon that all splits have.
func (b *Block) cells(at int) (rows []*Row, cells []*Cell) {
	for _, row := range b.Rows {
		if c := row.Cells[at]; c.Mean != nil {
			rows, cells = append(rows, row), append(cells, c)
		}
	}
	return rows, cells
}

// test compares the best method of each block with the others at an epsilon.
func (r *Results) test(at int) {
	for _, b := range r.Blocks {
		_, cells := b.cells(at)
		if len(cells) == 0 {
			continue
		}
		best := cells[0]
		for _, c := range cells {
			if r.Measure.better(c.Mean.Mean, best.Mean.Mean) {
				best = c
			}
		}
		best.Best = true
		if r.Splits < 2 {
			continue
		}
		var others []*Cell
		var p []float64
		for _, c := range cells {
			if c != best {
				others, p = append(others, c), append(p, correctedT(less(c.scores, best.scores), ratio))
			}
		}
		for i, adjusted := range holm(p) {
			others[i].P = &adjusted
		}
	}
}

// less are the differences of scores on the same splits.
func less(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// best returns the best method that is ranked at an epsilon; nil for none.
func (r *Results) best(at int) (*Row, *Cell) {
	rows, cells := r.first().cells(at)
	for i, c := range cells {
		if c.Best {
			return rows[i], c
		}
	}
	return nil, nil
}

// useful reports whether a score is better than the trivial rule's.
func (r *Results) useful(c *Cell, at int) bool {
	return r.Trivial == nil || r.Measure.better(c.Mean.Mean, r.Trivial[at].Mean)
}

// winner is the best method at an epsilon, where it is better than the trivial rule and has a release; nil for none.
func (r *Results) winner(at int) *Winner {
	row, cell := r.best(at)
	if row == nil || !r.useful(cell, at) || row.entry.Definition.Release == nil || row.entry.converted != nil ||
		r.Contest.AddsRemoves() || r.Contest.Published {
		return nil
	}
	if _, err := r.Contest.ReleaseParams(row.entry, cell.Epsilon); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s at epsilon %s has no release: %v", row.Method,
			experiment.FormatNumber(cell.Epsilon), err))
		return nil
	}
	return &Winner{row.Method, cell.Epsilon, r.Contest.ReleaseArguments(row.entry, cell.Epsilon)}
}

// sentence states what the scores at an epsilon show.
func (r *Results) sentence(at int) string {
	epsilon := experiment.FormatNumber(r.Epsilons[at])
	text := fmt.Sprintf("At (%s, %s) per %s%s: ", epsilon, r.Delta, r.protected(r.first()), r.relation())
	row, cell := r.best(at)
	if row == nil {
		return text + "no method has a score on every split."
	}
	if !r.useful(cell, at) {
		relation := "no method is better than"
		if r.Measure.better(r.Trivial[at].Mean, cell.Mean.Mean) {
			relation = "every method is worse than"
		}
		return text + fmt.Sprintf("%s %s, %s, which looks at no input: the best is %s with %s; use a larger epsilon or more "+
			"rows.", relation, TrivialName(r.Contest.Task), numberText(&r.Trivial[at]), row.Method, numberText(cell.Mean))
	}
	text += row.Method + " " + numberText(cell.Mean) + r.against(row, at)
	if r.Trivial != nil {
		text += fmt.Sprintf("; %s%s %s", r.undistinguished(cell, at), TrivialName(r.Contest.Task),
			experiment.FormatNumber(round(r.Trivial[at].Mean)))
	}
	if r.Exact != nil {
		text += "; without privacy " + experiment.FormatNumber(round(r.Exact.Mean))
	}
	if r.Splits < 2 {
		text += "; one split tells no methods apart"
	}
	return text + "."
}

// against compares the best method with the others of its block.
func (r *Results) against(best *Row, at int) string {
	var alike, worse, failed []string
	for _, row := range r.first().Rows {
		c := row.Cells[at]
		switch {
		case row == best:
		case c.Mean == nil:
			failed = append(failed, row.Method)
		case c.P == nil, *c.P >= level:
			alike = append(alike, row.Method+" "+numberText(c.Mean))
		default:
			worse = append(worse, row.Method+" "+numberText(c.Mean)+r.times(c, best.Cells[at]))
		}
	}
	text := ""
	for _, part := range []struct {
		words   string
		methods []string
	}{{", not distinguished from ", alike}, {", better than ", worse}, {", not compared with ", failed}} {
		if part.methods != nil {
			text += part.words + strings.Join(part.methods, ", ")
		}
	}
	switch b := r.first(); {
	case len(b.Rows) > 1:
	case b.Less:
		text += ", the only method that takes part"
	default:
		text += ", the only method that is ranked"
	}
	return text
}

// times tells by which factor an error is larger than the best, where that is much.
func (r *Results) times(c, best *Cell) string {
	if factor := c.Mean.Mean / best.Mean.Mean; !r.Measure.Larger && best.Mean.Mean > 0 && factor >= 1.5 {
		return fmt.Sprintf(" (%.2g times its %s)", factor, r.Measure.Name)
	}
	return ""
}

// undistinguished begins the mention of the trivial rule.
func (r *Results) undistinguished(c *Cell, at int) string {
	if r.Splits > 1 && correctedT(less(c.scores, r.trivial[at]), ratio) >= level {
		return "not distinguished from "
	}
	return ""
}

// numberText formats a score with its standard error, of which two digits count where the first is 1, and one
// otherwise.
func numberText(m *Mean) string {
	if m.StandardError == nil || *m.StandardError == 0 {
		return experiment.FormatNumber(round(m.Mean))
	}
	se := *m.StandardError
	decimals := -int(math.Floor(math.Log10(se)))
	if lead := se * math.Pow10(decimals); lead < 2 {
		decimals++
	}
	if decimals <= 0 {
		unit := math.Pow10(-decimals)
		return fmt.Sprintf("%.0f ± %.0f", math.Round(m.Mean/unit)*unit, math.Round(se/unit)*unit)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, m.Mean, decimals, se)
}

// round keeps three significant digits.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits <= 0 {
		return math.Round(v)
	}
	return math.Round(v*math.Pow10(digits)) / math.Pow10(digits)
}
