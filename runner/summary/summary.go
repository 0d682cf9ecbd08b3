// Package summary tabulates the metrics of a sweep's trials: one row for every
// setting, over its seeds. It serves sweeps that no published table belongs to.
package summary

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
)

// Table holds the settings of one experiment.
type Table struct {
	Experiment string   `json:"experiment"`
	Varying    []string `json:"varying"` // the parameters that differ between rows
	Metrics    []string `json:"metrics"`
	Rows       []*Row   `json:"rows"`
}

// Row is one setting.
type Row struct {
	Params  experiment.Params   `json:"params"`
	Metrics map[string]Estimate `json:"metrics"`
	Trials  int                 `json:"trials"` // with status ok
	Failed  int                 `json:"failed"`
	Skipped int                 `json:"skipped"`
	NotRun  int                 `json:"not_run"`

	keys []string // of the trials
}

// Keys returns the keys of the row's trials, run or not, in the order of the plan.
func (r *Row) Keys() []string { return r.keys }

// Estimate is a metric's mean over the seeds and the standard error of the
// mean, which is absent for a single seed.
type Estimate struct {
	Mean          float64  `json:"mean"`
	StandardError *float64 `json:"standard_error"`
}

// Builder tabulates trials as they come, so that memory holds the metrics
// only and not the records.
type Builder struct {
	experiments *experiment.Registry
	byName      map[string]*builder
	order       []*builder
}

// NewBuilder returns an empty tabulation.
func NewBuilder(experiments *experiment.Registry) *Builder {
	return &Builder{experiments: experiments, byName: map[string]*builder{}}
}

// Add adds a planned trial with its record, nil where it has not run. The
// order of the plan is the order of the rows.
func (m *Builder) Add(t plan.Trial, rec *record.Record) error {
	b := m.byName[t.Experiment]
	if b == nil {
		e, err := m.experiments.Lookup(t.Experiment)
		if err != nil {
			return err
		}
		b = &builder{table: &Table{Experiment: t.Experiment}, exp: e, rows: map[string]*values{}, metrics: map[string]bool{}}
		m.byName[t.Experiment] = b
		m.order = append(m.order, b)
	}
	return b.add(t, rec)
}

// Tables returns the tables of what was added; the builder must not be used
// afterwards.
func (m *Builder) Tables() []*Table {
	var out []*Table
	for _, b := range m.order {
		b.finish()
		out = append(out, b.table)
	}
	return out
}

type values struct {
	row     *Row
	metrics map[string][]float64
}

type builder struct {
	table   *Table
	exp     *experiment.Experiment
	rows    map[string]*values
	order   []*values
	metrics map[string]bool
}

func (b *builder) add(t plan.Trial, rec *record.Record) error {
	canonical, err := record.CanonicalParams(t.Params)
	if err != nil {
		return err
	}
	v := b.rows[string(canonical)]
	if v == nil {
		v = &values{row: &Row{Params: t.Params, Metrics: map[string]Estimate{}}, metrics: map[string][]float64{}}
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
		for name, f := range rec.Metrics {
			v.metrics[name] = append(v.metrics[name], f)
			b.metrics[name] = true
		}
	}
	return nil
}

func (b *builder) finish() {
	for _, v := range b.order {
		for name, fs := range v.metrics {
			v.row.Metrics[name] = estimate(fs)
		}
		b.table.Rows = append(b.table.Rows, v.row)
	}
	b.table.Varying = varying(b.table.Rows, b.exp.ParamNames())
	b.table.Metrics = b.metricOrder()
}

// varying returns those of the names of which the rows have different values.
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

