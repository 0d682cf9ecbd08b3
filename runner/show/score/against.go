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

// Agreement is the agreement of the tables of two sets of folders, such as those of runs
// with two BLAS libraries, or on a CPU and a GPU. Values and statements are compared that
// both have from the same numbers of trials; times are left out.
type Agreement struct {
	Tables []TableAgreement `json:"tables"`
	Joint  JointAgreement   `json:"joint"`
	// Changes are the comparisons whose verdicts differ.
	Changes []Change `json:"changes"`
	// LeftOut are the incomparable values and statements of these tables, with the reason.
	LeftOut []LeftOut `json:"left_out"`
	// TablesLeftOut are the tables of which only one of the two has results.
	TablesLeftOut []string `json:"tables_left_out"`
}

// JointAgreement is the agreement of joint verdicts. Open counts those that count and are incomparable.
type JointAgreement struct {
	Compared int `json:"compared"`
	Same     int `json:"same_verdict"`
	Open     int `json:"open"`
}

// TableAgreement is the agreement of two evaluations of a table.
type TableAgreement struct {
	Table    string `json:"table"`
	Compared int    `json:"compared"`
	Same     int    `json:"same_verdict"` // of those compared
	// Equal counts those compared whose means, standard errors and right-hand sides are equal
	// to the last bit.
	Equal int `json:"equal"`
	// Largest is the largest difference of two means or of two right-hand sides, relative to
	// the larger one, and Place its row and column.
	Largest float64 `json:"largest_difference"`
	Place   string  `json:"place"`
	// Uneven counts those left out because the numbers of trials differ: their own, those of a
	// subtrahend, those of the right-hand side of a statement, or those of the pool.
	Uneven int `json:"uneven_trials"`
	// Counted counts those compared that count in the scoreboard of one of the two, and Open
	// those that do and are incomparable. Both count cells: a value printed twice is two.
	Counted int `json:"counted"`
	Open    int `json:"open"`
}

// Cell identifies a value or statement of a table.
type Cell struct {
	Table     string `json:"table"`
	Place     string `json:"place"`
	Statement string `json:"statement"`
	Variant   string `json:"variant"`
	Counts    bool   `json:"judged"` // in the scoreboard of one of the two

	entry entry
}

// Change is a comparison with another verdict.
type Change struct {
	Cell
	Ours         string        `json:"ours"`
	Verdict      judge.Verdict `json:"verdict"`
	Other        string        `json:"other"`
	OtherVerdict judge.Verdict `json:"other_verdict"`
}

// LeftOut is an incomparable value or statement.
type LeftOut struct {
	Cell
	Reason string `json:"reason"`
}

// entry is a value or claim of a paper.
type entry struct{ paper, name string }

// Against compares the board's tables with those of other folders, where both have results.
func (b *Board) Against(other *Board) *Agreement {
	out := &Agreement{Tables: []TableAgreement{}, Changes: []Change{}, LeftOut: []LeftOut{}, TablesLeftOut: []string{}}
	for i, e := range b.Evaluated {
		o := other.Evaluated[i]
		switch here, there := hasResults(e), hasResults(o); {
		case here && there:
			if t := out.table(e, o); t.Compared > 0 || t.Uneven > 0 || t.Open > 0 {
				out.Tables = append(out.Tables, t)
			}
		case here != there:
			out.TablesLeftOut = append(out.TablesLeftOut, e.Table)
		}
	}
	out.joint(b.Evaluated, other.Evaluated)
	return out
}

// hasResults reports whether a table has computed values that can be compared.
func hasResults(e *judge.Evaluation) bool {
	return slices.ContainsFunc(e.Cells, func(c judge.Comparison) bool { return c.Ours != nil && !c.Times })
}

