package runs

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
	"privkern/runner/store/disk"
)

// SideBySide has the means of several runs next to each other. Its JSON is public.
type SideBySide struct {
	Runs        []string               `json:"runs"`
	Experiments []ExperimentSideBySide `json:"experiments"` // that all runs have
}

// ExperimentSideBySide is one experiment of several runs.
type ExperimentSideBySide struct {
	Experiment string              `json:"experiment"`
	Differs    map[string][]string `json:"differs"` // settings with one value in each run, not the same in all
	Varying    []string            `json:"varying"` // further settings that vary
	Metrics    []string            `json:"metrics"`
	Rows       []RowSideBySide     `json:"rows"`

	order []string // of Differs
}

// RowSideBySide is a setting. Means has the mean of each metric in each run; nil where the run has none.
type RowSideBySide struct {
	Values []string                       `json:"values"` // of the varying settings
	Means  map[string][]*summary.SeedMean `json:"means"`
}

// Beside puts runs next to each other, by these metrics, or those that each experiment is judged by.
func Beside(d disk.Disk, folders []string, metrics []string, experiments *experiment.Registry) (*SideBySide, error) {
	all, err := loadAll(d, folders, experiments)
	if err != nil {
		return nil, err
	}
	out := &SideBySide{Runs: folders}
	for _, name := range all[0].names {
		if slices.ContainsFunc(all, func(l *loaded) bool { return !slices.Contains(l.names, name) }) {
			continue
		}
		e, err := experiments.Lookup(name)
		if err != nil {
			return nil, err
		}
		x, err := beside(e, all, metrics)
		if err != nil {
			return nil, err
		}
		out.Experiments = append(out.Experiments, *x)
	}
	return out, nil
}

// tableOf returns the means of an experiment in a run.
func (l *loaded) tableOf(e *experiment.Experiment) (*summary.MetricTable, error) {
	m := summary.NewTabulator(experiment.NewRegistry(e))
	for _, t := range l.plan.Trials {
		if t.Experiment != e.Name {
			continue
		}
		whole := plan.Trial{Key: t.Key, Identity: t.Identity}
		whole.Params = e.Whole(t.Params)
		if err := m.Add(whole, l.records[t.Key]); err != nil {
			return nil, err
		}
	}
	return m.Tables()[0], nil
}

// beside compares one experiment.
func beside(e *experiment.Experiment, all []*loaded, metrics []string) (*ExperimentSideBySide, error) {
	names, values := fixedDifferently(e, all)
	x := &ExperimentSideBySide{Experiment: e.Name, Differs: values, order: names}
	of := make([]*summary.MetricTable, len(all))
	for i, l := range all {
		var err error
		if of[i], err = l.tableOf(e); err != nil {
			return nil, err
		}
	}
	x.Varying = varyingIn(e, all, names)
	var err error
	if x.Metrics, err = chosen(e, of, metrics); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, t := range of {
		for _, r := range t.Rows {
			id := setting(e, r.Params, names)
			k, ok := at[id]
			if !ok {
				k = len(x.Rows)
				at[id] = k
				x.Rows = append(x.Rows, newRow(x, r.Params, len(all)))
			}
			for _, m := range x.Metrics {
				if mean, ok := r.Metrics.Of(m); ok {
					x.Rows[k].Means[m][i] = &mean
				}
			}
		}
	}
	return x, nil
}

func newRow(x *ExperimentSideBySide, p experiment.Params, runs int) RowSideBySide {
	row := RowSideBySide{Values: []string{}, Means: map[string][]*summary.SeedMean{}}
	for _, name := range x.Varying {
		row.Values = append(row.Values, valueOf(p, name))
	}
	for _, m := range x.Metrics {
		row.Means[m] = make([]*summary.SeedMean, runs)
	}
	return row
}

// varyingIn returns the settings with several values over all runs, but for those that the runs fix differently.
func varyingIn(e *experiment.Experiment, all []*loaded, without []string) []string {
	out := []string{}
	values := map[string]map[string]bool{}
	for _, l := range all {
		for name, texts := range l.valuesOf(e) {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			for text := range texts {
				values[name][text] = true
			}
		}
	}
	for _, p := range e.Params {
		if len(values[p.Name]) > 1 && !slices.Contains(without, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}

// chosen returns the metrics to show: those that are asked for, or the results of the experiment that all runs have.
func chosen(e *experiment.Experiment, of []*summary.MetricTable, metrics []string) ([]string, error) {
	var common, known []string
	for _, t := range of {
		known = append(known, t.Metrics...)
	}
	for _, m := range of[0].Metrics {
		if !slices.ContainsFunc(of, func(t *summary.MetricTable) bool { return !slices.Contains(t.Metrics, m) }) {
			common = append(common, m)
		}
	}
	for _, m := range metrics {
		if !slices.Contains(known, m) {
			return nil, fmt.Errorf("%s: %w", e.Name, experiment.Unknown("metric", m, known))
		}
	}
	if len(metrics) > 0 {
		return metrics, nil
	}
	var results []string
	for _, m := range common {
		if slices.ContainsFunc(e.Metrics, func(of experiment.Metric) bool { return of.Result && of.Covers(m) }) {
			results = append(results, m)
		}
	}
	if len(results) == 0 && len(common) > 0 {
		results = common[:1]
	}
	return results, nil
}

// Text writes the runs for people.
func (s *SideBySide) Text(w io.Writer, o tables.TextOptions) error {
	p := &page{width: o.Width}
	for i, dir := range s.Runs {
		p.line(label(i)+": ", dir)
	}
	for i := range s.Experiments {
		x := &s.Experiments[i]
		p.WriteString("\n" + x.Experiment + "\n")
		var differs [][2]string
		for _, name := range x.order {
			var parts []string
			for k, v := range x.Differs[name] {
				parts = append(parts, label(k)+": "+v)
			}
			differs = append(differs, [2]string{name, strings.Join(parts, ", ")})
		}
		p.section("  Settings that differ", indented(differs))
		p.WriteString("\n")
		if err := x.grid(len(s.Runs)).WriteText(p, o); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// label names a run by its place: A, B, ..., Z, then by its number.
func label(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}

func (x *ExperimentSideBySide) grid(runs int) *tables.Grid {
	g := &tables.Grid{}
	for _, name := range x.Varying {
		g.Columns = append(g.Columns, tables.Column{Title: name, Label: true})
	}
	for _, m := range x.Metrics {
		for i := range runs {
			g.Columns = append(g.Columns, tables.Column{Title: m + " " + label(i), Right: true})
		}
	}
	for _, r := range x.Rows {
		var fields []tables.Field
		for _, v := range r.Values {
			fields = append(fields, tables.Field{Text: v})
		}
		for _, m := range x.Metrics {
			for _, mean := range r.Means[m] {
				text := "-"
				if mean != nil {
					text = mean.String()
				}
				fields = append(fields, tables.Field{Text: text})
			}
		}
		g.Lines = append(g.Lines, tables.Line{Fields: fields})
	}
	return g
}
