package plot

import (
	"bytes"
	"fmt"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Observation returns a good record in the form that figures take, with typed parameters.
func Observation(r *record.Record, reg *experiment.Registry) (experiment.Observation, error) {
	e, err := reg.Lookup(r.Experiment)
	if err != nil {
		return experiment.Observation{}, fmt.Errorf("trial %.12s: %w", r.Key, err)
	}
	params, err := e.Resolve(r.Params)
	if err != nil {
		return experiment.Observation{}, fmt.Errorf("trial %.12s: %w", r.Key, err)
	}
	out := experiment.Observation{
		Identity: experiment.Identity{Experiment: r.Experiment, Params: params, Seed: r.Seed}, Metrics: r.Metrics,
		Series: r.SeriesValues(),
	}
	if r.Privacy != nil {
		out.Simulated = r.Privacy.Simulated
	}
	return out, nil
}

// Figure draws a figure from its trials, in their order, and returns the panels too. id makes
// the identifiers of the drawing unique in a page. The error is ErrNoData where the trials do
// not suffice.
func Figure(f *experiment.Figure, trials []experiment.Observation, id string) ([]byte, []experiment.Panel, error) {
	panels := f.Draw(trials)
	if len(panels) == 0 {
		return nil, nil, fmt.Errorf("figure %s: the finished trials do not suffice (%d belong to it): %w", f.Name,
			len(trials), ErrNoData)
	}
	var b bytes.Buffer
	if err := SVG(&b, panels, Options{Title: f.Title, Description: f.Caption, ID: id}); err != nil {
		return nil, nil, fmt.Errorf("figure %s: %w", f.Name, err)
	}
	return b.Bytes(), panels, nil
}
