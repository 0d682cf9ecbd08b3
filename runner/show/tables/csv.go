package tables

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
)

// csvHeader names the columns. Numbers have the shortest digits that read back
// as the same number; missing values are empty.
var csvHeader = []string{
	"table", "row", "column", "variant", "statement", "metric", "unit",
	"published_text", "published_value", "published_uncertainty",
	"ours_mean", "ours_standard_error", "ours_trials", "trials_wanted",
	"holds_op", "holds_value", "difference", "verdict", "reason", "settings_stated",
	"reference_value", "reference_tolerance", "reference_ok", "mechanism", "note", "warnings", "trial_keys",
	"minus_experiment", "minus_metric", "minus_mean", "blas_class",
	"settings", "assumptions", "data", "stand_in", "headline", "counts_as", "entry", "primary",
	"draws", "standard_deviation", "degrees_of_freedom", "band", "tolerance", "expected_inside",
	"pairs", "p_value", "terms",
	"joint_verdict", "joint_reason", "joint_above", "joint_below", "joint_shift", "joint_draws", "joint_p_value",
	"joint_terms",
}

// writeCSV writes one line for each cell and variant of the tables, under one header (RFC 4180,
// UTF-8). Texts from records are [Inert]; all others are those of the ledger.
func writeCSV(w io.Writer, list []*judge.Evaluation) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for _, e := range list {
		for i := range e.Cells {
			if err := out.Write(append(csvLine(e, &e.Cells[i]), csvJoint(e, i)...)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvLine(e *judge.Evaluation, r *judge.Comparison) []string {
	line := []string{e.Table, r.Row, r.Column, r.Variant, r.Statement, r.Metric, r.Unit}
	if p := r.Published; p != nil {
		line = append(line, p.Text, csvOptional(p.Value), csvOptional(p.Uncertainty))
	} else {
		line = append(line, "", "", "")
	}
	if o := r.Ours; o != nil {
		line = append(line, csvNumber(o.Mean), csvOptional(o.Uncertainty()), strconv.Itoa(o.Trials), strconv.Itoa(o.Wanted))
	} else {
		line = append(line, "", "", "0", "")
	}
	if h := r.Holds; h != nil {
		line = append(line, string(h.Op), csvNumber(h.Value))
	} else {
		line = append(line, "", "")
	}
	line = append(line, csvOptional(r.Difference), string(r.Verdict), Inert(r.Reason),
		strconv.FormatBool(r.SettingsStated()))
	if c := r.Reference; c != nil {
		line = append(line, csvNumber(c.Value), csvNumber(c.Tolerance), strconv.FormatBool(c.OK))
	} else {
		line = append(line, "", "", "")
	}
	line = append(line, Inert(r.Mechanism), r.Note, Inert(strings.Join(r.Warnings, "; ")), strings.Join(r.TrialKeys, " "))
	if m := r.Minus; m != nil {
		line = append(line, m.Experiment, m.Metric, csvNumber(m.Mean))
	} else {
		line = append(line, "", "", "")
	}
	return append(append(line, r.Classes.String()), csvVerdict(r)...)
}

// csvNumber formats a number.
func csvNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// csvOptional formats a number, and nil as an empty field.
func csvOptional(v *float64) string {
	if v == nil {
		return ""
	}
	return csvNumber(*v)
}

// csvVerdict returns the fields from "settings" on.
func csvVerdict(r *judge.Comparison) []string {
	settings, data := settingsAndData(r)
	var assumed []string
	for i := range r.Assumed {
		assumed = append(assumed, r.Assumed[i].Text+" ("+r.Assumed[i].Citation()+")")
	}
	line := []string{settings, strings.Join(assumed, "; "), data, r.StandIn, strconv.FormatBool(r.Headline), countsAs(r),
		r.Entry, strconv.FormatBool(r.Primary), csvNumber(r.Draws)}
	if b := r.Band; b != nil {
		freedom := ""
		if !math.IsInf(b.DegreesOfFreedom, 1) {
			freedom = csvNumber(b.DegreesOfFreedom)
		}
		line = append(line, csvNumber(b.Deviation), freedom, csvNumber(b.HalfWidth))
	} else {
		line = append(line, "", "", "")
	}
	expected := ""
	if r.Band != nil && r.Verdict.Judged() {
		expected = csvNumber(r.Band.Coverage)
	}
	line = append(line, csvOptional(r.Tolerance), expected)
	if t := r.Test; t != nil {
		return append(line, strconv.Itoa(t.Pairs), csvNumber(t.P), r.Terms)
	}
	return append(line, "", "", r.Terms)
}

// csvJoint returns the fields of the joint verdict that a cell is part of, that of the headline first.
func csvJoint(e *judge.Evaluation, cell int) []string {
	i := slices.IndexFunc(e.Joint, func(j *judge.Joint) bool { return j.Found() && slices.Contains(j.Cells, cell) })
	if i < 0 {
		return make([]string, 8)
	}
	j := e.Joint[i]
	return []string{string(j.Verdict), j.Reason, strconv.Itoa(j.Above), strconv.Itoa(j.Below), csvOptional(j.Shift),
		strconv.Itoa(j.Draws), csvNumber(j.P), j.Terms}
}

// settingsAndData returns "stated" or "assumed", and "paper" or "stand-in"; both are empty for
// a quoted value.
func settingsAndData(r *judge.Comparison) (settings, data string) {
	if r.Verdict == judge.Quoted {
		return "", ""
	}
	settings, data = "stated", "paper"
	if !r.SettingsStated() {
		settings = "assumed"
	}
	if r.StandIn != "" {
		data = "stand-in"
	}
	return settings, data
}

// countsAs returns "value" or "claim" for an entry of the paper, otherwise "ours" or
// "quoted".
func countsAs(r *judge.Comparison) string {
	switch {
	case r.Verdict == judge.Quoted:
		return "quoted"
	case r.Own:
		return "ours"
	case r.Claim:
		return "claim"
	}
	return "value"
}