// metricOrder is the order of the experiment's documentation.
func (b *builder) metricOrder() []string {
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

// estimate sums in the order of the plan, so that the result is always the
// same to the last bit.
func estimate(fs []float64) Estimate {
	mean := 0.0
	for _, f := range fs {
		mean += f
	}
	mean /= float64(len(fs))
	if len(fs) < 2 {
		return Estimate{Mean: mean}
	}
	ss := 0.0
	for _, f := range fs {
		ss += (f - mean) * (f - mean)
	}
	se := math.Sqrt(ss/float64(len(fs)-1)) / math.Sqrt(float64(len(fs)))
	return Estimate{Mean: mean, StandardError: &se}
}

// Without returns the tables without the rows of which a trial is used.
func Without(tables []*Table, used map[string]bool) []*Table {
	var out []*Table
	for _, t := range tables {
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
		if len(left.Rows) > 1 { // a single row keeps what tells it from the others
			left.Varying = varying(left.Rows, t.Varying)
		}
		out = append(out, &left)
	}
	return out
}

// cells yields the header and the rows as texts for people.
func (t *Table) cells() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		head := append(slices.Clone(t.Varying), "trials")
		head = append(head, t.Metrics...)
		if !yield(head) {
			return
		}
		for _, r := range t.Rows {
			row := make([]string, 0, len(head))
			for _, name := range t.Varying {
				row = append(row, experiment.FormatValue(r.Params[name]))
			}
			row = append(row, r.count())
			for _, m := range t.Metrics {
				e, ok := r.Metrics[m]
				text := ""
				if ok {
					text = e.String()
				}
				row = append(row, text)
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
// meaningful, which has two.
func (e Estimate) String() string {
	if e.StandardError == nil || *e.StandardError == 0 {
		return strconv.FormatFloat(e.Mean, 'g', 6, 64)
	}
	decimals := 1 - int(math.Floor(math.Log10(*e.StandardError)))
	if decimals < 0 || decimals > 8 {
		return strconv.FormatFloat(e.Mean, 'g', 6, 64) + " ± " + strconv.FormatFloat(*e.StandardError, 'g', 2, 64)
	}
	return strconv.FormatFloat(e.Mean, 'f', decimals, 64) + " ± " + strconv.FormatFloat(*e.StandardError, 'f', decimals, 64)
}

// width is that of the texts for a terminal.
const width = 100

// Text writes the tables for a terminal. Where the metrics do not fit beside
// one another, they stand below one another, or in several blocks of lines.
func Text(w io.Writer, tables []*Table) error {
	for _, t := range tables {
		if _, err := fmt.Fprintf(w, "%s\n", t.Experiment); err != nil {
			return err
		}
		var grid [][]string
		for row := range t.cells() {
			grid = append(grid, row)
		}
		if turned := transpose(grid); gridWidth(grid) > width && gridWidth(turned) <= width {
			grid = turned
		}
		for i, block := range blocks(grid, len(t.Varying)+1) {
			if i > 0 {
				if _, err := fmt.Fprintln(w); err != nil {
					return err
				}
			}
			if err := align(w, block); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// blocks splits a grid that is too wide; every block begins with the first
// labels columns.
func blocks(grid [][]string, labels int) [][][]string {
	if gridWidth(grid) <= width || labels >= len(grid[0]) {
		return [][][]string{grid}
	}
	var out [][][]string
	pick := func(from, to int) [][]string {
		var block [][]string
		for _, row := range grid {
			block = append(block, append(slices.Clone(row[:labels]), row[from:to]...))
		}
		return block
	}
	for from := labels; from < len(grid[0]); {
		to := from + 1
		for to < len(grid[0]) && gridWidth(pick(from, to+1)) <= width {
			to++
		}
		out = append(out, pick(from, to))
		from = to
	}
	return out
}

// widths returns the width of each column.
func widths(grid [][]string) []int {
	w := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, c := range row {
			w[i] = max(w[i], utf8.RuneCountInString(c))
		}
	}
	return w
}

func gridWidth(grid [][]string) int {
	total := 0
	for _, w := range widths(grid) {
		total += w + 2
	}
	return total
}

func transpose(grid [][]string) [][]string {
	out := make([][]string, len(grid[0]))
	for i := range out {
		for _, row := range grid {
			out[i] = append(out[i], row[i])
		}
	}
	return out
}

func align(w io.Writer, grid [][]string) error {
	width := widths(grid)
	for _, row := range grid {
		line := " "
		for i, c := range row {
			line += " " + c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+1)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// Markdown writes the tables as Markdown.
func Markdown(w io.Writer, tables []*Table) error {
	for _, t := range tables {
		if _, err := fmt.Fprintf(w, "### %s\n\n", t.Experiment); err != nil {
			return err
		}
		first := true
		for row := range t.cells() {
			if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
				return err
			}
			if first {
				if _, err := fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(row))); err != nil {
					return err
				}
				first = false
			}
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// CSV writes one line for every setting and metric, in full precision.
func CSV(w io.Writer, tables []*Table) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"experiment", "params", "metric", "mean", "standard_error", "trials", "failed", "skipped", "not_run"})
	for _, t := range tables {
		for _, r := range t.Rows {
			params, err := json.Marshal(r.Params)
			if err != nil {
				return err
			}
			counts := []string{strconv.Itoa(r.Trials), strconv.Itoa(r.Failed), strconv.Itoa(r.Skipped), strconv.Itoa(r.NotRun)}
			if len(r.Metrics) == 0 {
				_ = c.Write(append([]string{t.Experiment, string(params), "", "", ""}, counts...))
			}
			for _, m := range t.Metrics {
				e, ok := r.Metrics[m]
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
func JSON(w io.Writer, tables []*Table) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"schema": 1, "experiments": tables})
}

// LaTeX writes the tables with booktabs rules.
func LaTeX(w io.Writer, tables []*Table) error {
	escape := strings.NewReplacer(`\`, `\textbackslash{}`, `_`, `\_`, `%`, `\%`, `&`, `\&`, `#`, `\#`, `$`, `\$`, `{`, `\{`, `}`, `\}`, `±`, `$\pm$`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`)
	for _, t := range tables {
		var lines []string
		columns := 0
		for row := range t.cells() {
			columns = len(row)
			for i := range row {
				row[i] = escape.Replace(row[i])
			}
			lines = append(lines, strings.Join(row, " & ")+` \\`)
		}
		if _, err := fmt.Fprintf(w, "%% %s\n\\begin{tabular}{%s}\n\\toprule\n%s\n\\midrule\n%s\n\\bottomrule\n\\end{tabular}\n\n",
			t.Experiment, strings.Repeat("l", columns), lines[0], strings.Join(lines[1:], "\n")); err != nil {
			return err
		}
	}
	return nil
}
