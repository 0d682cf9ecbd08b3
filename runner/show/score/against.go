package score

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// Agreement says how the tables of two sets of folders agree, such as of a run with one
// BLAS and of a run with another, or of a CPU and of a GPU. Compared are values and
// statements that both have from the same number of trials; times are left out.
type Agreement struct {
	Tables []TableAgreement `json:"tables"`
	// Changes are the comparisons whose verdicts differ.
	Changes []Change `json:"changes"`
}

// TableAgreement is how two evaluations of a table agree.
type TableAgreement struct {
	Table    string `json:"table"`
	Compared int    `json:"compared"`
	Same     int    `json:"same_verdict"` // of those compared
	Equal    int    `json:"equal"`        // of those compared: to the last bit
	// Largest is the largest difference of two values, relative to the larger one, 2 where one
	// is not finite, and Place where it is.
	Largest float64 `json:"largest_difference"`
	Place   string  `json:"place"`
	// Uneven are those left out because the numbers of trials differ: their own, those of the
	// right-hand side of a statement, or those of the values whose spread they share.
	Uneven int `json:"uneven_trials"`
	// Counted are those compared that count in the scoreboard of one of the two, and Open those
	// that do and could not be compared, or are finite in one of the two only.
	Counted int `json:"counted"`
	Open    int `json:"open"`
}

// Change is a comparison with another verdict.
type Change struct {
	Table   string        `json:"table"`
	Place   string        `json:"place"`
	Variant string        `json:"variant"`
	Judged  bool          `json:"judged"` // it counts in the scoreboard of one of the two
	Ours    string        `json:"ours"`
	Verdict judge.Verdict `json:"verdict"`
	Other   string        `json:"other"`
	Before  judge.Verdict `json:"other_verdict"`
}

// Against compares with the tables of other folders. Tables without anything to compare
// are left out.
func (b *Board) Against(other *Board) *Agreement {
	out := &Agreement{Tables: []TableAgreement{}, Changes: []Change{}}
	for i, e := range b.evaluated {
		t := TableAgreement{Table: e.Table}
		theirs := map[rowKey]*judge.Comparison{}
		for j := range other.evaluated[i].Cells {
			c := &other.evaluated[i].Cells[j]
			theirs[keyOf(e.Table, c)] = c
		}
		for j := range e.Cells {
			c := &e.Cells[j]
			o := theirs[keyOf(e.Table, c)]
			if o == nil || c.Times {
				continue
			}
			counts := c.Headline && c.Primary && !c.Own && (c.Verdict.Judged() || o.Verdict.Judged())
			missing := c.Ours == nil || o.Ours == nil
			if missing || uneven(c, o) {
				if !missing {
					t.Uneven++
				}
				if counts {
					t.Open++
				}
				continue
			}
			t.add(c, o)
			if counts {
				t.Counted++
				if finite(c.Ours.Mean) != finite(o.Ours.Mean) {
					t.Open++
				}
			}
			if c.Verdict != o.Verdict {
				out.Changes = append(out.Changes, Change{Table: e.Table, Place: place(c), Variant: c.Variant,
					Judged: counts, Ours: tables.Ours(c), Verdict: c.Verdict, Other: tables.Ours(o), Before: o.Verdict})
			}
		}
		if t.Compared+t.Uneven > 0 {
			out.Tables = append(out.Tables, t)
		}
	}
	return out
}

func keyOf(table string, c *judge.Comparison) rowKey {
	return rowKey{table, c.Row, c.Column, c.Statement, c.Variant}
}

