package show

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/plot"
	"privkern/runner/show/report"
)

// maxDrawn bounds the trials of one figure, which are in memory with their series. It is
// more than ten times the number that any figure of a paper needs.
const maxDrawn = 10_000

// figureTrials is a figure with its trials.
type figureTrials struct {
	figure *experiment.Figure
	trials []experiment.Observation // none where there are more than maxDrawn
	count  int
}

// figuresOf returns the figures of the papers, without trials.
func figuresOf(papers []experiment.Paper) []figureTrials {
	var out []figureTrials
	for _, p := range papers {
		for i := range p.Figures {
			out = append(out, figureTrials{figure: &p.Figures[i]})
		}
	}
	return out
}

// addToFigures adds a good record to its figures.
func (r *Results) addToFigures(rec *record.Record, t plan.Trial) error {
	if rec.Status != record.OK {
		return nil
	}
	var observed *experiment.Observation
	for i := range r.figures {
		f := &r.figures[i]
		if f.figure.Match != nil && !f.figure.Match(t.Experiment, t.Params) {
			continue
		}
		if f.count++; f.count > maxDrawn {
			f.trials = nil
			continue
		}
		if observed == nil {
			x, err := plot.Observation(rec, r.book.Experiments)
			if err != nil {
				return err
			}
			observed = &x
		}
		f.trials = append(f.trials, *observed)
	}
	return nil
}

// Figures returns the figures that have trials, and the charts of settings that belong to no published table, which are
// first where there is no such table: they are the answer of a sweep. It draws them on the first call. A figure that
// cannot be drawn is returned with the reason.
func (r *Results) Figures() []report.Plot {
	r.draw.Do(func() {
		for _, f := range r.figures {
			if f.count > 0 {
				r.addPlot(&f)
			}
		}
		figures := len(r.plots)
		r.addCharts()
		if len(r.Plan.Tables) == 0 {
			r.plots = slices.Concat(r.plots[figures:], r.plots[:figures])
		}
	})
	return r.plots
}

// addPlot draws a figure.
func (r *Results) addPlot(f *figureTrials) {
	shown := report.Plot{Name: f.figure.Name, Title: f.figure.Title, Caption: f.figure.Caption,
		File: path.Join(PlotsDir, plotFile(f.figure.Name))}
	if f.count > maxDrawn {
		shown.Error = fmt.Sprintf("%d trials belong to it; a figure is drawn of at most %d", f.count, maxDrawn)
		r.plots = append(r.plots, shown)
		return
	}
	svg, panels, err := plot.Figure(f.figure, f.trials, figureID(f.figure.Name))
	switch {
	case errors.Is(err, plot.ErrNoData):
		return // further trials are needed
	case err != nil:
		shown.Error = err.Error()
	default:
		shown.SVG, shown.Panels = svg, panels
	}
	r.plots = append(r.plots, shown)
}

// EachPlot visits the files of OUT/plots.
func (r *Results) EachPlot(visit Visitor) error {
	return r.eachPlotFile(func(_ report.Plot, name string, write func(io.Writer) error) error {
		return visit(name, write)
	})
}

// plotFile returns the name of a figure's file in OUT/plots.
func plotFile(name string) string { return figureID(name) + ".svg" }

// figureID returns a figure's name in a form for files and pages.
func figureID(name string) string { return strings.ReplaceAll(name, "/", "-") }
