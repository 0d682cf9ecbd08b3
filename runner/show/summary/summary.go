// Package summary tabulates the metrics of a sweep's trials: one row for every
// setting, with means over its seeds. It serves sweeps without a published table.
//
// A sweep may have a million trials, so a [Tabulator] reads records one by one and
// keeps their metrics as numbers. Sums are taken in the order of the plan, so that a
// table is the same to the last bit for every order of execution.
package summary

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// MetricTable holds the settings of one experiment, one a row.
type MetricTable struct {
	Experiment string   `json:"experiment"`
	Varying    []string `json:"varying"` // the parameters that differ between rows
	Metrics    []string `json:"metrics"` // in the order in which the experiment documents them
	Rows       []*Row   `json:"rows"`    // in the order of the plan

	declared []experiment.Metric // of the experiment
	best     map[string]float64  // the best means of metrics, where a view marks them
	notes    []string            // of a view, below the table on a terminal
}

// Row is the metrics of one setting over its seeds.
type Row struct {
	Params  experiment.Params `json:"params"`
	Metrics MetricMeans       `json:"metrics"`
	Trials  int               `json:"trials"` // with status ok
	Failed  int               `json:"failed"`
	Skipped int               `json:"skipped"`
	NotRun  int               `json:"not_run"`
	Classes record.Classes    `json:"blas_classes"` // trials with status ok by BLAS class

	keys []string // of the trials
}

// Keys returns the keys of the row's trials, run or not, in the order of the plan.
func (r *Row) Keys() []string { return r.keys }

// SeedMean is a metric's mean over the seeds and the standard error of the
// mean, which is absent for a single seed.
type SeedMean struct {
	Mean          float64  `json:"mean"`
	StandardError *float64 `json:"standard_error"`
}

// MetricMeans are the means of a row's metrics by their names. A table may have 100,000
// rows: a map for each takes several times as much memory.
type MetricMeans []metricMean

type metricMean struct {
	metric string
	mean   SeedMean
}

// Of returns the mean of a metric, if a trial of the row reports it.
func (m MetricMeans) Of(metric string) (SeedMean, bool) {
	i := slices.IndexFunc(m, func(e metricMean) bool { return e.metric == metric })
	if i < 0 {
		return SeedMean{}, false
	}
	return m[i].mean, true
}

// Add adds the mean of a metric that is not among them.
func (m *MetricMeans) Add(metric string, mean SeedMean) { *m = append(*m, metricMean{metric, mean}) }

// MarshalJSON writes an object with a field for each metric.
func (m MetricMeans) MarshalJSON() ([]byte, error) {
	fields := make(map[string]SeedMean, len(m))
	for _, e := range m {
		fields[e.metric] = e.mean
	}
	return json.Marshal(fields)
}

// Tabulator tabulates trials as they come, so that memory holds the metrics
// only and not the records.
type Tabulator struct {
	experiments *experiment.Registry
	byName      map[string]*tableBuilder
	order       []*tableBuilder
}

// NewTabulator returns an empty tabulation.
func NewTabulator(experiments *experiment.Registry) *Tabulator {
	return &Tabulator{experiments: experiments, byName: map[string]*tableBuilder{}}
}

// Add adds a planned trial with its record, nil where it has not run. The
// order of the plan is the order of the rows.
func (m *Tabulator) Add(t plan.Trial, rec *record.Record) error {
	b := m.byName[t.Experiment]
	if b == nil {
		e, err := m.experiments.Lookup(t.Experiment)
		if err != nil {
			return err
		}
		b = &tableBuilder{table: &MetricTable{Experiment: t.Experiment, declared: e.Metrics}, exp: e,
			rows: map[string]*values{}, metrics: map[string]int{},
			classes: map[string]record.Classes{}}
		m.byName[t.Experiment] = b
		m.order = append(m.order, b)
	}
	return b.add(t, rec)
}

// Tables returns the tables; the tabulator must not be used afterwards.
func (m *Tabulator) Tables() []*MetricTable {
	var out []*MetricTable
	for _, b := range m.order {
		b.finish()
		out = append(out, b.table)
	}
	return out
}

type values struct {
	row     *Row
	samples []sample
}

// sample is a metric of a trial. There are many: names are kept once.
type sample struct {
	metric int
	value  float64
}

type tableBuilder struct {
	table   *MetricTable
	exp     *experiment.Experiment
	rows    map[string]*values
	order   []*values
	metrics map[string]int            // the number of each
	names   []string                  // by their numbers
	classes map[string]record.Classes // of one trial, by class
}

