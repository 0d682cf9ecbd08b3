package summary

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/text"
)

// View chooses the metrics of tables for readers, and the order of their rows.
type View struct {
	// Metrics are names, and families such as confusion_*; none for the results of the experiment
	// ([experiment.Metric]), also where it has none of them.
	Metrics []string
	All     bool // all metrics
	// Sort is a metric, best first, or a setting in ascending order; a minus before it reverses the
	// order. It is empty for the order of the plan. Rows without a value come last.
	Sort string
}

// Check refuses an order by anything but a metric or a setting of the experiments.
func (v View) Check(experiments []*experiment.Experiment) error {
	name, _ := v.order()
	if v.Sort == "" {
		return nil
	}
	var valid []string
	for _, e := range experiments {
		if slices.Contains(e.ParamNames(), name) || declares(e.Metrics, name) && !strings.HasSuffix(name, "*") {
			return nil
		}
		for _, m := range e.Metrics {
			valid = append(valid, m.Name)
		}
		valid = append(valid, e.ParamNames()...)
	}
	return experiment.Unknown("metric or setting", name, valid)
}

// order returns the name by which rows are sorted.
func (v View) order() (name string, reverse bool) {
	name, reverse = strings.CutPrefix(v.Sort, "-")
	return name, reverse
}

// Of returns the tables as the view shows them, with the best mean of each metric marked that has a
// better direction.
func (v View) Of(all []*MetricTable) []*MetricTable {
	out := make([]*MetricTable, len(all))
	for i, t := range all {
		shown := *t
		shown.Metrics, shown.notes = v.metrics(t)
		if n := len(t.Metrics) - len(shown.Metrics); n > 0 {
			shown.notes = append(shown.notes, text.Count(n, "other metric")+": --all-metrics")
		}
		shown.Rows = v.sorted(t)
		shown.best = map[string]float64{}
		for _, m := range shown.Metrics {
			if best, ok := bestMean(t.Rows, m, t.direction(m)); ok {
				shown.best[m] = best
			}
		}
		out[i] = &shown
	}
	return out
}

// Shown returns the metrics of a table that the view shows.
func (v View) Shown(t *MetricTable) []string {
	shown, _ := v.metrics(t)
	return shown
}

// metrics returns those to show, and notes about others that were asked for.
func (v View) metrics(t *MetricTable) (shown, notes []string) {
	if v.All {
		return t.Metrics, nil
	}
	asked := slices.DeleteFunc(slices.Clone(v.Metrics), func(name string) bool { return !declares(t.declared, name) })
	names := asked
	if len(asked) == 0 {
		for _, m := range t.declared {
			if m.Result {
				names = append(names, m.Name)
			}
		}
	}
	if by, _ := v.order(); slices.Contains(t.Metrics, by) && !slices.Contains(t.Varying, by) {
		names = append(names, by)
	}
	for _, name := range names {
		pattern, found := experiment.Metric{Name: name}, false
		for _, m := range t.Metrics {
			if !pattern.Covers(m) {
				continue
			}
			found = true
			if !slices.Contains(shown, m) {
				shown = append(shown, m)
			}
		}
		if !found && slices.Contains(asked, name) {
			notes = append(notes, "no trial reports "+name)
		}
	}
	if len(shown) == 0 && len(asked) == 0 {
		return t.Metrics, nil // a trial may report other metrics than the results
	}
	return shown, notes
}

// declares reports whether one of the metrics is the named one, or a family that has it.
func declares(metrics []experiment.Metric, name string) bool {
	return slices.ContainsFunc(metrics, func(m experiment.Metric) bool { return m.Covers(name) })
}

// direction returns the better direction of a metric, empty where it has none.
func (t *MetricTable) direction(metric string) string { return t.Declaration(metric).Best }

// Declaration returns the declaration of a metric, the one with the longest name of those that cover it, and an empty
// one for none.
func (t *MetricTable) Declaration(metric string) experiment.Metric {
	best := experiment.Metric{}
	for _, m := range t.declared {
		if m.Covers(metric) && (m.Name == metric || len(m.Name) > len(best.Name)) && best.Name != metric {
			best = m
		}
	}
	return best
}

// bestMean returns the best mean of the rows. There is none where fewer than two means are finite, or all
// are equal: nothing is better than something else.
func bestMean(rows []*Row, metric, direction string) (best float64, ok bool) {
	if direction == "" {
		return 0, false
	}
	n, differ := 0, false
	for _, r := range rows {
		e, has := r.Metrics.Of(metric)
		if !has || math.IsNaN(e.Mean) || math.IsInf(e.Mean, 0) {
			continue
		}
		n++
		differ = differ || n > 1 && e.Mean != best
		if n == 1 || (e.Mean > best) == (direction == experiment.HighIsBest) && e.Mean != best {
			best = e.Mean
		}
	}
	return best, differ
}

// sorted returns the rows in the order of the view.
func (v View) sorted(t *MetricTable) []*Row {
	name, reverse := v.order()
	key := func(r *Row) (sortKey, bool) { return settingValue(r, name) }
	if slices.Contains(t.Metrics, name) && !slices.Contains(t.Varying, name) {
		// Best first.
		reverse = reverse != (t.direction(name) == experiment.HighIsBest)
		key = func(r *Row) (sortKey, bool) {
			e, ok := r.Metrics.Of(name)
			return sortKey{number: e.Mean, numeric: true}, ok && !math.IsNaN(e.Mean)
		}
	}
	if v.Sort == "" {
		return t.Rows
	}
	return slices.SortedStableFunc(slices.Values(t.Rows), func(a, b *Row) int {
		x, hasX := key(a)
		y, hasY := key(b)
		if !hasX || !hasY {
			return cmp.Compare(last(hasX), last(hasY))
		}
		if reverse {
			x, y = y, x
		}
		return x.compare(y)
	})
}

// last is 1 where there is no value: such rows come last.
func last(has bool) int {
	if has {
		return 0
	}
	return 1
}

// sortKey is a value that rows are sorted by: numbers before texts.
type sortKey struct {
	number  float64
	numeric bool
	text    string
}

// settingValue returns the value of a setting, if the row has one.
func settingValue(r *Row, name string) (sortKey, bool) {
	v, ok := r.Params[name]
	if !ok {
		return sortKey{}, false
	}
	formatted := experiment.FormatValue(v)
	number, err := strconv.ParseFloat(formatted, 64)
	return sortKey{number: number, numeric: err == nil, text: formatted}, true
}

func (v sortKey) compare(w sortKey) int {
	return cmp.Or(cmp.Compare(last(v.numeric), last(w.numeric)), cmp.Compare(v.number, w.number),
		cmp.Compare(v.text, w.text))
}