// uneven says that two comparisons are not made of the same number of trials.
func uneven(c, o *judge.Comparison) bool {
	partial := func(c *judge.Comparison) bool { return c.Verdict == judge.NotRun || c.Verdict == judge.Unjudged }
	if c.Ours.Trials != o.Ours.Trials || partial(c) != partial(o) {
		return true
	}
	if c.Band == nil || o.Band == nil {
		return false
	}
	// A trial more in the pool adds one at least; rounding moves them by much less.
	a, b := c.Band.DegreesOfFreedom, o.Band.DegreesOfFreedom
	return a != b && !(math.Abs(a-b) < 0.5)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// opposite is the largest difference that there can be: that of a number from its negative.
const opposite = 2

// add counts a comparison that both have.
func (t *TableAgreement) add(c, o *judge.Comparison) {
	t.Compared++
	if c.Verdict == o.Verdict {
		t.Same++
	}
	a, b := c.Ours.Mean, o.Ours.Mean
	if a == b || math.IsNaN(a) && math.IsNaN(b) {
		t.Equal++
		return
	}
	d := math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
	if !(d <= opposite) { // one is not finite
		d = opposite
	}
	if d > t.Largest {
		t.Largest, t.Place = d, place(c)
	}
}

// All is the line of all tables.
func (a *Agreement) All() TableAgreement {
	out := TableAgreement{Table: "all"}
	for i := range a.Tables {
		t := &a.Tables[i]
		out.Compared += t.Compared
		out.Same += t.Same
		out.Equal += t.Equal
		out.Uneven += t.Uneven
		out.Counted += t.Counted
		out.Open += t.Open
		if t.Largest > out.Largest {
			out.Largest, out.Place = t.Largest, t.Table+", "+t.Place
		}
	}
	return out
}

// JudgedChanges is how many values and claims that count have another verdict.
func (a *Agreement) JudgedChanges() int {
	n := 0
	for i := range a.Changes {
		if a.Changes[i].Judged {
			n++
		}
	}
	return n
}

func (t *TableAgreement) line() []string {
	largest := ""
	if t.Largest > 0 {
		largest = strconv.FormatFloat(t.Largest, 'g', 2, 64) + " (" + t.Place + ")"
	}
	return []string{t.Table, strconv.Itoa(t.Compared), strconv.Itoa(t.Same), strconv.Itoa(t.Equal), largest}
}

func (c *Change) words() string {
	out := c.Place
	if c.Variant != "" {
		out += ", " + c.Variant
	}
	out += ": " + c.Ours + ", " + string(c.Verdict) + "; there " + c.Other + ", " + string(c.Before)
	if !c.Judged {
		out += " (does not count)"
	}
	return out
}

// AgreementNote says how the table is to be read.
const AgreementNote = "compared: values and statements that both have from the same number of trials, times apart; " +
	"equal: to the last bit; largest difference: relative to the larger of two values."

// WriteAgreement writes how tables agree, as text, Markdown or JSON.
func WriteAgreement(w io.Writer, a *Agreement, f tables.Format) error {
	if f == tables.FormatJSON {
		return encode(w, struct {
			Schema int `json:"schema"`
			*Agreement
			All TableAgreement `json:"all"`
		}{tables.Schema, a, a.All()})
	}
	if f != tables.FormatText && f != tables.FormatMarkdown {
		return fmt.Errorf("how tables agree is not written as %s", f)
	}
	all := a.All()
	var out strings.Builder
	g := grid{titles: []string{"table", "compared", "same verdict", "equal", "largest difference"},
		left: []bool{true, false, false, false, true}}
	for i := range a.Tables {
		g.lines = append(g.lines, a.Tables[i].line())
	}
	g.lines = append(g.lines, all.line())
	var notes []string
	if all.Uneven > 0 {
		notes = append(notes, "left out, made of different numbers of trials: "+text.Count(all.Uneven, "value")+".")
	}
	if f == tables.FormatText {
		out.WriteString(g.text() + "\n")
		for _, n := range append([]string{AgreementNote}, notes...) {
			out.WriteString(tables.Hang("  ", n, 100))
		}
	} else {
		out.WriteString(g.markdown())
		for _, n := range notes {
			out.WriteString("\n" + tables.EscapeMarkdown(n) + "\n")
		}
	}
	if len(a.Changes) > 0 {
		out.WriteString("\n")
	}
	for i := range a.Changes {
		c := &a.Changes[i]
		if f == tables.FormatText {
			out.WriteString(tables.Hang("  ", c.Table+", "+c.words(), 100))
		} else {
			out.WriteString("- `" + c.Table + "`, " + tables.EscapeMarkdown(c.words()) + "\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
