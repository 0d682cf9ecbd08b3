package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// Violation is a cell that does not pass the check against its reference.
type Violation struct {
	Table, Row, Column, Variant string
	Statement                   string
	Reason                      string
}

// String returns the cell and the reason, on one line.
func (v Violation) String() string {
	labels := slices.DeleteFunc([]string{v.Row, v.Column, v.Variant}, func(s string) bool { return s == "" })
	return fmt.Sprintf("%s: %s: %s", v.Table, cmp.Or(strings.Join(labels, " / "), v.Statement), v.Reason)
}

// Check returns the cells that have a reference value of an independent
// implementation and are outside its tolerance, not run, or computed from a part of
// their trials only. Cells without a reference never fail a check, because a paper
// that cannot be reproduced is a finding, not a defect.
func Check(e *Evaluation) []Violation {
	var out []Violation
	for _, r := range e.Cells {
		if r.Reference == nil {
			continue
		}
		v := Violation{Table: e.Table, Row: r.Row, Column: r.Column, Variant: r.Variant, Statement: r.Statement}
		switch {
		case r.Ours == nil:
			v.Reason = "not run: " + r.Reason
		case !r.Complete():
			v.Reason = fmt.Sprintf("only %d of %d trials have run", r.Ours.Trials, r.Ours.Wanted)
		case !r.Reference.OK:
			v.Reason = fmt.Sprintf("%s is %s, outside %s ± %s", r.Metric, experiment.FormatNumber(r.Ours.Mean),
				experiment.FormatNumber(r.Reference.Value), experiment.FormatNumber(r.Reference.Tolerance))
		default:
			continue
		}
		out = append(out, v)
	}
	return out
}

// Summary counts the verdicts that occur.
func (e *Evaluation) Summary() map[Verdict]int {
	out := map[Verdict]int{}
	for _, r := range e.Cells {
		out[r.Verdict]++
	}
	return out
}

// Headlines counts the verdicts of the judged variants.
func (e *Evaluation) Headlines() map[Verdict]int {
	out := map[Verdict]int{}
	for i := range e.Cells {
		if e.Cells[i].Headline {
			out[e.Cells[i].Verdict]++
		}
	}
	return out
}
