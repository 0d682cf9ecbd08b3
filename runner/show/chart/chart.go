// Package chart draws a metric of a sweep over the settings that vary in it.
//
// The form follows from the settings alone:
//
//	one of numbers            a line with a band of one standard error
//	categories only           dots with bars of one standard error
//	another of few values     a line, or a row of dots, for each
//	another of many values    a heat map
//	further ones              a panel for each combination, at most twelve
//	values without a grid,    a panel for each setting, with a dot for each
//	as of a random search     row
package chart

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
)

// Limits of a drawing. The caption states where one of them leaves something out.
const (
	maxPanels = 12
	maxLines  = 8      // colours and dashes that are told apart
	maxSide   = 100    // rows and columns of a heat map
	maxDots   = 3000   // of all panels
	maxPoints = 20_000 // of all lines
)

// Metric is a metric to draw.
type Metric struct {
	Name string
	Unit string // empty for a pure number
	Best string // the better direction: "high", "low", or empty where it is not known
}

// Chart is a metric over the settings of an experiment.
type Chart struct {
	Title, Caption string
	Panels         []experiment.Panel

	table   *summary.MetricTable
	metric  Metric
	axes    []*axis // the first one is that of the x axis
	valued  []int32 // the rows with a finite value
	blank   []int32 // the others
	notes   []string
	bars    string // a description of the spread that is drawn; empty for none
	columns []string
}

// Of returns the chart of a metric, nil where no setting varies or no row has a finite value. units are the units of
// the settings, by name.
func Of(t *summary.MetricTable, m Metric, units map[string]string) *Chart {
	c := &Chart{table: t, metric: m}
	c.valued = make([]int32, 0, len(t.Rows))
	for i, r := range t.Rows {
		if finite(mean(r, m.Name).Mean) {
			c.valued = append(c.valued, int32(i))
		} else {
			c.blank = append(c.blank, int32(i))
		}
	}
	if c.axes = axesOf(t, units); len(c.axes) == 0 || len(c.valued) == 0 {
		return nil
	}
	for _, a := range c.axes {
		c.columns = append(c.columns, a.name)
	}
	c.dropTwins()
	c.order()
	x, rest := c.axes[0], c.axes[1:]
	switch {
	case c.sparse():
		c.Title = m.Name + " over each setting"
		c.scatter()
	case len(rest) > 0 && len(rest[0].values) > maxLines:
		c.Title = m.Name + " over " + x.name + " and " + rest[0].name + by(rest[1:])
		c.heatmaps(x, rest[0], rest[1:])
	default:
		c.Title = m.Name + " over " + x.name + by(rest)
		c.curves(x, rest)
	}
	c.Title = t.Experiment + ": " + c.Title
	c.describe()
	c.axes, c.valued, c.blank = nil, nil, nil // as large as the table, which may have 100,000 rows
	return c
}

// by names settings that distinguish lines and panels.
func by(axes []*axis) string {
	var names []string
	for _, a := range axes {
		names = append(names, a.name)
	}
	if names == nil {
		return ""
	}
	return " by " + strings.Join(names, ", ")
}

