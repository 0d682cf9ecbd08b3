package export

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// columnType is the type of a column, as named by Table Schema.
type columnType string

// The types of columns and the Go types of their values; nil is a missing value.
const (
	text    columnType = "string"  // string
	integer columnType = "integer" // int64
	number  columnType = "number"  // float64, finite or infinite
	boolean columnType = "boolean" // bool
	list    columnType = "array"   // []string, never nil
	object  columnType = "object"  // string, as JSON
)

// column is a column of the table of all trials.
type column struct {
	name        string
	typ         columnType
	required    bool // every trial has a value
	unit        string
	description string
	value       func(*trial) any
}

// columns reads all trials for the names of their metrics, and returns the columns of their
// table.
func (r *reader) columns() ([]column, error) {
	var names []string // experiments in the order of the plans
	metrics := map[string]map[string]bool{}
	err := r.each(func(t *trial) error {
		if metrics[t.Experiment] == nil {
			metrics[t.Experiment] = map[string]bool{}
			names = append(names, t.Experiment)
		}
		if t.rec != nil {
			for name := range t.rec.Metrics {
				metrics[t.Experiment][name] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := identityColumns()
	var params, measured []column
	for _, name := range names {
		e, err := r.opts.Experiments.Lookup(name)
		if err != nil {
			return nil, err
		}
		for i := range e.Params {
			params = merge(params, paramColumn(&e.Params[i]))
		}
		for _, c := range metricColumns(e, metrics[name]) {
			measured = merge(measured, c)
		}
	}
	out = append(out, params...)
	out = append(out, measured...)
	return append(out, circumstanceColumns()...), nil
}

// merge adds a column, or generalises the column of that name to the values of both.
func merge(columns []column, c column) []column {
	i := slices.IndexFunc(columns, func(have column) bool { return have.name == c.name })
	if i < 0 {
		return append(columns, c)
	}
	have := &columns[i]
	switch {
	case have.typ == c.typ:
	case have.typ == number && c.typ == integer, have.typ == integer && c.typ == number:
		have.typ = number
	default:
		have.typ = text
	}
	if have.unit != c.unit {
		have.unit = ""
	}
	if !slices.Contains(strings.Split(have.description, "; or: "), c.description) {
		have.description += "; or: " + c.description
	}
	return columns
}

func identityColumns() []column {
	return []column{
		{name: "key", typ: text, required: true, description: "SHA-256 of all that determines the result",
			value: func(t *trial) any {
				return t.Key
			}},
		{name: "experiment", typ: text, required: true, value: func(t *trial) any { return t.Experiment }},
		{name: "result_version", typ: integer, required: true, description: "version of what the experiment computes",
			value: func(t *trial) any {
				return int64(t.source.Plan.Versions[t.Experiment])
			}},
		{name: "seed", typ: integer, required: true, value: func(t *trial) any { return t.Seed }},
		{name: "backend", typ: text, required: true, value: func(t *trial) any { return t.source.Plan.Backend }},
		{name: "dtype", typ: text, required: true, value: func(t *trial) any { return t.source.Plan.DType }},
		{name: "status", typ: text, required: true, description: "ok, failed, skipped or " + notRun,
			value: func(t *trial) any {
				return t.status()
			}},
		ofRecord("error", text, "", "why a trial failed or was skipped", func(r *record.Record) any {
			if r.Error == nil {
				return nil
			}
			return *r.Error
		}),
	}
}

func circumstanceColumns() []column {
	private := func(name, description string, value func(*experiment.Privacy) string) column {
		return ofRecord("privacy."+name, text, "", description, func(r *record.Record) any {
			if r.Privacy == nil {
				return nil
			}
			return orNil(value(r.Privacy))
		})
	}
	provenance := func(name string, value func(*record.Provenance) string) column {
		return ofRecord("provenance."+name, text, "", "", func(r *record.Record) any { return orNil(value(&r.Provenance)) })
	}
	return []column{
		private("guarantee", "nothing: no trial of a sweep is a release; privacy.notes begin with the "+
			"reason", func(p *experiment.Privacy) string { return p.Guarantee }),
		private("simulated", "the guarantee that the mechanism would have in a release, such as (1, 0.01)-DP per "+
			"row, seeded", func(p *experiment.Privacy) string {
			if p.Simulated == nil {
				return ""
			}
			return p.Statement()
		}),
		private("unit", "what may change between neighbours", func(p *experiment.Privacy) string { return p.Unit }),
		private("mechanism", "", func(p *experiment.Privacy) string { return p.Mechanism }),
		private("rng", "seeded noise protects nobody", func(p *experiment.Privacy) string { return p.RNG }),
		{name: "privacy.notes", typ: list, description: "what the argument does not cover", value: func(t *trial) any {
			if t.rec == nil || t.rec.Privacy == nil {
				return []string{}
			}
			return append([]string{}, t.rec.Privacy.Notes...)
		}},
		{name: "warnings", typ: list, description: "what is computed but suspect", value: func(t *trial) any {
			if t.rec == nil {
				return []string{}
			}
			return append([]string{}, t.rec.Warnings...)
		}},
		ofRecord("timing.wall_s", number, "s", "", func(r *record.Record) any { return r.Timing.WallS }),
		ofRecord("timing.cpu_s", number, "s", "", func(r *record.Record) any { return r.Timing.CPUS }),
		ofRecord("timing.peak_rss_bytes", integer, "B", "", func(r *record.Record) any { return r.Timing.PeakRSSBytes }),
		provenance("version", func(p *record.Provenance) string { return p.Version }),
		provenance("revision", func(p *record.Provenance) string { return p.Revision }),
		provenance("go", func(p *record.Provenance) string { return p.Go }),
		provenance("cpu", func(p *record.Provenance) string { return p.CPU }),
		provenance("gpu", func(p *record.Provenance) string { return p.GPU }),
		provenance("blas", func(p *record.Provenance) string { return p.BLAS }),
		ofRecord("provenance.datasets", object, "", "data sets and their SHA-256", func(r *record.Record) any {
			if len(r.Provenance.Datasets) == 0 {
				return nil
			}
			raw, err := plainJSON(r.Provenance.Datasets)
			if err != nil {
				return nil // texts always have a JSON form
			}
			return raw
		}),
		ofRecord("blas_class", text, "", "class of the kernels that computed it: within one, equal keys have equal bits",
			func(r *record.Record) any { return orNil(r.Provenance.Class()) }),
	}
}

// ofRecord returns a column whose values are missing for trials that have not run.
func ofRecord(name string, typ columnType, unit, description string, value func(*record.Record) any) column {
	return column{name: name, typ: typ, unit: unit, description: description, value: func(t *trial) any {
		if t.rec == nil {
			return nil
		}
		return value(t.rec)
	}}
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func paramColumn(p *experiment.Param) column {
	typ := text // lists, and numbers that may be words
	switch {
	case p.Kind == experiment.Flag:
		typ = boolean
	case p.Kind == experiment.Number && len(p.Words) == 0:
		typ = number
	case p.Kind == experiment.Integer && len(p.Words) == 0:
		typ = integer
	}
	name := p.Name
	return column{name: "param." + name, typ: typ, unit: p.Unit, description: p.Doc, value: func(t *trial) any {
		v, ok := t.Params[name]
		if !ok {
			return nil
		}
		return v
	}}
}

// metricColumns returns columns in the order of the experiment's documentation. Undocumented
// metrics, from records of another version, come last.
func metricColumns(e *experiment.Experiment, names map[string]bool) []column {
	left := maps.Clone(names)
	var out []column
	add := func(covers func(string) bool, unit, doc string) {
		for _, name := range slices.Sorted(maps.Keys(left)) {
			if !covers(name) {
				continue
			}
			delete(left, name)
			out = append(out, ofRecord("metric."+name, number, unit, doc, func(r *record.Record) any {
				if v, ok := r.Metrics[name]; ok {
					return v
				}
				return nil
			}))
		}
	}
	for _, m := range e.Metrics {
		add(m.Covers, m.Unit, m.Doc)
	}
	add(func(string) bool { return true }, "", "")
	return out
}

// cell returns a trial's value in a column, of the Go type of the column's type.
func (c *column) cell(t *trial) any {
	v := c.value(t)
	if i, ok := v.(int); ok {
		v = int64(i)
	}
	switch x := v.(type) {
	case nil, string, []string:
		return v
	case int64:
		if c.typ == number {
			return float64(x)
		}
	}
	if c.typ == text {
		return experiment.FormatValue(v)
	}
	return v
}

// checkMetrics refuses a record with a metric that has no column, because it was written while
// the trials were being read.
func checkMetrics(t *trial, columns map[string]bool) error {
	if t.rec == nil {
		return nil
	}
	for name := range t.rec.Metrics {
		if !columns["metric."+name] {
			return fmt.Errorf("trial %.12s got the metric %s while it was being exported; export again when the sweep has ended",
				t.Key, name)
		}
	}
	return nil
}

// tableSchema returns the columns as a Table Schema, the standard of Frictionless Data for the
// types of a CSV file.
func tableSchema(columns []column) ([]byte, error) {
	type field struct {
		Name        string         `json:"name"`
		Type        columnType     `json:"type"`
		Unit        string         `json:"unit,omitempty"`
		Description string         `json:"description,omitempty"`
		Constraints map[string]any `json:"constraints,omitempty"`
	}
	schema := struct {
		Fields        []field  `json:"fields"`
		MissingValues []string `json:"missingValues"`
		PrimaryKey    string   `json:"primaryKey"`
	}{MissingValues: []string{""}, PrimaryKey: "key"}
	for _, c := range columns {
		f := field{Name: c.name, Type: c.typ, Unit: c.unit, Description: c.description}
		if c.required {
			f.Constraints = map[string]any{"required": true}
		}
		schema.Fields = append(schema.Fields, f)
	}
	raw, err := json.MarshalIndent(schema, "", "  ")
	return append(raw, '\n'), err
}

// rows passes every trial to write, with one value for each column.
func (r *reader) rows(columns []column, write func(cells []any) error) (Counts, error) {
	names := map[string]bool{}
	for _, c := range columns {
		names[c.name] = true
	}
	var counts Counts
	cells := make([]any, len(columns))
	err := r.each(func(t *trial) error {
		if err := checkMetrics(t, names); err != nil {
			return err
		}
		for i := range columns {
			cells[i] = columns[i].cell(t)
		}
		counts.Trials++
		if t.rec == nil {
			counts.NotRun++
		}
		return write(cells)
	})
	return counts, err
}
