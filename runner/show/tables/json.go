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

// Schema is the version of the JSON form's shape.
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
	Tally     TallyJSON             `json:"tally"`
	Sentence  string                `json:"sentence"`
}

type jsonCell struct {
	Row            string         `json:"row"`
	Column         string         `json:"column"`
	Variant        string         `json:"variant"`
	Statement      string         `json:"statement"`
	Metric         string         `json:"metric"`
	Unit           string         `json:"unit"`
	Published      *jsonPrint     `json:"published"`
	Ours           *jsonOurs      `json:"ours"`
	Minus          *jsonMinus     `json:"minus"`
	Holds          *jsonHolds     `json:"holds"`
	Difference     *float64       `json:"difference"`
	Verdict        judge.Verdict  `json:"verdict"`
	Reason         string         `json:"reason"`
	SettingsStated bool           `json:"settings_stated"`
	Note           string         `json:"note"`
	Reference      *jsonReference `json:"reference"`
	Guarantee      string         `json:"guarantee"`
	Warnings       []string       `json:"warnings"`
	TrialKeys      []string       `json:"trial_keys"`

	Classes record.Classes `json:"blas_classes"`

	Settings  string           `json:"settings"`
	Assumed   []jsonAssumption `json:"assumptions"`
	Data      string           `json:"data"`
	StandIn   string           `json:"stand_in"`
	Headline  bool             `json:"headline"`
	CountsAs  string           `json:"counts_as"`
	Entry     string           `json:"entry"`
	Primary   bool             `json:"primary"`
	Draws     float64          `json:"draws"`
	Band      *jsonBand        `json:"band"`
	Tolerance *float64         `json:"tolerance"`
	Test      *jsonTest        `json:"paired_test"`
}

type jsonAssumption struct {
	Text       string        `json:"text"`
	Source     ledger.Source `json:"source"`
	Repository string        `json:"repository"`
	Place      string        `json:"place"`
}

type jsonBand struct {
	HalfWidth        float64  `json:"half_width"`
	Deviation        float64  `json:"standard_deviation"`
	DegreesOfFreedom *float64 `json:"degrees_of_freedom"` // null without chance
	Pooled           bool     `json:"pooled"`
	Coverage         float64  `json:"expected_inside"`
}

type jsonTest struct {
	Pairs         int     `json:"pairs"`
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standard_error"`
	P             float64 `json:"p_value"`
	Alpha         float64 `json:"alpha"`
}

// TallyJSON is a tally as an object.
type TallyJSON struct {
	Values       int                   `json:"values"`
	Judged       int                   `json:"judged"`
	Inside       int                   `json:"inside"`
	Expected     float64               `json:"expected"`
	Wide         int                   `json:"wide"`
	Settle       int                   `json:"wide_settled_by_trials"`
	Close        int                   `json:"close"`
	Claims       int                   `json:"claims"`
	ClaimsJudged int                   `json:"claims_judged"`
	Hold         int                   `json:"hold"`
	Left         map[judge.Verdict]int `json:"not_judged"`
}

// TallyOf returns the object of a tally.
func TallyOf(t judge.Tally) TallyJSON {
	return TallyJSON{Values: t.Values, Judged: t.Judged, Inside: t.Inside, Expected: t.Expected, Wide: t.Wide,
		Settle: t.Settle, Close: t.Close, Claims: t.Claims, ClaimsJudged: t.ClaimsJudged, Hold: t.Hold, Left: t.Left}
}

type jsonPrint struct {
	Text        string   `json:"text"`
	Value       *float64 `json:"value"`
	Uncertainty *float64 `json:"uncertainty"`
}

type jsonOurs struct {
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standard_error"`
	Trials        int     `json:"trials"`
	TrialsWanted  int     `json:"trials_wanted"`
}

type jsonMinus struct {
	Experiment string `json:"experiment"`
	Metric     string `json:"metric"`
	jsonOurs
}