func (b *tableBuilder) add(t plan.Trial, rec *record.Record) error {
	canonical, err := record.CanonicalParams(t.Params)
	if err != nil {
		return err
	}
	v := b.rows[string(canonical)]
	if v == nil {
		v = &values{row: &Row{Params: t.Params, Classes: noClasses}}
		b.rows[string(canonical)] = v
		b.order = append(b.order, v)
	}
	v.row.keys = append(v.row.keys, t.Key)
	switch {
	case rec == nil:
		v.row.NotRun++
	case rec.Status == record.Failed:
		v.row.Failed++
	case rec.Status == record.Skipped:
		v.row.Skipped++
	default:
		v.row.Trials++
		v.row.Classes = b.withClass(v.row.Classes, rec.Provenance.Class())
		v.samples = slices.Grow(v.samples, len(rec.Metrics))
		for name, f := range rec.Metrics {
			n, known := b.metrics[name]
			if !known {
				n = len(b.names)
				b.metrics[name] = n
				b.names = append(b.names, name)
			}
			v.samples = append(v.samples, sample{n, f})
		}
	}
	return nil
}

func (b *tableBuilder) finish() {
	b.rows = nil
	for _, v := range b.order {
		// By metric, and for each in the order of the plan.
		slices.SortStableFunc(v.samples, func(x, y sample) int { return cmp.Compare(x.metric, y.metric) })
		v.row.Metrics = make(MetricMeans, 0, distinct(v.samples))
		var fs []float64
		for i, s := range v.samples {
			fs = append(fs, s.value)
			if i+1 == len(v.samples) || v.samples[i+1].metric != s.metric {
				v.row.Metrics.Add(b.names[s.metric], estimate(fs))
				fs = fs[:0]
			}
		}
		v.samples = nil
		b.table.Rows = append(b.table.Rows, v.row)
	}
	b.order = nil
	b.table.Varying = varying(b.table.Rows, b.exp.ParamNames())
	b.table.Metrics = b.metricOrder()
}

// distinct counts the metrics of samples that are in their order.
func distinct(samples []sample) int {
	n := 0
	for i, s := range samples {
		if i == 0 || samples[i-1].metric != s.metric {
			n++
		}
	}
	return n
}

// varying returns the parameters with different values in the rows.
func varying(rows []*Row, names []string) []string {
	var out []string
	for _, name := range names {
		first := experiment.FormatValue(rows[0].Params[name])
		if slices.ContainsFunc(rows, func(r *Row) bool { return experiment.FormatValue(r.Params[name]) != first }) {
			out = append(out, name)
		}
	}
	return out
}

// metricOrder returns the metrics in the order of the experiment's documentation.
func (b *tableBuilder) metricOrder() []string {
	var out []string
	for _, m := range b.exp.Metrics {
		var names []string
		for name := range b.metrics {
			if m.Covers(name) {
				names = append(names, name)
				delete(b.metrics, name)
			}
		}
		slices.Sort(names)
		out = append(out, names...)
	}
	return out
}

// estimate returns the mean and its standard error, summed in the order of the plan.
func estimate(fs []float64) SeedMean {
	mean := 0.0
	for _, f := range fs {
		mean += f
	}
	mean /= float64(len(fs))
	if len(fs) < 2 {
		return SeedMean{Mean: mean}
	}
	ss := 0.0
	for _, f := range fs {
		ss += (f - mean) * (f - mean)
	}
	se := math.Sqrt(ss/float64(len(fs)-1)) / math.Sqrt(float64(len(fs)))
	return SeedMean{Mean: mean, StandardError: &se}
}

// Without returns the tables without the rows that have a used trial.
func Without(all []*MetricTable, used map[string]bool) []*MetricTable {
	var out []*MetricTable
	for _, t := range all {
		left := *t
		left.Rows = nil
		for _, r := range t.Rows {
			if !slices.ContainsFunc(r.keys, func(key string) bool { return used[key] }) {
				left.Rows = append(left.Rows, r)
			}
		}
		if len(left.Rows) == 0 {
			continue
		}
		if len(left.Rows) > 1 { // a single row keeps the parameters that distinguished it
			left.Varying = varying(left.Rows, t.Varying)
		}
		out = append(out, &left)
	}
	return out
}

// noClasses is shared by the rows without results.
var noClasses = record.Classes{}

// withClass returns the counts with one more trial. Rows with one trial share immutable
// counts, because there may be very many.
func (b *tableBuilder) withClass(c record.Classes, class string) record.Classes {
	if len(c) == 0 {
		one, ok := b.classes[class]
		if !ok {
			one = record.Classes{}
			one.Add(class, 1)
			b.classes[class] = one
		}
		return one
	}
	out := maps.Clone(c)
	out.Add(class, 1)
	return out
}

