package trial

import (
	"context"
	"errors"
	"fmt"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Export runs the job's export in this process: an output that has no guarantee. As for
// a release, the record holds the output and nothing else, and an export that fails has
// no record. Noise comes from a secret of the register, or, where that is nil, from the
// operating system: seeded noise could be subtracted by anybody who knows the seed.
func Export(ctx context.Context, e *experiment.Experiment, job Job, register experiment.Exports, open Opener,
	progress ProgressFunc) (*record.Record, *experiment.Release, error) {
	switch {
	case e.Export == nil:
		return nil, nil, fmt.Errorf("%s has no export", e.Name)
	case !job.Secure:
		return nil, nil, errors.New("noise from a seed can be taken off again")
	}
	// An export that books a budget would be a release.
	book := func(experiment.Spending) error {
		return fmt.Errorf("a defect in %s: an export that books a budget", e.Name)
	}
	options := ReleaseOptions{Book: book, Open: open, exports: register}
	r, export, err := publish(ctx, e, job, options, progress, e.Export, checkExport)
	if err != nil {
		return nil, nil, err
	}
	r.Export = &record.ExportStatement{Format: record.ExportFormat, Noise: record.GroupNoise(export.Noise)}
	return r, export, nil
}

// checkExport refuses an invalid export.
func checkExport(e *experiment.Experiment, r *experiment.Release) error {
	switch {
	case r.Privacy == nil:
		return fmt.Errorf("a defect in %s: an export that does not say what it protects", e.Name)
	case r.Privacy.Guarantee != "":
		return fmt.Errorf("a defect in %s: an export that claims %s; what has a guarantee is released", e.Name,
			r.Privacy.Guarantee)
	case len(r.Privacy.Notes) == 0:
		return fmt.Errorf("a defect in %s: an export that does not say why it has no guarantee", e.Name)
	}
	return checkContent(e, r)
}
