package plan

import (
	"errors"
	"fmt"
	"slices"

	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
)

// Search is the part of a plan that grows: the trials of a search are appended round by round.
type Search struct {
	Specification string `json:"specification"` // see search.Spec
	Rounds        []int  `json:"rounds"`        // trials of each
}

// search notes the search of an expansion of that many trials, of which there may be one, in a file of its own.
func (d *Draft) search(files []string, x *sweep.Expansion, trials int) error {
	if x.Search == nil {
		return nil
	}
	if len(files) > 1 {
		return &OverrideError{errors.New("a search has its plan for itself: run the sweep files one by one")}
	}
	d.Spec, d.Search = x.Search, &Search{Specification: x.Search.String(), Rounds: []int{trials}}
	return nil
}

// Grown returns the plan with the settings of one more round, each over the seeds of the search.
func (p *Plan) Grown(d *Draft, round []experiment.Params, data *Datasets) (*Plan, error) {
	var settings []sweep.Assignment
	for _, t := range p.Trials {
		settings = append(settings, sweep.Assignment{Experiment: d.Spec.Experiment, Params: t.Params, Seed: t.Seed})
	}
	for _, params := range round {
		for _, seed := range d.Spec.SeedsOf(params) {
			settings = append(settings, sweep.Assignment{Experiment: d.Spec.Experiment, Params: params, Seed: seed})
		}
	}
	opts := p.Options
	opts.Search = &Search{Specification: p.Search.Specification,
		Rounds: append(slices.Clone(p.Search.Rounds), len(settings)-len(p.Trials))}
	return New(settings, data, opts)
}

// Continues returns an error unless one of two plans is a part of the other: the first rounds of one search with
// the same trials.
func (p *Plan) Continues(other *Plan) error {
	of := func(q *Plan) string {
		if q.Search == nil {
			return "no search"
		}
		return q.Search.Specification
	}
	if of(p) != of(other) {
		return fmt.Errorf("it has %s, and not %s", of(p), of(other))
	}
	for i := range min(len(p.Trials), len(other.Trials)) {
		if p.Trials[i].Key != other.Trials[i].Key {
			return fmt.Errorf("%s", Difference(p, other))
		}
	}
	return nil
}
