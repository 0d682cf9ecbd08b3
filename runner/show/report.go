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
	dir := filepath.Join(r.Store.Dir(), PlotsDir)
	if err := r.EachPlot(r.writeTo(dir)); err != nil {
		return "", err
	}
	return ReportPath(r.Store.Dir()), r.WritePage(version, nil)
}

// writeTo returns a visitor that writes files to a folder.
func (r *Results) writeTo(dir string) Visitor {
	return func(name string, write func(io.Writer) error) error {
		if err := disk.MakeFolder(r.Store.Disk(), dir, 0o777); err != nil {
			return err
		}
		return disk.WriteFileWith(r.Store.Disk(), filepath.Join(dir, name), write)
	}
}

// WritePage writes OUT/report.html alone; progress is nil unless trials run.
func (r *Results) WritePage(version string, progress *report.Progress) error {
	data := r.report(version)
	data.Figures, data.Progress, data.Comparisons = r.Figures(), progress, r.Comparisons
	return disk.WriteFileWith(r.Store.Disk(), ReportPath(r.Store.Dir()), func(w io.Writer) error {
		return report.Write(w, data)
	})
}

// ReportPath returns the path of the report of an output folder.
func ReportPath(dir string) string { return filepath.Join(dir, "report.html") }

// report returns the content of the report without figures and progress.
func (r *Results) report(version string) report.Content {
	data := report.Content{
		Title: r.Plan.Title, Generated: time.Now().UTC().Truncate(time.Second), Version: version,
		Plan: report.PlanSummary{
			Overrides: r.Plan.Overrides, Backend: r.Plan.Backend, DType: r.Plan.DType,
			BLASClass: r.Plan.BLASClass, Digest: r.Plan.Digest, Trials: len(r.Plan.Trials),
		},
		Tables: r.Evaluated, Metrics: r.ForPeople(), Trials: r.trials, Papers: r.ledgers,
	}
	for _, s := range r.Plan.Sources {
		data.Plan.Sources = append(data.Plan.Sources, fmt.Sprintf("%s (SHA-256 %.12s)", filepath.Base(s.Path), s.SHA256))
	}
	if data.Title == "" {
		data.Title = filepath.Base(r.Store.Dir())
	}
	return data
}
