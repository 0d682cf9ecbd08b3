package score

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
)

// rowKey identifies a comparison.
type rowKey struct{ table, row, column, statement, variant string }

// row is a comparison of a table that was written as CSV.
type row struct {
	verdict judge.Verdict
	// terms is the digest of the conditions of the verdict, which is invalid where those of
	// the ledger differ.
	terms string
	band  judge.Band
	ours  *judge.Estimate // nil where nothing was computed
	holds *judge.Comparand
	joint *judge.Joint // nil where the value is part of none
}

// columns are the columns that are read; a file without one was written by an older program.
var columns = []string{"table", "row", "column", "statement", "variant", "verdict", "expected_inside",
	"terms", "standard_deviation", "degrees_of_freedom", "band", "ours_mean", "ours_standard_error", "ours_trials",
	"trials_wanted", "holds_op", "holds_value"}

// table reads a table.
func (r *reader) table(path string) error {
	f, err := r.disk.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := csv.NewReader(f)
	head, err := lines.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		r.skip(path, err)
		return nil
	}
	if !slices.Contains(head, "verdict") {
		return nil // another CSV
	}
	at := map[string]int{}
	for _, c := range columns {
		if at[c] = slices.Index(head, c); at[c] < 0 {
			r.skip(path, errors.New("written by an older version of this program; make the table anew"))
			return nil
		}
	}
	for _, c := range jointColumns {
		at[c] = slices.Index(head, c)
	}
	r.board.Files++
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		l := csvLine{fields: fields, at: at, err: err}
		var row row
		if err == nil {
			row = l.row()
		}
		if l.err != nil {
			r.skip(path, l.err)
			return nil
		}
		r.rows[rowKey{l.text("table"), l.text("row"), l.text("column"), l.text("statement"), l.text("variant")}] = row
	}
}

// csvLine reads the fields of a line by their columns, and keeps the first error.
type csvLine struct {
	fields []string
	at     map[string]int
	err    error
}

func (l *csvLine) text(column string) string { return l.fields[l.at[column]] }

// number reads a number; an empty field is 0.
func (l *csvLine) number(column string) float64 {
	field := l.text(column)
	if field == "" || l.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(field, 64)
	if err != nil {
		l.err = fmt.Errorf("%s is %q, expected a number", column, field)
	}
	return v
}

// count reads a whole number; an empty field is 0.
func (l *csvLine) count(column string) int {
	v := l.number(column)
	if l.err == nil && v != math.Trunc(v) {
		l.err = fmt.Errorf("%s is %g, expected a whole number", column, v)
	}
	return int(v)
}

// row reads a comparison.
func (l *csvLine) row() row {
	out := row{verdict: judge.Verdict(l.text("verdict")), terms: l.text("terms"),
		band: judge.Band{Coverage: l.number("expected_inside"), Deviation: l.number("standard_deviation"),
			HalfWidth: l.number("band"), DegreesOfFreedom: math.Inf(1)}}
	if p := out.band.Coverage; l.err == nil && !(p >= 0 && p <= 1) {
		l.err = fmt.Errorf("expected_inside is %v, expected a number from 0 to 1", p)
	}
	if l.text("degrees_of_freedom") != "" {
		out.band.DegreesOfFreedom = l.number("degrees_of_freedom")
	}
	if l.text("ours_mean") != "" {
		out.ours = &judge.Estimate{Mean: l.number("ours_mean"), StandardError: l.number("ours_standard_error"),
			Trials: l.count("ours_trials"), Wanted: l.count("trials_wanted")}
	}
	if op := ledger.Relation(l.text("holds_op")); op != "" {
		out.holds = &judge.Comparand{Op: op, Value: l.number("holds_value")}
	}
	out.joint = l.joint()
	return out
}

// restore sets the verdicts of comparisons that were not run to those of the tables that were
// read, where their conditions are those of the ledger; stale reports that some are not.
func (r *reader) restore(e *judge.Evaluation) (stale bool) {
	changed := 0
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Verdict != judge.NotRun {
			continue
		}
		known, ok := r.rows[keyOf(e.Table, c)]
		if !ok || known.verdict == judge.NotRun {
			continue
		}
		if known.terms != c.Terms || !slices.Contains(judge.Verdicts, known.verdict) {
			changed++
			continue
		}
		c.Restore(known.ours, known.holds, known.verdict)
		if known.verdict.Judged() && !c.Claim {
			c.Band = &known.band
		}
	}
	if changed > 0 {
		r.skip(e.Table, fmt.Errorf("the ledger or the experiments have changed for %d of its values since the table was "+
			"written", changed))
	}
	return changed > 0
}