type jsonHolds struct {
	Op        ledger.Relation `json:"op"`
	Value     float64         `json:"value"`
	Metric    string          `json:"metric"`
	Tolerance float64         `json:"tolerance"`
}

type jsonReference struct {
	Value     float64 `json:"value"`
	Tolerance float64 `json:"tolerance"`
	OK        bool    `json:"ok"`
}

// JSON writes the table as one JSON object, indented.
func JSON(w io.Writer, e *judge.Evaluation) error { return EncodeJSON(w, toJSON(e)) }

// jsonAll writes several tables as one JSON object.
func jsonAll(w io.Writer, list []*judge.Evaluation) error {
	tables := make([]jsonTable, len(list))
	for i, e := range list {
		tables[i] = toJSON(e)
	}
	return EncodeJSON(w, map[string]any{"schema": Schema, "tables": tables})
}

// EncodeJSON writes a value as JSON for people and programs: indented, and without escapes
// for web pages.
func EncodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func toJSON(e *judge.Evaluation) jsonTable {
	t := jsonTable{Schema: Schema, Paper: e.Paper, Table: e.Table, Title: e.Title, Kind: e.Kind, Cells: []jsonCell{},
		Summary: e.Summary(), Privacy: notNil(e.Privacy), Classes: e.Classes, Footnotes: notNil(e.Footnotes),
		Tally: TallyOf(judge.TallyOf(e)), Sentence: e.Sentence()}
	for i := range e.Cells {
		r := &e.Cells[i]
		c := jsonCell{Row: r.Row, Column: r.Column, Variant: r.Variant, Statement: r.Statement,
			Metric: r.Metric, Unit: r.Unit,
			Difference: r.Difference, Verdict: r.Verdict, Reason: r.Reason, SettingsStated: r.SettingsStated(), Note: r.Note,
			Guarantee: r.Guarantee, Warnings: notNil(r.Warnings), TrialKeys: notNil(r.TrialKeys),
			Classes: r.Classes}
		if p := r.Published; p != nil {
			c.Published = &jsonPrint{p.Text, p.Value, p.Uncertainty}
		}
		if o := r.Ours; o != nil {
			c.Ours = &jsonOurs{o.Mean, o.StandardError, o.Trials, o.Wanted}
		}
		if m := r.Minus; m != nil {
			c.Minus = &jsonMinus{m.Experiment, m.Metric, jsonOurs{m.Mean, m.StandardError, m.Trials, m.Wanted}}
		}
		if h := r.Holds; h != nil {
			c.Holds = &jsonHolds{h.Op, h.Value, h.Metric, h.Tolerance}
		}
		if f := r.Reference; f != nil {
			c.Reference = &jsonReference{f.Value, f.Tolerance, f.OK}
		}
		c.verdict(r)
		t.Cells = append(t.Cells, c)
	}
	return t
}

// verdict fills in what is said of a cell, and what that follows from.
func (c *jsonCell) verdict(r *judge.Comparison) {
	c.Settings, c.Data = settingsAndData(r)
	c.StandIn, c.Headline, c.CountsAs = r.StandIn, r.Headline, countsAs(r)
	c.Entry, c.Primary, c.Draws, c.Tolerance = r.Entry, r.Primary, r.Draws, r.Tolerance
	c.Assumed = []jsonAssumption{}
	for _, a := range r.Assumed {
		c.Assumed = append(c.Assumed, jsonAssumption{a.Text, a.Source, a.Repository, a.Place})
	}
	if b := r.Band; b != nil {
		c.Band = &jsonBand{HalfWidth: b.HalfWidth, Deviation: b.Deviation, Pooled: b.Pooled, Coverage: b.Coverage}
		if !math.IsInf(b.DegreesOfFreedom, 1) {
			c.Band.DegreesOfFreedom = &b.DegreesOfFreedom
		}
	}
	if t := r.Test; t != nil {
		c.Test = &jsonTest{t.Pairs, t.Mean, t.StandardError, t.P, t.Alpha}
	}
}

// notNil makes an empty list appear as [] and not as null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
