package tables

import (
	"encoding/csv"
	"io"
	"math"
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
	"settings", "assumptions", "data", "stand_in", "headline", "counts_as", "entry", "primary",
	"draws", "standard_deviation", "degrees_of_freedom", "band", "tolerance", "expected_inside",
	"pairs", "p_value", "terms",
}

// CSV writes one line a cell and variant (RFC 4180, UTF-8, with a header). Texts that come from
// records are [Inert]; all others are those of the ledger.
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
	line = append(line, optional(r.Difference), string(r.Verdict), Inert(r.Reason), strconv.FormatBool(r.SettingsStated()))
	if c := r.Reference; c != nil {
		line = append(line, number(c.Value), number(c.Tolerance), strconv.FormatBool(c.OK))
	} else {
		line = append(line, "", "", "")
	}
	line = append(line, Inert(r.Guarantee), r.Note, Inert(strings.Join(r.Warnings, "; ")), strings.Join(r.TrialKeys, " "))
	if m := r.Minus; m != nil {
		line = append(line, m.Experiment, m.Metric, number(m.Mean))
	} else {
		line = append(line, "", "", "")
	}
	return append(append(line, r.Classes.String()), csvVerdict(r)...)
}

// csvVerdict are the fields of what is said of a cell, and of what that follows from.
func csvVerdict(r *judge.Comparison) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	settings, data := settingsAndData(r)
	var assumed []string
	for i := range r.Assumed {
		assumed = append(assumed, r.Assumed[i].Text+" ("+r.Assumed[i].Citation()+")")
	}
	line := []string{settings, strings.Join(assumed, "; "), data, r.StandIn, strconv.FormatBool(r.Headline), countsAs(r),
		r.Entry, strconv.FormatBool(r.Primary), number(r.Draws)}
	if b := r.Band; b != nil {
		freedom := "" // none is needed without chance
		if !math.IsInf(b.DegreesOfFreedom, 1) {
			freedom = number(b.DegreesOfFreedom)
		}
		line = append(line, number(b.Deviation), freedom, number(b.HalfWidth))
	} else {
		line = append(line, "", "", "")
	}
	tolerance, expected := "", ""
	if r.Tolerance != nil {
		tolerance = number(*r.Tolerance)
	}
	if r.Band != nil && r.Verdict.Judged() {
		expected = number(r.Band.Coverage)
	}
	line = append(line, tolerance, expected)
	if t := r.Test; t != nil {
		return append(line, strconv.Itoa(t.Pairs), number(t.P), r.Terms)
	}
	return append(line, "", "", r.Terms)
}

// settingsAndData are two words: "stated" or "assumed", "paper" or "stand-in"; empty of
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

// countsAs is "value" or "claim" for an entry of the paper, "ours" or "quoted" for
// another.
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
