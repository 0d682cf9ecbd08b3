package compare

import (
	"fmt"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// header are the titles of the columns: the method, the epsilons, and processor time.
func (r *Results) header() []string {
	out := []string{"method"}
	for _, e := range r.Epsilons {
		out = append(out, "eps "+experiment.FormatNumber(e))
	}
	return append(out, "CPU s")
}

// rows are those of the table, below the header.
func (r *Results) rows() [][]string {
	var out [][]string
	for _, b := range r.Blocks {
		if b.Less {
			out = append(out, []string{r.heading(b)})
		}
		for _, row := range b.Rows {
			fields := []string{row.Method + r.mark(row)}
			for _, c := range row.Cells {
				fields = append(fields, r.cellText(c, len(b.Rows) > 1))
			}
			out = append(out, append(fields, fmt.Sprintf("%.2g", row.CPU)))
		}
	}
	return slices.Concat(out, r.references(), r.attacks())
}

// heading is that of methods that protect less.
func (r *Results) heading(b *Block) string {
	text := "one " + r.protected(b) + " and not its inputs"
	switch {
	case strings.HasSuffix(b.Protects, UnitInputs):
		text = "one " + r.protected(b) + " and no class"
	case r.Unit == experiment.UnitPerson:
		text = "one " + r.protected(b) + " and no inputs"
	}
	if b == r.first() {
		return "protect less than one " + r.Unit + ": " + text
	}
	return "protect less, " + text + ": not ranked with the others"
}

// mark marks a method that protects more than the unit that is asked for.
func (r *Results) mark(row *Row) string {
	if r.Unit == experiment.UnitOutput && row.Protects == experiment.UnitRow {
		return " (" + row.Protects + ")"
	}
	return ""
}

// cellText is a score, marked where it is the best of several or not distinguished from it.
func (r *Results) cellText(c *Cell, several bool) string {
	switch {
	case c.Mean == nil && c.OK == 0:
		return "failed"
	case c.Mean == nil:
		return fmt.Sprintf("failed %d/%d", r.Splits-c.OK, r.Splits)
	case c.Best && several:
		return numberText(c.Mean) + " *"
	case c.P != nil && *c.P >= level:
		return numberText(c.Mean) + " ~"
	}
	return numberText(c.Mean)
}

// references are the lines of the trivial rule and of what privacy costs.
func (r *Results) references() [][]string {
	var out [][]string
	if r.Trivial != nil {
		fields := []string{TrivialName(r.Contest.Task)}
		for i := range r.Trivial {
			fields = append(fields, numberText(&r.Trivial[i]))
		}
		out = append(out, append(fields, ""))
	}
	if r.Exact != nil {
		fields := []string{"without privacy"}
		for range r.Epsilons {
			fields = append(fields, numberText(r.Exact))
		}
		out = append(out, append(fields, ""))
	}
	return out
}

// caption states what the table shows.
func (r *Results) caption() string {
	direction := "smaller"
	if r.Measure.Larger {
		direction = "larger"
	}
	splits := "one split"
	if r.Splits > 1 {
		splits = fmt.Sprintf("mean ± standard error over %d splits", r.Splits)
	}
	return fmt.Sprintf("%s. %s (%s is better), %s with %g %% of the rows held out; a guarantee for one %s%s at delta = "+
		"%s.", r.Title, r.Measure.Name, direction, splits, 100*HeldOut, r.protected(r.first()), r.relation(), r.Delta)
}

// legend explains the marks; it is empty where there are none.
func (r *Results) legend() string {
	switch {
	case !slices.ContainsFunc(r.Blocks, func(b *Block) bool { return len(b.Rows) > 1 }):
		return ""
	case r.Splits < 2:
		return "* best"
	}
	return "* best; ~ not distinguished from it (corrected resampled t-test, Holm, 5 %)"
}

// mostWarnings is how many kinds of warnings are shown.
const mostWarnings = 10

// remarks are the lines below the table, without the sentences: failures, warnings, methods that take no part, and
// notes.
func (r *Results) remarks() []string {
	out := r.attackRemarks()
	for _, f := range r.Failures {
		out = append(out, fmt.Sprintf("failed, and not averaged: %s at epsilon %s, seeds %s: %s", f.Method,
			experiment.FormatNumber(f.Epsilon), seedText(f.Seeds), f.Reason))
	}
	for i, w := range r.Warnings {
		if i == mostWarnings {
			out = append(out, fmt.Sprintf("warnings of %d more kinds are in the records", len(r.Warnings)-i))
			break
		}
		out = append(out, "warning: "+w.String())
	}
	for _, a := range r.Apart {
		out = append(out, fmt.Sprintf("not compared: %s: %s", a.Experiment, a.Reason))
	}
	for _, n := range r.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

// fewSeeds is how many seeds a line lists.
const fewSeeds = 5

func seedText(seeds []int64) string {
	var parts []string
	for i, s := range seeds {
		if i == fewSeeds {
			parts = append(parts, fmt.Sprintf("... (%d in all)", len(seeds)))
			break
		}
		parts = append(parts, fmt.Sprint(s))
	}
	return strings.Join(parts, ", ")
}

// Looking states the cost of a comparison.
const Looking = "These scores are computed from the private rows, without noise: they are for your eyes, and no part " +
	"of a release. The guarantee of the release that follows does not cover that you chose by them, and its file " +
	"states so (tuning: unaccounted). A choice by public data of the same kind costs nothing."