// table compares two evaluations of a table, and adds its changes and omissions.
func (a *Agreement) table(e, other *judge.Evaluation) TableAgreement {
	t := TableAgreement{Table: e.Table}
	theirs := map[rowKey]*judge.Comparison{}
	for j := range other.Cells {
		c := &other.Cells[j]
		theirs[keyOf(e.Table, c)] = c
	}
	for j := range e.Cells {
		c := &e.Cells[j]
		key := keyOf(e.Table, c)
		a.pair(&t, e, c, theirs[key])
		delete(theirs, key)
	}
	for j := range other.Cells { // of variants that are swept there alone
		if c := &other.Cells[j]; theirs[keyOf(e.Table, c)] != nil {
			a.pair(&t, e, nil, c)
		}
	}
	return t
}

// pair compares c, from here, with o, from there; one of them is nil where the plan of its
// run lacks the variant.
func (a *Agreement) pair(t *TableAgreement, e *judge.Evaluation, c, o *judge.Comparison) {
	one := c
	if one == nil {
		one = o
	}
	if one.Times || ours(c) == nil && ours(o) == nil {
		return
	}
	cell := Cell{Table: t.Table, Place: place(one), Statement: one.Statement, Variant: one.Variant,
		Counts: counts(one) && (judged(c) || judged(o)), entry: entry{e.Paper, one.Entry}}
	if reason, trials := incomparable(c, o); reason != "" {
		if trials {
			t.Uneven++
		}
		if cell.Counts {
			t.Open++
		}
		a.LeftOut = append(a.LeftOut, LeftOut{cell, reason})
		return
	}
	t.add(c, o)
	if cell.Counts {
		t.Counted++
	}
	if c.Verdict != o.Verdict {
		a.Changes = append(a.Changes, Change{Cell: cell,
			Ours: tables.Ours(c), Verdict: c.Verdict, Other: tables.Ours(o), OtherVerdict: o.Verdict})
	}
}

func ours(c *judge.Comparison) *judge.Estimate {
	if c == nil {
		return nil
	}
	return c.Ours
}

func judged(c *judge.Comparison) bool { return c != nil && c.Verdict.Judged() }

func keyOf(table string, c *judge.Comparison) rowKey {
	return rowKey{table, c.Row, c.Column, c.Statement, c.Variant}
}

// incomparable returns the reason why two values cannot be compared, empty for none; trials
// reports that the reason is a different number of trials.
func incomparable(c, o *judge.Comparison) (reason string, trials bool) {
	trialsOf := func(a, b int) string { return fmt.Sprintf("%s here, %d there", text.Count(a, "trial"), b) }
	switch {
	case ours(c) == nil:
		return "no result here", false
	case ours(o) == nil:
		return "no result there", false
	case c.Ours.Trials != o.Ours.Trials:
		return trialsOf(c.Ours.Trials, o.Ours.Trials), true
	case open(c) != open(o): // trials may be missing, or a paired test may not decide
		return fmt.Sprintf("%s here, %s there", c.Verdict, o.Verdict), false
	case c.Holds == nil && o.Holds != nil:
		return "no right-hand side here", false
	case c.Holds != nil && o.Holds == nil:
		return "no right-hand side there", false
	case finite(c.Ours.Mean) != finite(o.Ours.Mean):
		return fmt.Sprintf("%s here, %s there", rounded(c.Ours.Mean), rounded(o.Ours.Mean)), false
	case c.Minus != nil && o.Minus != nil && c.Minus.Trials != o.Minus.Trials:
		return "of the value that is subtracted, " + trialsOf(c.Minus.Trials, o.Minus.Trials), true
	case c.Band == nil || o.Band == nil:
		return "", false
	}
	// One more trial in the pool adds at least 1, and rounding much less, except for the
	// difference of two means, where they depend on the ratio of two variances.
	limit := 0.5
	if c.Minus != nil || o.Minus != nil {
		limit = 1
	}
	a, b := c.Band.DegreesOfFreedom, o.Band.DegreesOfFreedom
	switch {
	case a == b || math.Abs(a-b) < limit:
		return "", false
	case math.IsInf(a, 1):
		return "no chance here, some there", false
	case math.IsInf(b, 1):
		return "chance here, none there", false
	}
	return fmt.Sprintf("%s degrees of freedom of the spread here, %s there", rounded(a), rounded(b)), true
}

