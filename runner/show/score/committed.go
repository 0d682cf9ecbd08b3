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

// rowKey is the place of a comparison.
type rowKey struct{ table, row, column, statement, variant string }

// row is what a table that was written as CSV says of a comparison.
type row struct {
	verdict judge.Verdict
	// terms are what the verdict was made with: where the ledger says something else by
	// now, it does not hold.
	terms string
	band  judge.Band      // but for its width
	ours  *judge.Estimate // nil where nothing was computed
	holds *judge.Comparand
}

// columns are those that are read; a file without them is of an older program.
var columns = []string{"table", "row", "column", "statement", "variant", "verdict", "expected_inside",
	"terms", "standard_deviation", "degrees_of_freedom", "ours_mean", "ours_standard_error", "ours_trials",
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
	r.board.Files++
	for {
		l, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			r.skip(path, err)
			return nil
		}
		get := func(c string) string { return l[at[c]] }
		band, first := bandOf(get)
		ours, second := estimate(get)
		holds, third := comparand(get)
		if err := errors.Join(first, second, third); err != nil {
			r.skip(path, err)
			return nil
		}
		r.rows[rowKey{get("table"), get("row"), get("column"), get("statement"), get("variant")}] = row{
			verdict: judge.Verdict(get("verdict")), band: band, terms: get("terms"), ours: ours, holds: holds}
	}
}

// bandOf reads what is known of a band; without degrees of freedom no chance enters.
func bandOf(get func(column string) string) (judge.Band, error) {
	out := judge.Band{DegreesOfFreedom: math.Inf(1)}
	var errs [3]error
	out.Coverage, errs[0] = probability(get("expected_inside"))
	out.Deviation, errs[1] = number(get("standard_deviation"))
	if freedom := get("degrees_of_freedom"); freedom != "" {
		out.DegreesOfFreedom, errs[2] = number(freedom)
	}
	return out, errors.Join(errs[:]...)
}

// probability reads one; empty, of what is no judged number, is 0.
func probability(field string) (float64, error) {
	if field == "" {
		return 0, nil
	}
	p, err := strconv.ParseFloat(field, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("expected_inside is %q, expected a number from 0 to 1", field)
	}
	return p, nil
}

// estimate reads what was computed; without a mean there is none.
func estimate(get func(column string) string) (*judge.Estimate, error) {
	if get("ours_mean") == "" {
		return nil, nil
	}
	var out judge.Estimate
	var errs [4]error
	out.Mean, errs[0] = number(get("ours_mean"))
	out.StandardError, errs[1] = number(get("ours_standard_error"))
	out.Trials, errs[2] = strconv.Atoi(get("ours_trials"))
	out.Wanted, errs[3] = strconv.Atoi(get("trials_wanted"))
	return &out, errors.Join(errs[:]...)
}

// comparand reads the right-hand side of a statement; without one there is none.
func comparand(get func(column string) string) (*judge.Comparand, error) {
	op := ledger.Relation(get("holds_op"))
	if op == "" {
		return nil, nil
	}
	value, err := number(get("holds_value"))
	return &judge.Comparand{Op: op, Value: value}, err
}

// number reads one; empty is 0.
func number(field string) (float64, error) {
	if field == "" {
		return 0, nil
	}
	return strconv.ParseFloat(field, 64)
}

// restore gives the comparisons that were not run the verdicts of the tables that were
// read, where these were made with what the ledger says now.
func (r *reader) restore(e *judge.Evaluation) {
	changed := 0
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Verdict != judge.NotRun {
			continue
		}
		known, ok := r.rows[rowKey{e.Table, c.Row, c.Column, c.Statement, c.Variant}]
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
}
