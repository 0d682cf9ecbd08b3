package runner

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privkern/runner/disk"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plot"
	"privkern/runner/record"
	"privkern/runner/report"
	"privkern/runner/summary"
)

// maxDrawn bounds the trials of one figure, which are in memory with their
// series; no paper's figure has a tenth of them.
const maxDrawn = 10_000

// drawn is a figure with the trials that belong to it.
type drawn struct {
	figure *experiment.Figure
	trials []experiment.Finished // none where there are more than maxDrawn
	count  int
}

// figures returns the papers' figures without trials.
func (c *Catalogue) figures() []drawn {
	var out []drawn
	for _, p := range c.Papers {
		for i := range p.Figures {
			out = append(out, drawn{figure: &p.Figures[i]})
		}
	}
	return out
}

// addToFigures keeps a good record for the figures that it belongs to.
func (r *Results) addToFigures(rec *record.Record, t plan.Trial, experiments *experiment.Registry) error {
	if rec.Status != record.OK {
		return nil
	}
	var finished *experiment.Finished
	for i := range r.figures {
		f := &r.figures[i]
		if f.figure.Match != nil && !f.figure.Match(t.Experiment, t.Params) {
			continue
		}
		if f.count++; f.count > maxDrawn {
			f.trials = nil
			continue
		}
		if finished == nil {
			x, err := plot.Finished(rec, experiments)
			if err != nil {
				return err
			}
			finished = &x
		}
		f.trials = append(f.trials, *finished)
	}
	return nil
}

// WriteReport writes OUT/plots and OUT/report.html, and returns the path of the
// latter.
func (c *Catalogue) WriteReport(r *Results, version string) (string, error) {
	data := c.Report(r, version)
	data.Figures = r.Figures()
	if err := r.writePlots(data.Figures); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := report.Write(&b, data); err != nil {
		return "", err
	}
	path := filepath.Join(r.Store.Dir(), "report.html")
	return path, disk.WriteFile(r.Store.Disk(), path, b.Bytes())
}

// Report is what the report says, without figures: see Results.Figures.
func (c *Catalogue) Report(r *Results, version string) report.Data {
	data := report.Data{
		Title: r.Plan.Title, Generated: time.Now().UTC().Truncate(time.Second), Version: version,
		Plan: report.Plan{
			Overrides: r.Plan.Overrides, Backend: r.Plan.Backend, DType: r.Plan.DType,
			BLASClass: r.Plan.BLASClass, Digest: r.Plan.Digest, Trials: len(r.Plan.Trials),
		},
		Tables: r.Evaluated, Metrics: r.Summary, Trials: r.trials,
	}
	for _, s := range r.Plan.Sources {
		data.Plan.Sources = append(data.Plan.Sources, fmt.Sprintf("%s (SHA-256 %.12s)", filepath.Base(s.Path), s.SHA256))
	}
	if data.Title == "" {
		data.Title = filepath.Base(r.Store.Dir())
	}
	for _, l := range c.Book.Ledgers {
		if r.concerns(l.Paper) {
			data.Papers = append(data.Papers, report.PaperOf(l))
		}
	}
	return data
}

// concerns says whether the plan has trials or tables of a paper.
func (r *Results) concerns(paper string) bool {
	return slices.ContainsFunc(r.Plan.Tables, func(t string) bool { return strings.HasPrefix(t, paper+"/") }) ||
		slices.ContainsFunc(r.Summary, func(t *summary.Table) bool { return strings.HasPrefix(t.Experiment, paper+"/") })
}

// Figures draws the figures that trials belong to. One that cannot be drawn is
// shown with the reason.
func (r *Results) Figures() []report.Figure {
	var out []report.Figure
	for _, f := range r.figures {
		if f.count == 0 {
			continue
		}
		shown := report.Figure{Name: f.figure.Name, Title: f.figure.Title, Caption: f.figure.Caption}
		if f.count > maxDrawn {
			shown.Error = fmt.Sprintf("%d trials belong to it; a figure is drawn of at most %d", f.count, maxDrawn)
			out = append(out, shown)
			continue
		}
		svg, panels, err := plot.Figure(f.figure, f.trials, plot.Options{ID: figureID(f.figure.Name)})
		switch {
		case errors.Is(err, plot.ErrNoData):
			continue // the trials are some of those that it needs
		case err != nil:
			shown.Error = err.Error()
		default:
			shown.SVG, shown.Panels = svg, panels
		}
		out = append(out, shown)
	}
	return out
}

// writePlots writes OUT/plots.
func (r *Results) writePlots(figures []report.Figure) error {
	dir := filepath.Join(r.Store.Dir(), plotsDir)
	for _, f := range figures {
		if f.SVG == nil {
			continue
		}
		if err := disk.MakeFolder(r.Store.Disk(), dir, 0o777); err != nil {
			return err
		}
		if err := disk.WriteFile(r.Store.Disk(), filepath.Join(dir, figureID(f.Name)+".svg"), f.SVG); err != nil {
			return err
		}
	}
	return nil
}

// figureID is a figure's name as a file and a page can have it.
func figureID(name string) string { return strings.ReplaceAll(name, "/", "-") }