// ClassNote returns a footnote on the BLAS classes of the table's trials; it is empty where
// there is only one.
func (t *MetricTable) ClassNote() string {
	all := record.Classes{}
	for _, r := range t.Rows {
		for class, n := range r.Classes {
			all.Add(class, n)
		}
	}
	return all.Sentence()
}

// cells yields the header and the rows as texts for people, each as write writes it.
func (t *MetricTable) cells(write func(text string, best bool) string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		head := make([]string, 0, len(t.Varying)+1+len(t.Metrics))
		for _, name := range slices.Concat(t.Varying, []string{"trials"}, t.Metrics) {
			head = append(head, write(text.Printable(name), false))
		}
		if !yield(head) {
			return
		}
		for _, r := range t.Rows {
			row := make([]string, 0, len(head))
			for _, name := range t.Varying {
				value := ""
				if v, set := r.Params[name]; set { // defaults of later settings, and settings without an effect, are not
					value = text.Printable(experiment.FormatValue(v))
				}
				row = append(row, write(value, false))
			}
			row = append(row, write(r.count(), false))
			for _, m := range t.Metrics {
				cell, best := "", false
				if e, ok := r.Metrics.Of(m); ok {
					mean, marked := t.best[m]
					cell, best = e.String(), marked && e.Mean == mean
				}
				row = append(row, write(cell, best))
			}
			if !yield(row) {
				return
			}
		}
	}
}

func (r *Row) count() string {
	s := strconv.Itoa(r.Trials)
	for _, part := range []struct {
		n    int
		what string
	}{{r.Failed, "failed"}, {r.Skipped, "skipped"}, {r.NotRun, "not run"}} {
		if part.n > 0 {
			s += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return s
}

// String writes six digits of the mean, or as many as its standard error leaves
// meaningful, which has two. A standard error that rounding makes of equal values
// is left out.
func (e SeedMean) String() string {
	if e.StandardError == nil || *e.StandardError <= judge.RoundingShare*math.Abs(e.Mean) {
		return strconv.FormatFloat(e.Mean, 'g', 6, 64)
	}
	decimals := 1 - int(math.Floor(math.Log10(*e.StandardError)))
	if decimals < 0 || decimals > 8 {
		return strconv.FormatFloat(e.Mean, 'g', 6, 64) + " ± " + strconv.FormatFloat(*e.StandardError, 'g', 2, 64)
	}
	return strconv.FormatFloat(e.Mean, 'f', decimals, 64) + " ± " +
		strconv.FormatFloat(*e.StandardError, 'f', decimals, 64)
}

// Markdown writes the tables as Markdown.
func Markdown(w io.Writer, all []*MetricTable) error {
	p := newPrinter(w)
	for _, t := range all {
		p.print("### %s\n\n", t.Experiment)
		rule := true
		for row := range t.cells(markdownCell) {
			p.print("| %s |\n", strings.Join(row, " | "))
			if rule {
				p.print("|%s\n", strings.Repeat("---|", len(row)))
			}
			rule = false
		}
		if s := t.ClassNote(); s != "" {
			p.print("\n%s\n", tables.EscapeMarkdown(s))
		}
		p.print("\n")
	}
	return p.Flush()
}

func markdownCell(text string, best bool) string {
	text = tables.EscapeMarkdown(text)
	if best {
		return "**" + text + "**"
	}
	return text
}

// CSV writes one line for every setting and metric, in full precision.
func CSV(w io.Writer, all []*MetricTable) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"experiment", "params", "metric", "mean", "standard_error", "trials", "failed", "skipped",
		"not_run", "blas_class"})
	for _, t := range all {
		for _, r := range t.Rows {
			params, err := json.Marshal(r.Params)
			if err != nil {
				return err
			}
			counts := []string{strconv.Itoa(r.Trials), strconv.Itoa(r.Failed), strconv.Itoa(r.Skipped), strconv.Itoa(r.NotRun),
				r.Classes.String()}
			if len(r.Metrics) == 0 {
				_ = c.Write(append([]string{t.Experiment, string(params), "", "", ""}, counts...))
			}
			for _, m := range t.Metrics {
				e, ok := r.Metrics.Of(m)
				if !ok {
					continue
				}
				se := ""
				if e.StandardError != nil {
					se = experiment.FormatNumber(*e.StandardError)
				}
				_ = c.Write(append([]string{t.Experiment, string(params), m, experiment.FormatNumber(e.Mean), se}, counts...))
			}
		}
	}
	c.Flush()
	return c.Error() // the first error of any Write
}

// JSON writes the tables as one JSON object.
func JSON(w io.Writer, all []*MetricTable) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"schema": 1, "experiments": all})
}
