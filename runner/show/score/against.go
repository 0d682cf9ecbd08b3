package score

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// Agreement says how the tables of two sets of folders agree, such as of a run with one
// BLAS and of a run with another, or of a CPU and of a GPU. Compared are values and
// statements that both have from the same numbers of trials; times are left out.
type Agreement struct {
	Tables []TableAgreement `json:"tables"`
	// Changes are the comparisons whose verdicts differ.
	Changes []Change `json:"changes"`
	// LeftOut are the comparisons of these tables that were not made, with the reason.
	LeftOut []LeftOut `json:"left_out"`
}

// TableAgreement is how two evaluations of a table agree.
type TableAgreement struct {
	Table    string `json:"table"`
	Compared int    `json:"compared"`
	Same     int    `json:"same_verdict"` // of those compared
	// Equal are those compared whose means, standard errors and right-hand sides are equal to
	// the last bit.
	Equal int `json:"equal"`
	// Largest is the largest difference of two means or of two right-hand sides, relative to
	// the larger one, 2 where one is not finite, and Place where it is.
	Largest float64 `json:"largest_difference"`
	Place   string  `json:"place"`
	// Uneven are those left out because the numbers of trials differ: their own, those of a
	// value that is subtracted, those of the right-hand side of a statement, or those of the
	// values whose spread they share.
	Uneven int `json:"uneven_trials"`
	// Counted are those compared that count in the scoreboard of one of the two, and Open those
	// that do and could not be compared, or are finite in one of the two only.
	Counted int `json:"counted"`
	Open    int `json:"open"`
}

// Cell says which value or statement of a table it is.
type Cell struct {
	Table     string `json:"table"`
	Place     string `json:"place"`
	Statement string `json:"statement"`
	Variant   string `json:"variant"`
	Judged    bool   `json:"judged"` // it counts in the scoreboard of one of the two

	entry string
}

// Change is a comparison with another verdict.
type Change struct {
	Cell
	Ours         string        `json:"ours"`
	Verdict      judge.Verdict `json:"verdict"`
	Other        string        `json:"other"`
	OtherVerdict judge.Verdict `json:"other_verdict"`
}

// LeftOut is a comparison that was not made.
type LeftOut struct {
	Cell
	Reason string `json:"reason"`
}

// Against compares with the tables of other folders. Tables without anything to compare
// are left out.
func (b *Board) Against(other *Board) *Agreement {
	out := &Agreement{Tables: []TableAgreement{}, Changes: []Change{}, LeftOut: []LeftOut{}}
	for i, e := range b.evaluated {
		if t := out.table(e, other.evaluated[i]); t.Compared+t.Uneven > 0 {
			out.Tables = append(out.Tables, t)
		}
	}
	has := map[string]bool{}
	for i := range out.Tables {
		has[out.Tables[i].Table] = true
	}
	out.LeftOut = slices.DeleteFunc(out.LeftOut, func(l LeftOut) bool { return !has[l.Table] })
	return out
}

// table compares two evaluations of a table, and enters what differs and what is left out.
func (a *Agreement) table(e, other *judge.Evaluation) TableAgreement {
	t := TableAgreement{Table: e.Table}
	theirs := map[rowKey]*judge.Comparison{}
	for j := range other.Cells {
		c := &other.Cells[j]
		theirs[keyOf(e.Table, c)] = c
	}
	for j := range e.Cells {
		c := &e.Cells[j]
		o := theirs[keyOf(e.Table, c)]
		if o == nil || c.Times || c.Ours == nil && o.Ours == nil {
			continue
		}
		cell := Cell{Table: e.Table, Place: place(c), Statement: c.Statement, Variant: c.Variant, entry: c.Entry,
			Judged: c.Headline && c.Primary && !c.Own && (c.Verdict.Judged() || o.Verdict.Judged())}
		if reason, trials := incomparable(c, o); reason != "" {
			if trials {
				t.Uneven++
			}
			if cell.Judged {
				t.Open++
			}
			a.LeftOut = append(a.LeftOut, LeftOut{cell, reason})
			continue
		}
		t.add(c, o)
		if cell.Judged {
			t.Counted++
			if finite(c.Ours.Mean) != finite(o.Ours.Mean) {
				t.Open++
			}
		}
		if c.Verdict != o.Verdict {
			a.Changes = append(a.Changes, Change{Cell: cell,
				Ours: tables.Ours(c), Verdict: c.Verdict, Other: tables.Ours(o), OtherVerdict: o.Verdict})
		}
	}
	return t
}

func keyOf(table string, c *judge.Comparison) rowKey {
	return rowKey{table, c.Row, c.Column, c.Statement, c.Variant}
}

