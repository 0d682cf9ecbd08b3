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
		Series: make(map[string]experiment.Series, len(r.Series)),
	}
	for name, columns := range r.Series {
		s := make(experiment.Series, len(columns))
		for c, values := range columns {
			s[c] = values
		}
		out.Series[name] = s
	}
	return out, nil
}

// Figure draws a figure from its trials, in their order, and returns the panels too. The
// error is ErrNoData where the trials do not suffice.
func Figure(f *experiment.Figure, trials []experiment.Observation, o Options) ([]byte, []experiment.Panel, error) {
	var matching []experiment.Observation
	for _, t := range trials {
		if f.Match == nil || f.Match(t.Experiment, t.Params) {
			matching = append(matching, t)
		}
	}
	panels := f.Draw(matching)
	if len(panels) == 0 {
		return nil, nil, fmt.Errorf("figure %s: the finished trials do not suffice (%d belong to it): %w", f.Name,
			len(matching), ErrNoData)
	}
	if o.Title == "" {
		o.Title = f.Title
	}
	if o.Description == "" {
		o.Description = f.Caption
	}
	var b bytes.Buffer
	if err := SVG(&b, panels, o); err != nil {
		return nil, nil, fmt.Errorf("figure %s: %w", f.Name, err)
	}
	return b.Bytes(), panels, nil
}
