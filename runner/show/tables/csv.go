package tables

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
)

// csvHeader names the columns. Numbers have the shortest digits that read back
// as the same number; what does not exist is empty.
var csvHeader = []string{
	"table", "row", "column", "variant", "statement", "metric", "unit",
	"published_text", "published_value", "published_uncertainty",
	"ours_mean", "ours_standard_error", "ours_trials", "trials_wanted",
	"holds_op", "holds_value", "difference", "verdict", "reason", "settings_stated",
	"reference_value", "reference_tolerance", "reference_ok", "guarantee", "note", "warnings", "trial_keys",
	"minus_experiment", "minus_metric", "minus_mean", "blas_class",
}

// CSV writes one line a cell and variant (RFC 4180, UTF-8, with a header).
func CSV(w io.Writer, e *judge.Evaluation) error { return csvAll(w, []*judge.Evaluation{e}) }

// csvAll writes several tables under one header.
func csvAll(w io.Writer, list []*judge.Evaluation) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for _, e := range list {
		for i := range e.Cells {
			if err := out.Write(csvLine(e, &e.Cells[i])); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvLine(e *judge.Evaluation, r *judge.Comparison) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	optional := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	line := []string{e.Table, r.Row, r.Column, r.Variant, r.Statement, r.Metric, r.Unit}
	if p := r.Published; p != nil {
		line = append(line, p.Text, optional(p.Value), optional(p.Uncertainty))
	} else {
		line = append(line, "", "", "")
	}
	if o := r.Ours; o != nil {
		line = append(line, number(o.Mean), number(o.StandardError), strconv.Itoa(o.Trials), strconv.Itoa(o.Wanted))
	} else {
		line = append(line, "", "", "0", "")
	}
	if h := r.Holds; h != nil {
		line = append(line, string(h.Op), number(h.Value))
	} else {
		line = append(line, "", "")
	}
	line = append(line, optional(r.Difference), string(r.Verdict), r.Reason, strconv.FormatBool(r.SettingsStated))
	if c := r.Reference; c != nil {
		line = append(line, number(c.Value), number(c.Tolerance), strconv.FormatBool(c.OK))
	} else {
		line = append(line, "", "", "")
	}
	line = append(line, r.Guarantee, r.Note, strings.Join(r.Warnings, "; "), strings.Join(r.TrialKeys, " "))
	if m := r.Minus; m != nil {
		line = append(line, m.Experiment, m.Metric, number(m.Mean))
	} else {
		line = append(line, "", "", "")
	}
	return append(line, r.Classes.String())
}
