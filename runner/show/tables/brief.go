package tables

import (
	"fmt"
	"slices"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/text"
)

// brief returns the layout of the print, one line for each value under the variant that is judged, and its footnotes.
// full is the layout of the whole table. Values without trials for lack of data are counted in a footnote that has the
// way to the data.
func brief(e *judge.Evaluation, full *Grid) (*Grid, []string) {
	b := newGridBuilder(e)
	b.brief = true
	var shown []*judge.Comparison
	var reasons []string
	skipped := map[string]int{} // cells by the reason
	for _, variants := range cells(e) {
		r := representative(variants)
		if why, is := variants[0].Skipped(); is {
			if skipped[why]++; skipped[why] == 1 {
				reasons = append(reasons, why)
			}
			if r == variants[0] {
				continue
			}
		}
		shown = append(shown, r)
		b.g.Lines = append(b.g.Lines, b.line(r, false))
	}
	b.g.drop(func(c int) bool {
		return slices.Contains([]string{variantTitle, differenceTitle, settingsTitle, dataTitle}, b.g.Columns[c].Title)
	})
	b.g.dropEmpty()
	var notes []string
	for _, why := range reasons {
		notes = append(notes, "skipped: "+text.Count(skipped[why], "cell")+" for lack of data: "+why+".")
	}
	if len(shown) > 0 {
		notes = append(append(append(notes, judge.Legend(shown)), e.Brief...), origins(shown)...)
	}
	if len(full.Lines) > len(shown) || len(full.Notes) > len(b.g.Notes) {
		notes = append(notes, "not shown: "+notShown(e, shown)+"; --all-variants shows all, as the report does.")
	}
	return b.g, slices.DeleteFunc(notes, func(s string) bool { return s == "" })
}

// representative returns the headline of a cell's variants, or one that has run on a stand-in where the headline has
// not run: the tally counts the value as one of a stand-in, too.
func representative(variants []*judge.Comparison) *judge.Comparison {
	if variants[0].Verdict == judge.NotRun {
		for _, r := range variants {
			if r.Verdict == judge.StandIn {
				return r
			}
		}
	}
	return variants[0]
}

// origins counts the assumed settings by their sources, and names stand-ins for the data.
func origins(shown []*judge.Comparison) (notes []string) {
	var assumed []ledger.Assumption
	var repositories, data []string
	count := map[ledger.Source]int{}
	for _, r := range shown {
		if r.StandIn != "" && !slices.Contains(data, r.StandIn) {
			data = append(data, r.StandIn)
		}
		for _, a := range r.Assumed {
			a.Fitted = nil
			if slices.ContainsFunc(assumed, func(o ledger.Assumption) bool {
				return o.Text == a.Text && o.Citation() == a.Citation()
			}) {
				continue
			}
			assumed = append(assumed, a)
			count[a.Source]++
			if a.Repository != "" && !slices.Contains(repositories, a.Repository) {
				repositories = append(repositories, a.Repository)
			}
		}
	}
	var parts []string
	for _, s := range []struct {
		source ledger.Source
		words  string
	}{
		{ledger.FromPaper, "from the paper"},
		{ledger.FromCode, "from the authors' code (" + strings.Join(repositories, ", ") + ")"},
		{ledger.FromUs, "ours"},
	} {
		if n := count[s.source]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.words))
		}
	}
	if parts != nil {
		notes = append(notes, "assumed settings: "+strings.Join(parts, ", ")+".")
	}
	for _, d := range data {
		notes = append(notes, "stand-in: "+strings.TrimSuffix(d, ".")+".")
	}
	return notes
}

// notShown names the variants that no line shows, and the rest in a word.
func notShown(e *judge.Evaluation, shown []*judge.Comparison) string {
	var names []string
	for _, v := range e.Variants {
		if !slices.ContainsFunc(shown, func(r *judge.Comparison) bool { return r.Variant == v.Name }) {
			names = append(names, v.Name)
		}
	}
	switch len(names) {
	case 0:
		return "differences, settings and remarks"
	case 1:
		return "the variant " + names[0] + ", settings and remarks"
	}
	return "the variants " + strings.Join(names, ", ") + "; settings and remarks"
}
