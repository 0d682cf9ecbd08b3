package tables

import (
	"encoding/json"
	"io"

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
func JSON(w io.Writer, e *judge.Evaluation) error { return encode(w, toJSON(e)) }

// jsonAll writes several tables as one JSON object.
func jsonAll(w io.Writer, list []*judge.Evaluation) error {
	tables := make([]jsonTable, len(list))
	for i, e := range list {
		tables[i] = toJSON(e)
	}
	return encode(w, map[string]any{"schema": Schema, "tables": tables})
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func toJSON(e *judge.Evaluation) jsonTable {
	t := jsonTable{Schema: Schema, Paper: e.Paper, Table: e.Table, Title: e.Title, Kind: e.Kind, Cells: []jsonCell{},
		Summary: e.Summary(), Privacy: notNil(e.Privacy), Classes: e.Classes, Footnotes: notNil(e.Footnotes)}
	for i := range e.Cells {
		r := &e.Cells[i]
		c := jsonCell{Row: r.Row, Column: r.Column, Variant: r.Variant, Statement: r.Statement,
			Metric: r.Metric, Unit: r.Unit,
			Difference: r.Difference, Verdict: r.Verdict, Reason: r.Reason, SettingsStated: r.SettingsStated, Note: r.Note,
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
		t.Cells = append(t.Cells, c)
	}
	return t
}

// notNil makes an empty list appear as [] and not as null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
