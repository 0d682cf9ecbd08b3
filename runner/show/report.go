package show

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"privkern/runner/show/report"
	"privkern/runner/store/disk"
)

// WriteReport writes OUT/plots and OUT/report.html, and returns the path of the
// latter.
func (r *Results) WriteReport(version string) (string, error) {
	data := r.Report(version)
	data.Figures = r.Figures()
	if err := r.writePlots(data.Figures); err != nil {
		return "", err
	}
	path := filepath.Join(r.Store.Dir(), "report.html")
	return path, disk.WriteFileWith(r.Store.Disk(), path, func(w io.Writer) error { return report.Write(w, data) })
}

// Report is what the report says, without figures: see Results.Figures.
func (r *Results) Report(version string) report.Content {
	data := report.Content{
		Title: r.Plan.Title, Generated: time.Now().UTC().Truncate(time.Second), Version: version,
		Plan: report.PlanSummary{
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
	for _, l := range r.ledgers {
		data.Papers = append(data.Papers, report.PaperNotesOf(l))
	}
	return data
}
