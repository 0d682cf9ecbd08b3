package tables

import (
	"encoding/json"
	"io"
	"math"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Schema is the version of the JSON format.
const Schema = 1

type jsonTable struct {
	Schema    int                   `json:"schema"`
	Paper     string                `json:"paper"`
	Table     string                `json:"table"`
	Title     string                `json:"title"`
	Kind      ledger.TableKind      `json:"kind"`
	Cells     []jsonCell            `json:"cells"`
	Summary   map[judge.Verdict]int `json:"summary"`
	Privacy   []experiment.Privacy  `json:"privacy"`
	Classes   record.Classes        `json:"blas_classes"`
	Footnotes []string              `json:"footnotes"`
	Tally     judge.Tally           `json:"tally"`
	Sentence  string                `json:"sentence"`
	Joint     []*judge.Joint        `json:"joint"`
}

// jsonCell has the members of a cell in their public order.
type jsonCell struct {
	Row            string                `json:"row"`
	Column         string                `json:"column"`
	Variant        string                `json:"variant"`
	Statement      string                `json:"statement"`
	Metric         string                `json:"metric"`
	Unit           string                `json:"unit"`
	Published      *judge.Print          `json:"published"`
	Ours           *jsonEstimate         `json:"ours"`
	Minus          *jsonBaseline         `json:"minus"`
	Holds          *judge.Comparand      `json:"holds"`
	Difference     *float64              `json:"difference"`
	Verdict        judge.Verdict         `json:"verdict"`
	Reason         string                `json:"reason"`
	SettingsStated bool                  `json:"settings_stated"`
	Note           string                `json:"note"`
	Reference      *judge.ReferenceCheck `json:"reference"`
	Mechanism      string                `json:"mechanism"`
	Warnings       []string              `json:"warnings"`
	TrialKeys      []string              `json:"trial_keys"`

	Classes record.Classes `json:"blas_classes"`

	Settings  string              `json:"settings"`
	Assumed   []ledger.Assumption `json:"assumptions"`
	Data      string              `json:"data"`
	StandIn   string              `json:"stand_in"`
	Headline  bool                `json:"headline"`
	CountsAs  string              `json:"counts_as"`
	Entry     string              `json:"entry"`
	Primary   bool                `json:"primary"`
	Draws     float64             `json:"draws"`
	Band      *jsonBand           `json:"band"`
	Tolerance *float64            `json:"tolerance"`
	Test      *judge.PairedTest   `json:"paired_test"`
}

// jsonEstimate is a mean with null for the standard error of a single trial.
type jsonEstimate struct {
	Mean          float64  `json:"mean"`
	StandardError *float64 `json:"standard_error"`
	Trials        int      `json:"trials"`
	Wanted        int      `json:"trials_wanted"`
}

type jsonBaseline struct {
	Experiment string `json:"experiment"`
	Metric     string `json:"metric"`
	jsonEstimate
}

func estimateOf(e *judge.Estimate) jsonEstimate {
	return jsonEstimate{Mean: e.Mean, StandardError: e.Uncertainty(), Trials: e.Trials, Wanted: e.Wanted}
}

// jsonBand is a band with null for infinite degrees of freedom.
type jsonBand struct {
	HalfWidth        float64  `json:"half_width"`
	Deviation        float64  `json:"standard_deviation"`
	DegreesOfFreedom *float64 `json:"degrees_of_freedom"`
	Pooled           bool     `json:"pooled"`
	Coverage         float64  `json:"expected_inside"`
}

// writeJSON writes one table as a JSON object, any other number as a list in an object.
func writeJSON(w io.Writer, list []*judge.Evaluation) error {
	tables := make([]jsonTable, len(list))
	for i, e := range list {
		tables[i] = toJSON(e)
	}
	if len(tables) == 1 {
		return EncodeJSON(w, tables[0])
	}
	return EncodeJSON(w, map[string]any{"schema": Schema, "tables": tables})
}

// EncodeJSON writes a value as indented JSON, without escaping <, > and &.
func EncodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func toJSON(e *judge.Evaluation) jsonTable {
	t := jsonTable{Schema: Schema, Paper: e.Paper, Table: e.Table, Title: e.Title, Kind: e.Kind, Cells: []jsonCell{},
		Summary: e.Summary(), Privacy: notNil(e.Privacy), Classes: e.Classes, Footnotes: notNil(e.Footnotes),
		Tally: judge.TallyOf(e), Sentence: e.Sentence(), Joint: notNil(e.Joint)}
	for i := range e.Cells {
		r := &e.Cells[i]
		c := jsonCell{Row: r.Row, Column: r.Column, Variant: r.Variant, Statement: r.Statement, Metric: r.Metric,
			Unit: r.Unit, Published: r.Published, Holds: r.Holds, Difference: r.Difference,
			Verdict: r.Verdict, Reason: r.Reason, SettingsStated: r.SettingsStated(), Note: r.Note, Reference: r.Reference,
			Mechanism: r.Mechanism, Warnings: notNil(r.Warnings), TrialKeys: notNil(r.TrialKeys), Classes: r.Classes,
			Assumed: notNil(r.Assumed), StandIn: r.StandIn, Headline: r.Headline, CountsAs: countsAs(r), Entry: r.Entry,
			Primary: r.Primary, Draws: r.Draws, Tolerance: r.Tolerance, Test: r.Test}
		c.Settings, c.Data = settingsAndData(r)
		if r.Ours != nil {
			ours := estimateOf(r.Ours)
			c.Ours = &ours
		}
		if m := r.Minus; m != nil {
			c.Minus = &jsonBaseline{m.Experiment, m.Metric, estimateOf(&m.Estimate)}
		}
		if b := r.Band; b != nil {
			c.Band = &jsonBand{HalfWidth: b.HalfWidth, Deviation: b.Deviation, Pooled: b.Pooled, Coverage: b.Coverage}
			if !math.IsInf(b.DegreesOfFreedom, 1) {
				c.Band.DegreesOfFreedom = &b.DegreesOfFreedom
			}
		}
		t.Cells = append(t.Cells, c)
	}
	return t
}

// notNil returns an empty list, which JSON writes as [], for nil.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
