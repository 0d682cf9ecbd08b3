package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"privkern/runner/show/chart"
	"privkern/runner/show/plot"
	"privkern/runner/show/report"
	"privkern/runner/show/summary"
)

const (
	maxDrawnMetrics = 6  // of an experiment
	maxCharts       = 24 // of a sweep
)

// headline returns the metrics of a table that are drawn: those that the sweep files name, or the results of the
// experiment.
func (r *Results) headline(t *summary.MetricTable) []string {
	shown := summary.View{Metrics: r.Plan.Metrics}.Shown(t)
	return shown[:min(len(shown), maxDrawnMetrics)]
}

// addCharts draws metrics over the settings that belong to no published table. A plan of arguments alone, a comparison
// or an attack, has a figure of its own, which charts of each method would bury.
func (r *Results) addCharts() {
	if len(r.Plan.Sources)+len(r.Plan.Tables) == 0 && len(r.Plan.Overrides) > 0 {
		return
	}
	left, drawn := 0, r.Summary
	if len(r.Evaluated) > 0 {
		drawn = r.Unpublished() // a copy
	}
	for _, t := range drawn {
		for _, name := range r.headline(t) {
			declared := t.Declaration(name)
			m := chart.Metric{Name: name, Unit: declared.Unit, Best: declared.Best}
			switch c := chart.Of(t, m, r.units(t.Experiment)); {
			case c == nil:
			case len(r.charts) == maxCharts:
				left++
			default:
				r.addChart(c, t.Experiment, name)
			}
		}
	}
	if left > 0 {
		r.plots = append(r.plots, report.Plot{Name: r.plotName("charts"), Title: "Further charts", Error: fmt.Sprintf(
			"%d more; at most %d are drawn of a sweep, in the order of the plan", left, maxCharts)})
	}
}

// units returns the units of an experiment's settings.
func (r *Results) units(of string) map[string]string {
	units := map[string]string{}
	if e, err := r.book.Experiments.Lookup(of); err == nil {
		for _, p := range e.Params {
			units[p.Name] = p.Unit
		}
	}
	return units
}

// addChart draws a chart.
func (r *Results) addChart(c *chart.Chart, of, metric string) {
	shown := report.Plot{Name: r.plotName(of + "/" + metric), Title: c.Title, Caption: c.Caption, Numbers: c}
	shown.File = path.Join(PlotsDir, plotFile(shown.Name))
	var b bytes.Buffer
	options := plot.Options{Title: c.Title, Description: c.Caption, ID: figureID(shown.Name)}
	switch err := plot.SVG(&b, c.Panels, options); {
	case errors.Is(err, plot.ErrNoData):
		return
	case err != nil:
		shown.Error = err.Error()
	default:
		shown.SVG = b.Bytes()
		r.charts[shown.Name] = c
	}
	r.plots = append(r.plots, shown)
}

// plotName returns a name of a plot that is one of a file, too, and that no other has, in upper or lower case.
func (r *Results) plotName(wanted string) string {
	const longest = 100
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-", c) {
			return c
		}
		return '_'
	}, wanted)
	name = name[:min(len(name), longest)]
	free := func(s string) bool {
		return !slices.ContainsFunc(r.plots, func(p report.Plot) bool {
			return strings.EqualFold(plotFile(p.Name), plotFile(s))
		})
	}
	for i, plain := 2, name; !free(name); i++ {
		name = fmt.Sprintf("%s-%d", plain, i)
	}
	return name
}

// eachPlotFile visits the files of OUT/plots with their plots: a drawing each, and of charts an image and the numbers.
func (r *Results) eachPlotFile(visit func(f report.Plot, name string, write func(io.Writer) error) error) error {
	for _, f := range r.Figures() {
		if f.SVG == nil {
			continue
		}
		err := visit(f, plotFile(f.Name), func(w io.Writer) error { _, err := w.Write(f.SVG); return err })
		if c := r.charts[f.Name]; c != nil && err == nil {
			err = visit(f, figureID(f.Name)+".png", func(w io.Writer) error { return plot.PNG(w, c.Panels) })
			if err == nil {
				err = visit(f, figureID(f.Name)+".csv", c.CSV)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
