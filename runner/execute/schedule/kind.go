package schedule

import (
	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// TrialKind is a kind of trials.
type TrialKind string

// A timed trial reports how fast the machine was.
const (
	AnyTrial     TrialKind = ""
	TimedTrial   TrialKind = "timed"
	UntimedTrial TrialKind = "untimed"
)

// Positions returns where the trials of the kind are in a plan, in order.
func (k TrialKind) Positions(p *plan.Plan, experiments *experiment.Registry) ([]int, error) {
	var out []int
	for i, t := range p.Trials {
		e, err := experiments.Lookup(t.Experiment)
		if err != nil {
			return nil, err
		}
		if k == AnyTrial || e.Timed() == (k == TimedTrial) {
			out = append(out, i)
		}
	}
	return out, nil
}
