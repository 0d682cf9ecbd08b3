package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/runner/text"
)

// Tally counts the distinct printed values and claims of a paper, of one table or of
// several: one verdict each, that of the headline variant. Entries of ours and quoted
// values are excluded.
type Tally struct {
	Values   int     `json:"values"` // distinct printed values
	Judged   int     `json:"judged"` // of the values
	Inside   int     `json:"inside"` // of those judged
	Expected float64 `json:"expected"`
	// Wide are inside bands wider than the tolerance; more trials could settle Settle of them.
	Wide   int `json:"wide"`
	Settle int `json:"wide_settled_by_trials"`
	Close  int `json:"close"` // outside, and within the tolerance

	// Sharp are judged by bands that are no wider than the tolerance, so that they could exclude
	// an inexact value; the sharp ones inside and expected are of these alone. Of the others Wide
	// are inside, which cannot tell, and WideOutside outside all the same.
	Sharp         int     `json:"sharp"`
	SharpInside   int     `json:"sharp_inside"`
	SharpExpected float64 `json:"sharp_expected"`
	WideOutside   int     `json:"wide_outside"`

	Claims       int `json:"claims"` // in words, each once
	ClaimsJudged int `json:"claims_judged"`
	Hold         int `json:"hold"`

	// Left counts the values and claims that are not judged, by the reason.
	Left map[Verdict]int `json:"not_judged"`
}

// TallyOf counts the entries of tables of one paper.
func TallyOf(evaluations ...*Evaluation) Tally {
	var order []string
	entries := map[string][]*Comparison{}
	for _, e := range evaluations {
		for i := range len(e.Cells) + len(e.leftOut) {
			c := e.cell(i)
			if c.Own || c.Verdict == Quoted {
				continue
			}
			if entries[c.Entry] == nil {
				order = append(order, c.Entry)
			}
			entries[c.Entry] = append(entries[c.Entry], c)
		}
	}
	t := Tally{Left: map[Verdict]int{}}
	for _, id := range order {
		t.add(entries[id])
	}
	return t
}

// cell returns cell i of those that the table shows, followed by those that it leaves out.
func (e *Evaluation) cell(i int) *Comparison {
	if i < len(e.Cells) {
		return &e.Cells[i]
	}
	return &e.leftOut[i-len(e.Cells)]
}

// Sentence returns the tally of the table in words.
func (e *Evaluation) Sentence() string {
	t := TallyOf(e)
	return t.Sentence()
}

// add counts one entry.
func (t *Tally) add(all []*Comparison) {
	judged := slices.DeleteFunc(slices.Clone(all), func(c *Comparison) bool { return !c.Headline })
	if !all[0].Claim {
		t.Values++
		t.value(judged, all)
		return
	}
	t.Claims++
	switch v := verdictOfClaim(judged, all); {
	case !v.Judged():
		t.Left[v]++
	default:
		t.ClaimsJudged++
		if v == Match {
			t.Hold++
		}
	}
}

// value counts a printed value. Of several cells that print it, the primary one decides.
func (t *Tally) value(judged, all []*Comparison) {
	if len(judged) == 0 {
		t.Left[unjudgedReason(all)]++
		return
	}
	c := judged[0]
	if i := slices.IndexFunc(judged, func(c *Comparison) bool { return c.Primary }); i >= 0 {
		c = judged[i]
	}
	if c.Verdict == NotRun && onStandIn(all) {
		t.Left[StandIn]++
		return
	}
	if !c.Verdict.Judged() {
		t.Left[c.Verdict]++
		return
	}
	t.Judged++
	coverage := 0.0
	if c.Band != nil {
		coverage = c.Band.Coverage
	}
	t.Expected += coverage
	switch {
	case c.Sharp():
		t.Sharp++
		t.SharpExpected += coverage
		if c.Verdict.Inside() {
			t.SharpInside++
		}
	case !c.Verdict.Inside():
		t.WideOutside++
	}
	switch c.Verdict {
	case Match:
		t.Inside++
	case Wide:
		t.Inside++
		t.Wide++
		if c.settles() {
			t.Settle++
		}
	case Close:
		t.Close++
	}
}

// Sharp reports whether the verdict on a printed value could exclude an inexact one.
func (r *Comparison) Sharp() bool {
	return r.Verdict.Judged() && !r.Claim && r.Verdict != Wide && (r.Verdict.Inside() || !r.beyondTolerance())
}