// mean returns a row's mean of a metric, NaN for none.
func mean(r *summary.Row, metric string) summary.SeedMean {
	if e, ok := r.Metrics.Of(metric); ok {
		return e
	}
	return summary.SeedMean{Mean: math.NaN()}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// dropTwins leaves out axes that go with an earlier one: each value of either comes with one of the other, as in a zip
// of a sweep file, and numbers rise or fall together. (Those of a random search do not.)
func (c *Chart) dropTwins() {
	var kept []*axis
	twins := map[string][]string{}
	for _, a := range c.axes {
		if i := slices.IndexFunc(kept, func(k *axis) bool { return goTogether(a, k) }); i >= 0 {
			twins[kept[i].name] = append(twins[kept[i].name], a.name)
			continue
		}
		kept = append(kept, a)
	}
	c.axes = kept
	for _, a := range kept {
		switch names := twins[a.name]; {
		case len(names) == 1:
			c.notes = append(c.notes, names[0]+" goes with "+a.name)
		case names != nil:
			c.notes = append(c.notes, strings.Join(names, ", ")+" go with "+a.name)
		}
	}
}

func goTogether(a, b *axis) bool {
	if len(a.values) != len(b.values) {
		return false
	}
	of := make([]int32, len(a.values)) // the value of b, from 1 on
	for row, v := range a.of {
		if of[v] == 0 {
			of[v] = b.of[row] + 1
		}
		if of[v] != b.of[row]+1 {
			return false
		}
	}
	if a.numbers == 0 || b.numbers == 0 { // as many values on both sides
		return true
	}
	falling := slices.Clone(of)
	slices.Reverse(falling)
	return slices.IsSorted(of) || slices.IsSorted(falling)
}

// order sorts the axes: one of numbers first, of those the longest, then the longest of the others.
func (c *Chart) order() {
	first := slices.MaxFunc(c.axes, func(a, b *axis) int {
		return cmp.Or(cmp.Compare(min(a.numbers, 3)/3, min(b.numbers, 3)/3), cmp.Compare(len(a.values), len(b.values)))
	})
	rest := slices.DeleteFunc(slices.Clone(c.axes), func(a *axis) bool { return a == first })
	slices.SortStableFunc(rest, func(a, b *axis) int { return cmp.Compare(len(b.values), len(a.values)) })
	c.axes = append([]*axis{first}, rest...)
}

// sparse reports whether the rows are far from a grid of the axes' values.
func (c *Chart) sparse() bool {
	cells := 1.0
	for _, a := range c.axes {
		cells *= float64(len(a.values))
	}
	return len(c.axes) > 1 && 4*float64(len(c.table.Rows)) < cells
}

// label describes the metric for an axis.
func (c *Chart) label() string {
	parts := make([]string, 0, 2)
	if c.metric.Unit != "" {
		parts = append(parts, c.metric.Unit)
	}
	switch c.metric.Best {
	case "high":
		parts = append(parts, "higher is better")
	case "low":
		parts = append(parts, "lower is better")
	}
	if len(parts) == 0 {
		return c.metric.Name
	}
	return c.metric.Name + " (" + strings.Join(parts, "; ") + ")"
}

// describe writes the caption.
func (c *Chart) describe() {
	fewest, most := math.MaxInt, 0
	for _, i := range c.valued {
		n := c.table.Rows[i].Trials
		fewest, most = min(fewest, n), max(most, n)
	}
	text := "The value of one trial"
	switch {
	case most > fewest:
		text = fmt.Sprintf("Means over %d to %d seeds", fewest, most)
	case most > 1:
		text = fmt.Sprintf("Means over %d seeds", most)
	}
	c.Caption = text
	if c.bars != "" {
		c.Caption += ", with " + c.bars + " of one standard error to both sides"
	}
	for _, n := range c.notes {
		c.Caption += "; " + n
	}
	if n := len(c.blank); n > 0 {
		c.Caption += fmt.Sprintf("; %d of %d settings have no value", n, len(c.table.Rows))
	}
}

// Header returns the names of the columns of the numbers: settings, mean, standard error, trials.
func (c *Chart) Header() []string {
	return append(slices.Clone(c.columns), c.metric.Name, "standard_error", "trials")
}

// Len returns the number of lines of the numbers.
func (c *Chart) Len() int { return len(c.table.Rows) }

// Each yields the numbers of the chart with six digits, a line for each setting in the order of the plan. A setting
// without a value has an empty field.
func (c *Chart) Each(yield func([]string) bool) {
	c.lines(func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }, yield)
}

func (c *Chart) lines(format func(float64) string, yield func([]string) bool) {
	for _, r := range c.table.Rows {
		var line []string
		for _, name := range c.columns {
			line = append(line, textOf(r, name))
		}
		value, deviation := "", ""
		if e, ok := r.Metrics.Of(c.metric.Name); ok {
			value = format(e.Mean)
			if e.StandardError != nil {
				deviation = format(*e.StandardError)
			}
		}
		if !yield(append(line, value, deviation, strconv.Itoa(r.Trials))) {
			return
		}
	}
}

// CSV writes the numbers of the chart in full precision. A text that a spreadsheet would run gets an apostrophe before
// it.
func (c *Chart) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := func(fields []string) bool {
		for i := range fields {
			fields[i] = tables.Inert(fields[i])
		}
		return out.Write(fields) == nil
	}
	if line(c.Header()) {
		c.lines(experiment.FormatNumber, line)
	}
	out.Flush()
	return out.Error()
}
