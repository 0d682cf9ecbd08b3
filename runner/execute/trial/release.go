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

// ReleaseOptions say how a release is accounted for.
type ReleaseOptions struct {
	// Book books what the release spends. It is called before noise is drawn, and
	// refuses what the budget does not allow.
	Book func(experiment.Spending) error
	// Unbooked says that Book keeps no account.
	Unbooked bool
	Tuning   experiment.Tuning
	Open     Opener // of the engine; nil for none
}

// What audits compute on, and therefore releases unless the operator names another.
const (
	AuditedBackend = "cpu"
	AuditedDType   = "float64"
)

// notes are what the options and the job add to the words on privacy.
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
	default:
		out = append(out, "hyper-parameters: unaccounted; if they were chosen by looking at the data, the guarantee "+
			"does not cover that choice")
	}
	if o.Unbooked {
		out = append(out, "budget: not booked; nothing counts what this release and others of the same data spend together")
	}
	return out
}

// Release runs the job's release in this process. The record holds what may be
// published and nothing else: in its series "released" the numbers of a released
// table, in its provenance no digest of private data, which would be a
// function of them. A release that fails has no record, since the reason may
// depend on private data.
//
// The noise comes from the operating system's entropy source, after what is spent
// has been booked.
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
	r.Release = &record.ReleaseStatement{Format: record.ReleaseFormat, Noise: release.Noise, Tuning: o.Tuning,
		Budget: record.BudgetBooked, Settings: release.Chosen}
	if o.Unbooked {
		r.Release.Budget = record.BudgetUnbooked
	}
	// A model holds the same words.
	release.Privacy.Notes = append(release.Privacy.Notes, o.notes(job)...)
	r.Privacy = privacyOf(job, release.Privacy)
	return r, release, nil
}

// publish computes what leaves, and its record but for what is said of its privacy.
func publish(ctx context.Context, e *experiment.Experiment, job Job, o ReleaseOptions, progress ProgressFunc,
	compute func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Release, error),
	check func(*experiment.Experiment, *experiment.Release) error,
) (*record.Record, *experiment.Release, error) {
	job.Datasets, job.RNG = nil, "" // the digests of private data, and what hides them in the key
	described := job
	described.Params = withoutPaths(e.Active(job.Params), filesOf(e, job.Params))
	r, err := NewRecord(described)
	if err != nil {
		return nil, nil, err
	}
	// How long it takes and how much memory may depend on private data: it has no timing.
	release, err := guarded(e, func() (*experiment.Release, error) {
		return withEngine(e, job, o.Open, progress, func(t *experiment.Trial) (*experiment.Release, error) {
			t.Book, t.Entropy = o.Book, rand.Reader
			return compute(ctx, t, t.Params)
		})
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
	r.Status = record.OK
	if release.Metrics != nil {
		r.Metrics = release.Metrics
	}
	r.Warnings = append(r.Warnings, release.Warnings...)
	return r, release, nil
}

// filesOf are the data sets of a trial with these settings, all of which it needs.
func filesOf(e *experiment.Experiment, params experiment.Params) []string {
	if e.Datasets == nil {
		return nil
	}
	return e.Datasets(params)
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

// checkRelease refuses what no release may be. Its words hold no number of it.
func checkRelease(e *experiment.Experiment, r *experiment.Release) error {
	switch {
	case r.Privacy == nil:
		return fmt.Errorf("a defect in %s: a release that does not say what it protects", e.Name)
	case len(r.Noise) == 0:
		return fmt.Errorf("a defect in %s: a release without noise of the release layer", e.Name)
	}
	return checkContent(e, r)
}

// checkContent refuses what can be no file of a release or an export. Its words hold no
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