// open reports whether there is no verdict yet.
func open(c *judge.Comparison) bool { return c.Verdict == judge.NotRun || c.Verdict == judge.Unjudged }

func rounded(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// maxDifference is the largest relative difference, that of a number from its negative.
const maxDifference = 2

// add counts a compared value.
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

// difference returns |a − b| relative to the larger magnitude; 0 for two NaN.
func difference(a, b float64) float64 {
	if a == b || math.IsNaN(a) && math.IsNaN(b) {
		return 0
	}
	d := math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
	if !(d <= maxDifference) { // one is not finite
		return maxDifference
	}
	return d
}

// All returns the sum over all tables.
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

// JudgedChanges returns the number of distinct values and claims that count and have another
// verdict.
func (a *Agreement) JudgedChanges() int {
	entries := map[entry]bool{}
	for i := range a.Changes {
		if a.Changes[i].Counts {
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

// words returns the names of the value or statement.
func (c *Cell) words() string { return joined(", ", c.Place, c.Statement, c.Variant) }

func (c *Change) words() string {
	out := c.Cell.words() + ": " + c.Ours + ", " + string(c.Verdict) + "; there " + c.Other + ", " + string(c.OtherVerdict)
	if !c.Counts {
		out += " (does not count)"
	}
	return out
}

func (l *LeftOut) words() string { return l.Cell.words() + ": left out, " + l.Reason }

// agreementNote explains the table of agreements.
const agreementNote = "compared: values and statements that both have from the same numbers of trials, times apart; " +
	"equal: means, standard errors and right-hand sides, to the last bit; largest difference: of two means or right-" +
	"hand sides, relative to the larger one."

// notes returns the footnotes of the table.
func (a *Agreement) notes() []string {
	notes := []string{agreementNote}
	if a.Joint.Compared > 0 {
		notes = append(notes, fmt.Sprintf("jointly: of %s of as many draws %d the same.",
			text.Count(a.Joint.Compared, "verdict"), a.Joint.Same))
	}
	if n, all := len(a.LeftOut), a.All(); n > 0 {
		notes = append(notes, fmt.Sprintf("left out: %s, of which %d for different numbers of trials; %d count, "+
			"and are listed (JSON lists all, with the reasons).", text.Count(n, "cell"), all.Uneven, all.Open+a.Joint.Open))
	}
	if n := len(a.TablesLeftOut); n > 0 {
		notes = append(notes, "not compared: "+text.Count(n, "table")+" of which only one of the two has results (JSON "+
			"lists them).")
	}
	return notes
}

// sentences returns the changes of verdicts, and the omissions that count.
func (a *Agreement) sentences() []sentence {
	var out []sentence
	for i := range a.Changes {
		out = append(out, sentence{a.Changes[i].Table, a.Changes[i].words()})
	}
	for i := range a.LeftOut {
		if a.LeftOut[i].Counts {
			out = append(out, sentence{a.LeftOut[i].Table, a.LeftOut[i].words()})
		}
	}
	return out
}

type sentence struct{ table, words string }

// WriteAgreement writes an agreement as text, in lines of a width, Markdown or JSON.
func WriteAgreement(w io.Writer, a *Agreement, f tables.Format, width int) error {
	if f == tables.FormatJSON {
		return tables.EncodeJSON(w, struct {
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
		out.WriteString(g.text(width) + "\n")
		for _, n := range a.notes() {
			out.WriteString(tables.Hang("  ", n, width))
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
		out.WriteString(item(f, l.table, l.words, width))
	}
	_, err := io.WriteString(w, out.String())
	return err
}
