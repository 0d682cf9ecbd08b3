package store

import (
	"context"
	"path/filepath"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/store/disk"
)

// GrowPlan replaces the plan of the folder by p, which has more rounds of the same search, and returns it. Where
// another runner has appended a round meanwhile, it returns that runner's plan and writes nothing. Records are compared
// with the returned plan from then on.
func (s *Store) GrowPlan(p *plan.Plan, experiments *experiment.Registry) (*plan.Plan, error) {
	unlock, err := s.locks.wait(context.Background(), "plan")
	if err != nil {
		return nil, err
	}
	defer unlock()
	old, err := s.ReadPlan(experiments)
	if err != nil {
		return nil, err
	}
	if len(old.Trials) >= len(p.Trials) && old.Search != nil && old.Search.Specification == p.Search.Specification {
		return old, nil
	}
	if why := old.Continues(p); why != nil {
		return nil, &PlanMismatchError{Dir: s.dir, Difference: why.Error()}
	}
	raw, err := encodePlan(p)
	if err == nil {
		err = disk.WriteFile(s.disk, filepath.Join(s.dir, planFile), raw)
	}
	if err != nil {
		return nil, err
	}
	s.reference.Store(&reference{plan: p, experiments: experiments})
	return p, nil
}

// adopt gives p the trials of the folder's plan where both are rounds of one search, of which the folder may have more.
// Its tables and metrics, which are no part of the trials, stay.
func adopt(p, folder *plan.Plan) {
	if p.Search != nil && folder != nil {
		tables, metrics := p.Tables, p.Metrics
		*p = *folder
		p.Tables, p.Metrics = tables, metrics
	}
}