// beyondTolerance reports whether the band is wider than the tolerance and than the rounding of the print.
func (r *Comparison) beyondTolerance() bool {
	return r.Band != nil && r.Tolerance != nil && r.Published != nil &&
		r.Band.HalfWidth > max(*r.Tolerance, r.Published.Rounding)
}

// settles reports whether enough trials of ours would narrow the band of a wide value to the
// tolerance: the draws behind the print alone do not make it wider.
func (r *Comparison) settles() bool {
	if r.Band == nil || r.Published == nil || r.Tolerance == nil {
		return false
	}
	p := r.Published
	printed := varianceOfPrint(p.Uncertainty, p.UncertaintyOf, r.Band.Deviation*r.Band.Deviation, r.Draws)
	return halfWidth(p.Rounding, printed, math.Inf(1)) <= max(*r.Tolerance, p.Rounding)
}

// onStandIn reports whether another variant has run on a stand-in for the paper's data.
func onStandIn(all []*Comparison) bool {
	return slices.ContainsFunc(all, func(c *Comparison) bool { return c.Verdict == StandIn })
}

// verdictOfClaim returns Match where all parts hold, Differs where one does not, and
// otherwise the verdict of the first part that is not judged.
func verdictOfClaim(judged, all []*Comparison) Verdict {
	if len(judged) == 0 {
		return unjudgedReason(all)
	}
	out := Match
	for _, c := range judged {
		switch {
		case c.Verdict == Differs || c.Verdict == Close:
			return Differs
		case !c.Verdict.Inside() && out == Match:
			out = c.Verdict
		}
	}
	if out == NotRun && onStandIn(all) {
		return StandIn
	}
	return out
}

// unjudgedReason returns the reason why an entry without a headline is not judged: its
// variants are corrected ones, or the headline is not part of the sweep.
func unjudgedReason(all []*Comparison) Verdict {
	if !slices.ContainsFunc(all, func(c *Comparison) bool { return c.Verdict != Corrected }) {
		return Corrected
	}
	return NotRun
}

// Add adds the tally of another paper.
func (t *Tally) Add(o Tally) {
	t.Values, t.Judged, t.Inside, t.Wide = t.Values+o.Values, t.Judged+o.Judged, t.Inside+o.Inside, t.Wide+o.Wide
	t.Settle, t.Close, t.Expected = t.Settle+o.Settle, t.Close+o.Close, t.Expected+o.Expected
	t.Sharp, t.SharpInside, t.WideOutside = t.Sharp+o.Sharp, t.SharpInside+o.SharpInside, t.WideOutside+o.WideOutside
	t.SharpExpected += o.SharpExpected
	t.Claims, t.ClaimsJudged, t.Hold = t.Claims+o.Claims, t.ClaimsJudged+o.ClaimsJudged, t.Hold+o.Hold
	if t.Left == nil {
		t.Left = map[Verdict]int{}
	}
	for v, n := range o.Left {
		t.Left[v] += n
	}
}

// LeftText returns the counts of values and claims that are not judged by reason, such as
// "3 not run, 2 fitted".
func (t *Tally) LeftText() string {
	var parts []string
	for _, v := range Verdicts {
		if n := t.Left[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

// Sentence returns the tally in words: the number of values that were judged, that lie inside
// their bands, and that were expected to.
func (t *Tally) Sentence() string {
	var out []string
	if t.Values > 0 {
		s := fmt.Sprintf("Of %s of the paper %d %s judged", text.Count(t.Values, "distinct value"), t.Judged, were(t.Judged))
		if t.Judged > 0 {
			s += fmt.Sprintf(": %d inside, %.1f expected if the reproduction were exact", t.Inside, t.Expected)
		}
		if t.Wide > 0 {
			s += fmt.Sprintf("; %d of those inside in bands wider than the tolerance", t.Wide)
		}
		if t.Close > 0 {
			s += fmt.Sprintf("; %d outside %s close", t.Close, map[bool]string{true: "is", false: "are"}[t.Close == 1])
		}
		out = append(out, s+".")
	}
	if t.Claims > 0 {
		s := fmt.Sprintf("Of %s in words %d %s judged", text.Count(t.Claims, "claim"), t.ClaimsJudged, were(t.ClaimsJudged))
		if t.ClaimsJudged > 0 {
			s += fmt.Sprintf(": %d hold", t.Hold)
			if t.Hold == 1 {
				s += "s"
			}
		}
		out = append(out, s+".")
	}
	if left := t.LeftText(); left != "" {
		out = append(out, "Not judged: "+left+".")
	}
	if out == nil {
		return "No entry here is the paper's."
	}
	return strings.Join(out, " ")
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