// incomparable says why two comparisons are not held against each other, or nothing;
// trials says that the reason is that they are not made of the same numbers of trials.
func incomparable(c, o *judge.Comparison) (reason string, trials bool) {
	partial := func(c *judge.Comparison) bool { return c.Verdict == judge.NotRun || c.Verdict == judge.Unjudged }
	counts := func(a, b int) string { return fmt.Sprintf("%s here, %d there", text.Count(a, "trial"), b) }
	switch {
	case c.Ours == nil:
		return "no result here", false
	case o.Ours == nil:
		return "no result there", false
	case c.Ours.Trials != o.Ours.Trials:
		return counts(c.Ours.Trials, o.Ours.Trials), true
	case partial(c) != partial(o):
		return fmt.Sprintf("%s here, %s there", c.Verdict, o.Verdict), true
	case c.Minus != nil && o.Minus != nil:
		// The degrees of freedom of a difference move with the two variances.
		if c.Minus.Trials != o.Minus.Trials {
			return "of the value that is subtracted, " + counts(c.Minus.Trials, o.Minus.Trials), true
		}
		return "", false
	case c.Band == nil || o.Band == nil:
		return "", false
	}
	// A trial more in the pool adds one at least; rounding moves them by much less.
	if a, b := c.Band.DegreesOfFreedom, o.Band.DegreesOfFreedom; a != b && !(math.Abs(a-b) < 0.5) {
		return fmt.Sprintf("%s degrees of freedom of the spread here, %s there", rounded(a), rounded(b)), true
	}
	return "", false
}

func rounded(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// opposite is the largest difference that there can be: that of a number from its negative.
const opposite = 2

// add counts a comparison that both have.
func (t *TableAgreement) add(c, o *judge.Comparison) {
	t.Compared++
	if c.Verdict == o.Verdict {
		t.Same++
	}
	d := difference(c.Ours.Mean, o.Ours.Mean)
	if c.Holds != nil && o.Holds != nil {
		d = max(d, difference(c.Holds.Value, o.Holds.Value))
	}
	if d == 0 && difference(c.Ours.StandardError, o.Ours.StandardError) == 0 {
		t.Equal++
	}
	if d > t.Largest {
		t.Largest, t.Place = d, place(c)
	}
}

// difference is that of two numbers, relative to the larger one; two that are none do not
// differ.
func difference(a, b float64) float64 {
	if a == b || math.IsNaN(a) && math.IsNaN(b) {
		return 0
	}
	d := math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
	if !(d <= opposite) { // one is not finite
		return opposite
	}
	return d
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

// JudgedChanges is how many values and claims that count have another verdict, each once
// wherever it is printed again.
func (a *Agreement) JudgedChanges() int {
	entries := map[string]bool{}
	for i := range a.Changes {
		if a.Changes[i].Judged {
			entries[a.Changes[i].entry] = true
		}
	}
	return len(entries)
}

func (t *TableAgreement) line() []string {
	largest := ""
	if t.Largest > 0 {
		largest = strconv.FormatFloat(t.Largest, 'g', 2, 64) + " (" + t.Place + ")"
	}
	return []string{t.Table, strconv.Itoa(t.Compared), strconv.Itoa(t.Same), strconv.Itoa(t.Equal), largest}
}

// words name the value or statement.
func (c *Cell) words() string {
	out := c.Place
	for _, s := range []string{c.Statement, c.Variant} {
		if s != "" {
			out += ", " + s
		}
	}
	return out
}

func (c *Change) words() string {
	out := c.Cell.words() + ": " + c.Ours + ", " + string(c.Verdict) + "; there " + c.Other + ", " + string(c.OtherVerdict)
	if !c.Judged {
		out += " (does not count)"
	}
	return out
}

func (l *LeftOut) words() string { return l.Cell.words() + ": left out, " + l.Reason }

// AgreementNote says how the table is to be read.
const AgreementNote = "compared: values and statements that both have from the same numbers of trials, times apart; " +
	"equal: means, standard errors and right-hand sides, to the last bit; largest difference: of two means or right-" +
	"hand sides, relative to the larger one."

// notes are the sentences beneath the table.
func (a *Agreement) notes() []string {
	notes := []string{AgreementNote}
	if len(a.LeftOut) == 0 {
		return notes
	}
	all, counted := a.All(), 0
	for i := range a.LeftOut {
		if a.LeftOut[i].Judged {
			counted++
		}
	}
	return append(notes, fmt.Sprintf("left out: %s, of which %d for different numbers of trials and the others for want "+
		"of a result in one of the two; %d of them count, and are listed (JSON lists all).",
		text.Count(len(a.LeftOut), "value"), all.Uneven, counted))
}

// sentences are the comparisons that are written one by one: with another verdict, or left
// out and counted.
func (a *Agreement) sentences() []sentence {
	var out []sentence
	for i := range a.Changes {
		out = append(out, sentence{a.Changes[i].Table, a.Changes[i].words()})
	}
	for i := range a.LeftOut {
		if a.LeftOut[i].Judged {
			out = append(out, sentence{a.LeftOut[i].Table, a.LeftOut[i].words()})
		}
	}
	return out
}

type sentence struct{ table, words string }

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
	if f == tables.FormatText {
		out.WriteString(g.text() + "\n")
		for _, n := range a.notes() {
			out.WriteString(tables.Hang("  ", n, 100))
		}
	} else {
		out.WriteString(g.markdown())
		for _, n := range a.notes() {
			out.WriteString("\n" + tables.EscapeMarkdown(n) + "\n")
		}
	}
	for i, l := range a.sentences() {
		if i == 0 {
			out.WriteString("\n")
		}
		if f == tables.FormatText {
			out.WriteString(tables.Hang("  ", l.table+", "+l.words, 100))
		} else {
			out.WriteString("- `" + l.table + "`, " + tables.EscapeMarkdown(l.words) + "\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
