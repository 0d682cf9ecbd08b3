package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privkern/runner/claims/ledger"
)

// footnotes says how the numbers are to be read.
func footnotes(t *ledger.Table, e *Evaluation) []string {
	trials := map[int]bool{}
	stated, published, quoted := true, false, false
	for _, r := range e.Cells {
		if r.Ours != nil {
			trials[r.Ours.Trials] = true
		}
		stated = stated && r.SettingsStated
		quoted = quoted || r.Verdict == Quoted
		published = published || r.Published != nil && r.Published.Uncertainty != nil
	}
	var out []string
	switch {
	case len(trials) == 1 && trials[1]:
		out = append(out, "ours: one trial a cell (n=1), so without a standard error.")
	case len(trials) == 1:
		for n := range trials {
			out = append(out, fmt.Sprintf("ours: mean ± standard error over n=%d trials.", n))
		}
	case len(trials) > 1:
		out = append(out, "ours: mean ± standard error over n trials; none for n=1.")
	}
	if published {
		out = append(out, "published ±: taken as a standard error.")
	}
	out = append(out, Rules)
	if quoted {
		out = append(out, QuotedRule)
	}
	if slices.ContainsFunc(t.Cells, func(c *ledger.Cell) bool { return c.MeanOf != nil }) {
		out = append(out, MeanRule)
	}
	if slices.ContainsFunc(t.Cells, func(c *ledger.Cell) bool { return c.Minus != nil }) {
		out = append(out, MinusRule)
	}
	if !stated {
		out = append(out, strings.TrimSuffix("The paper leaves settings open: "+cmp.Or(e.SettingsNote, "see the notes"), ".")+
			".")
	} else if e.SettingsNote != "" {
		out = append(out, "Settings: "+e.SettingsNote)
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
	out = append(out, e.privacyNotes()...)
	if s := e.Classes.Sentence(); s != "" {
		out = append(out, s)
	}
	return out
}

// privacyNotes has a line for each unit and mechanism, with all the guarantees that
// the records have, and one for each mechanism and reason without a guarantee.
func (e *Evaluation) privacyNotes() []string {
	var out, unguarded []string
	guarantees := map[string][]string{}
	for _, p := range e.Privacy {
		if p.Guarantee == "" {
			unguarded = appendNew(unguarded, fmt.Sprintf("Privacy: %s; %s.", p.Statement(), p.Mechanism))
			continue
		}
		s := fmt.Sprintf("protects %s; %s.", p.Unit, p.Mechanism)
		if p.RNG == "seeded" {
			s += " Seeded noise reproduces the paper and protects nobody."
		}
		if guarantees[s] == nil {
			out = append(out, s)
		}
		if !slices.Contains(guarantees[s], p.Guarantee) {
			guarantees[s] = append(guarantees[s], p.Guarantee)
		}
	}
	for i, s := range out {
		out[i] = "Privacy: " + strings.Join(guarantees[s], ", ") + "; " + s
	}
	return append(out, unguarded...)
}
