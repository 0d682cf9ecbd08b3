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
)

// rowKey is the place of a comparison.
type rowKey struct{ table, row, column, statement, variant string }

// row is what a table that was written as CSV says of a comparison.
type row struct {
	verdict judge.Verdict
	// terms are what the verdict was made with: where the ledger says something else by
	// now, it does not hold.
	terms    string
	expected float64
	ours     *judge.Estimate // without a standard error; nil where nothing was computed
}

// columns are those that are read; a file without them is of an older program.
var columns = []string{"table", "row", "column", "statement", "variant", "verdict", "expected_inside",
	"terms", "ours_mean", "ours_trials", "trials_wanted"}

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
		expected, err := probability(get("expected_inside"))
		if err != nil {
			r.skip(path, err)
			return nil
		}
		ours, err := estimate(get("ours_mean"), get("ours_trials"), get("trials_wanted"))
		if err != nil {
			r.skip(path, err)
			return nil
		}
		r.rows[rowKey{get("table"), get("row"), get("column"), get("statement"), get("variant")}] = row{
			verdict: judge.Verdict(get("verdict")), expected: expected, terms: get("terms"), ours: ours}
	}
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
func estimate(mean, trials, wanted string) (*judge.Estimate, error) {
	if mean == "" {
		return nil, nil
	}
	var out judge.Estimate
	var err, second, third error
	out.Mean, err = strconv.ParseFloat(mean, 64)
	out.Trials, second = strconv.Atoi(trials)
	out.Wanted, third = strconv.Atoi(wanted)
	if err = errors.Join(err, second, third); err != nil {
		return nil, fmt.Errorf("ours_mean, ours_trials and trials_wanted are %q, %q and %q, expected numbers: %w",
			mean, trials, wanted, err)
	}
	return &out, nil
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
		c.Restore(known.ours, known.verdict)
		if known.verdict.Judged() && !c.Claim {
			c.Band = &judge.Band{Coverage: known.expected, DegreesOfFreedom: math.Inf(1)}
		}
	}
	if changed > 0 {
		r.skip(e.Table, fmt.Errorf("the ledger or the experiments have changed for %d of its values since the table was "+
			"written", changed))
	}
}
