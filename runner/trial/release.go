package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Release runs the job's release in this process. The record holds what may be
// published and nothing else: in its series "released" the numbers of a released
// table, in its provenance no digest of private data, which would be a
// function of them. A release that fails has no record, since the reason may
// tell of private data.
func Release(ctx context.Context, e *experiment.Experiment, job Job, progress Progress) (*record.Record, *experiment.Release, error) {
	switch {
	case e.Release == nil:
		return nil, nil, fmt.Errorf("%s has no release", e.Name)
	case !job.Secure:
		return nil, nil, errors.New("noise from a seed protects nobody")
	}
	job.Digests = nil
	r, err := NewRecord(job)
	if err != nil {
		return nil, nil, err
	}
	// How long it takes and how much memory may depend on private data: a release
	// has no timing.
	release, err := guarded(e, func() (*experiment.Release, error) { return e.Release(ctx, newTrial(job, progress)) })
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err == nil {
		err = checkRelease(e, release)
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
	r.Privacy = privacyOf(job, release.Privacy)
	return r, release, nil
}

func releasedColumns(release *experiment.Release) map[string]record.Column {
	released := make(map[string]record.Column, len(release.Columns))
	for j, name := range release.Columns {
		column := make(record.Column, len(release.Rows))
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
	case r.Model != nil && (r.Columns != nil || r.Rows != nil):
		return fmt.Errorf("a defect in %s: a release that is both a model and a table", e.Name)
	case r.Model == nil && len(r.Rows) == 0:
		return errors.New("there is nothing to release")
	}
	for i, name := range r.Columns {
		if slices.Contains(r.Columns[:i], name) {
			return fmt.Errorf("two columns of the release are named %q", name)
		}
	}
	for i, row := range r.Rows {
		if len(row) != len(r.Columns) {
			return fmt.Errorf("a defect in %s: row %d of the release has %d values for %d columns", e.Name, i+1, len(row), len(r.Columns))
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
