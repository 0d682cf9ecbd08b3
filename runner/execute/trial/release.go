package trial

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// ReleaseOptions configure the accounting of a release.
type ReleaseOptions struct {
	// Book books the spending of the release. It is called before noise is drawn, and
	// refuses to exceed the budget.
	Book func(experiment.Spending) error
	// Unbooked is true where Book keeps no account.
	Unbooked bool
	Tuning   experiment.Tuning
	Open     Opener // of the engine; nil for none
	exports  experiment.Exports
}

// Backend and element type of audits, and of releases unless the operator names others.
const (
	AuditedBackend = "cpu"
	AuditedDType   = "float64"
)

// notes returns the notes on privacy that follow from the options and the job.
func (o ReleaseOptions) notes(job Job) []string {
	var out []string
	if job.Backend != AuditedBackend || job.DType != AuditedDType {
		out = append(out, fmt.Sprintf("computation: on %s in %s; audits of the mechanism are on %s in %s and say nothing "+
			"of it", job.Backend, job.DType, AuditedBackend, AuditedDType))
	}
	switch o.Tuning {
	case experiment.TuningPublic:
		out = append(out, "hyper-parameters: public, chosen without looking at the data, as the operator states")
	case experiment.TuningBooked:
		out = append(out, "hyper-parameters: booked, chosen by a private mechanism that is accounted for on its own")
	case experiment.TuningIncluded:
		out = append(out, "hyper-parameters: included; the method was chosen within this guarantee, and has its defaults")
	default:
		out = append(out, "hyper-parameters: unaccounted; if they were chosen by looking at the data, the guarantee "+
			"does not cover that choice")
	}
	if o.Unbooked {
		out = append(out, "budget: not booked; nothing counts what this release and others of the same data spend together")
	}
	return out
}

// Release runs the job's release in this process. The record holds published values and
// nothing else: its series "released" has the numbers of a released table, and its
// provenance no digest of private data, which would be a function of them. A release
// that fails has no record, because the reason may depend on private data.
//
// The noise comes from the operating system's entropy source, after the budget has been
// booked.
func Release(ctx context.Context, e *experiment.Experiment, job Job, o ReleaseOptions,
	progress ProgressFunc) (*record.Record, *experiment.Release, error) {
	switch {
	case e.Release == nil:
		return nil, nil, fmt.Errorf("%s has no release", e.Name)
	case !job.Secure:
		return nil, nil, errors.New("noise from a seed protects nobody")
	}
	r, release, err := publish(ctx, e, job, o, progress, e.Release, checkRelease)
	if err != nil {
		return nil, nil, err
	}
	r.Release = &record.ReleaseStatement{Format: record.ReleaseFormat, Noise: record.GroupNoise(release.Noise),
		Tuning: o.Tuning, Budget: record.BudgetBooked, Settings: release.Chosen}
	if o.Unbooked {
		r.Release.Budget = record.BudgetUnbooked
	}
	release.Privacy.Notes = append(release.Privacy.Notes, o.notes(job)...)
	return r, release, nil
}

// publish computes the output and its record.
func publish(ctx context.Context, e *experiment.Experiment, job Job, o ReleaseOptions, progress ProgressFunc,
	run func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Release, error),
	check func(*experiment.Experiment, *experiment.Release) error,
) (*record.Record, *experiment.Release, error) {
	job.Datasets, job.RNG = nil, "" // digests of private data, and the salt of their key
	described := job
	described.Params = withoutPaths(e.Active(job.Params), e.Reads(job.Params))
	r, err := NewRecord(described)
	if err != nil {
		return nil, nil, err
	}
	// Duration and memory may depend on private data: the record has no timing.
	release, err := compute(e, job, o.Open, progress, func(t *experiment.Trial) (*experiment.Release, error) {
		t.Book, t.Entropy, t.Exports = o.Book, rand.Reader, o.exports
		return run(ctx, t, t.Params)
	})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err == nil {
		err = check(e, release)
	}
	if err != nil {
		return nil, nil, err
	}
	if release.Model == nil {
		r.Series["released"] = releasedColumns(release)
	}
	release.Privacy.Publish()
	r.Status, r.Privacy = record.OK, release.Privacy // of which a model has the words as well
	if release.Metrics != nil {
		r.Metrics = release.Metrics
	}
	r.Warnings = append(r.Warnings, release.Warnings...)
	return r, release, nil
}

// withoutPaths returns parameters in which one of a user's files is named by its kind
// alone: where it lies on the operator's machine is nobody's business.
func withoutPaths(params experiment.Params, files []string) experiment.Params {
	out := maps.Clone(params)
	for name, value := range params {
		text, ok := value.(string)
		if !ok || !slices.Contains(files, text) {
			continue
		}
		if kind, _, file := strings.Cut(text, ":"); file {
			out[name] = kind
		}
	}
	return out
}

func releasedColumns(release *experiment.Release) map[string]record.SeriesColumn {
	released := make(map[string]record.SeriesColumn, len(release.Columns))
	for j, name := range release.Columns {
		column := make(record.SeriesColumn, len(release.Rows))
		for i, row := range release.Rows {
			column[i] = row[j]
		}
		released[name] = column
	}
	return released
}

// checkRelease refuses an invalid release. Its errors hold no number of it.
func checkRelease(e *experiment.Experiment, r *experiment.Release) error {
	switch {
	case r.Privacy == nil:
		return fmt.Errorf("a defect in %s: a release that does not say what it protects", e.Name)
	case r.Privacy.Guarantee == "":
		return fmt.Errorf("a defect in %s: a release without a guarantee", e.Name)
	case len(r.Noise) == 0:
		return fmt.Errorf("a defect in %s: a release without noise of the release layer", e.Name)
	}
	return checkContent(e, r)
}

// checkContent refuses invalid content of a release or an export. Its errors hold no
// number of it.
func checkContent(e *experiment.Experiment, r *experiment.Release) error {
	switch {
	case r.Model != nil && (r.Columns != nil || r.Rows != nil) && e.Forms == nil:
		return fmt.Errorf("a defect in %s: a release that is both a model and a table, of which no name chooses", e.Name)
	case e.Forms == nil && (e.Written == experiment.FormModel && r.Model == nil ||
		e.Written == experiment.FormTable && r.Model != nil):
		return fmt.Errorf("a defect in %s: what is written is not of the form that it declares", e.Name)
	case r.Model == nil && len(r.Rows) == 0:
		return errors.New("there is nothing to write")
	case r.Classes != nil && len(r.Classes) != len(r.Rows):
		return fmt.Errorf("a defect in %s: %d classes of %d rows", e.Name, len(r.Classes), len(r.Rows))
	case r.Classes != nil && slices.Contains(r.Columns, r.ClassColumn):
		return fmt.Errorf("two columns of the release are named %q", r.ClassColumn)
	}
	for i, name := range r.Columns {
		if slices.Contains(r.Columns[:i], name) {
			return fmt.Errorf("two columns of the release are named %q", name)
		}
	}
	for i, row := range r.Rows {
		if len(row) != len(r.Columns) {
			return fmt.Errorf("a defect in %s: row %d of the release has %d values for %d columns", e.Name, i+1,
				len(row), len(r.Columns))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("the release is not finite at row %d, column %s", i+1, r.Columns[j])
			}
		}
	}
	if problem := invalid(e, r.Metrics, nil); problem != "" {
		return errors.New(problem)
	}
	return nil
}
