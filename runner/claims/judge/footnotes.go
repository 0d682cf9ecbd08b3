package judge

import (
	"fmt"
	"slices"
	"strings"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
)

// brief returns the footnotes that a short form of the table needs, besides the legend of its verdicts.
func brief(t *ledger.Table, e *Evaluation) []string {
	out := append(e.trialsNote(), e.uncertainties()...)
	if all := tolerances(t, false); all != nil {
		out = append(out, "tolerance: "+strings.Join(all, ", ")+".")
	}
	return append(append(out, e.privacyNotes(false)...), comparisons(t)...)
}

// trialsNote explains our values.
func (e *Evaluation) trialsNote() []string {
	trials := map[int]bool{}
	for _, r := range e.Cells {
		if r.Ours != nil {
			trials[r.Ours.Trials] = true
		}
	}
	switch {
	case len(trials) == 1 && trials[1]:
		return []string{"ours: one trial a cell (n=1), so without a standard error."}
	case len(trials) == 1:
		for n := range trials {
			return []string{fmt.Sprintf("ours: mean ± standard error over n=%d trials.", n)}
		}
	case len(trials) > 1:
		return []string{"ours: mean ± standard error over n trials; none for n=1."}
	}
	return nil
}

// comparisons names the best baseline and the best attack that the ledger has for a table.
func comparisons(t *ledger.Table) (out []string) {
	if t.Baseline != "" {
		out = append(out, "Best baseline: "+strings.TrimSuffix(t.Baseline, ".")+".")
	}
	if t.Attack != "" {
		out = append(out, "Best attack: "+strings.TrimSuffix(t.Attack, ".")+".")
	}
	return out
}

// footnotes returns explanations of the numbers of a table.
func footnotes(t *ledger.Table, e *Evaluation) []string {
	out := e.trialsNote()
	out = append(out, e.uncertainties()...)
	out = append(out, Rules)
	out = append(out, e.verdictRules()...)
	if e.Jointly() != nil {
		out = append(out, jointRule)
	}
	out = append(out, tolerances(t, true)...)
	if slices.ContainsFunc(t.Cells, func(c *ledger.Cell) bool { return c.MeanOf != nil }) {
		out = append(out, MeanRule)
	}
	if slices.ContainsFunc(t.Cells, func(c *ledger.Cell) bool { return c.Minus != nil }) {
		out = append(out, MinusRule)
	}
	if e.SettingsNote != "" {
		out = append(out, "Settings: "+strings.TrimSuffix(e.SettingsNote, ".")+".")
	}
	if left := len(t.Variants) - len(e.Variants); left > 0 {
		var names []string
		for _, v := range t.Variants {
			if !slices.ContainsFunc(e.Variants, func(w ledger.Variant) bool { return w.Name == v.Name }) {
				names = append(names, v.Name)
			}
		}
		out = append(out, "Not part of this sweep: "+strings.Join(names, ", ")+".")
	}
	for _, v := range e.Variants {
		if v.Note != "" {
			out = append(out, fmt.Sprintf("%s: %s.", v.Name, strings.TrimSuffix(v.Note, ".")))
		}
	}
	out = append(append(out, e.privacyNotes(true)...), comparisons(t)...)
	if s := e.Classes.Sentence(); s != "" {
		out = append(out, s)
	}
	return out
}

// uncertainties explains the printed ±.
func (e *Evaluation) uncertainties() []string {
	var out []string
	for i := range e.Cells {
		p := e.Cells[i].Published
		switch {
		case p == nil || p.Uncertainty == nil:
		case p.UncertaintyOf == ledger.Repetitions:
			out = appendNew(out, "published ±: of repetitions of the printed number; part of the band.")
		case p.UncertaintyOf != "":
			out = appendNew(out, "published ±: of "+p.UncertaintyOf+"; no part of the band.")
		default:
			out = appendNew(out, "published ±: the paper does not say of what; no part of the band.")
		}
	}
	return out
}

// verdictRules explains the verdicts that occur.
func (e *Evaluation) verdictRules() []string {
	counts := e.Summary()
	var out []string
	for _, r := range rules {
		if r.Text == "" { // one of those in [Rules]
			continue
		}
		if counts[r.Verdict] > 0 {
			out = appendNew(out, r.Text)
		}
	}
	return out
}

// tolerances lists the table's tolerances: footnotes with their sources, or the numbers alone.
func tolerances(t *ledger.Table, sources bool) []string {
	var out []string
	add := func(x *ledger.Tolerance) {
		if x == nil {
			return
		}
		var parts []string
		if x.Absolute != nil {
			parts = append(parts, experiment.FormatNumber(*x.Absolute))
		}
		if x.Relative != nil {
			parts = append(parts, fmt.Sprintf("%.6g %% of the print", 100**x.Relative))
		}
		words := strings.Join(parts, " or ")
		if sources {
			words = fmt.Sprintf("tolerance: %s (%s).", words, strings.TrimSuffix(x.Source, "."))
		}
		out = appendNew(out, words)
	}
	add(t.Tolerance)
	for _, c := range t.Cells {
		add(c.Tolerance)
	}
	return out
}

// privacyNotes returns a line for each unit and mechanism, with all bounds of the
// records, and one for each mechanism and reason without one. Without mechanisms, a unit has one line.
func (e *Evaluation) privacyNotes(mechanisms bool) []string {
	var out, unguarded []string
	bounds := map[string][]string{}
	for _, p := range e.Privacy {
		if p.Simulated == nil {
			text := "Privacy: " + p.Statement()
			if p.Mechanism != "" && mechanisms {
				text += "; " + p.Mechanism
			}
			unguarded = appendNew(unguarded, text+".")
			continue
		}
		s := fmt.Sprintf(" for %s; %s.", p.Unit, p.Mechanism)
		if !mechanisms {
			s = fmt.Sprintf(" for %s.", p.Unit)
		}
		if p.RNG == "seeded" {
			s += " Seeded noise reproduces the paper and protects nobody."
		}
		if bounds[s] == nil {
			out = append(out, s)
		}
		bounds[s] = appendNew(bounds[s], p.Simulated.Bound())
	}
	for i, s := range out {
		out[i] = "Mechanism: " + strings.Join(bounds[s], ", ") + s
	}
	return append(out, unguarded...)
}
