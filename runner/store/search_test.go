package store_test

import (
	"errors"
	"testing"

	"privkern/runner/plan"
	"privkern/runner/store"
)

// A plan grows by rounds of one search: a longer one, which another runner wrote, stays, and another search is refused.
func TestGrowPlan(t *testing.T) {
	of := func(specification string, xs ...any) *plan.Plan {
		p := makePlan(t, "d1", xs...)
		p.Search = &plan.Search{Specification: specification, Rounds: []int{len(xs)}}
		return p
	}
	s := create(t, t.TempDir())
	if err := s.FreezePlan(of("A", 1.0), registry, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		grown  *plan.Plan
		trials int // of the folder's plan afterwards
		fails  bool
	}{
		{"a round more", of("A", 1.0, 2.0, 3.0), 3, false},
		{"less than there is", of("A", 1.0, 2.0), 3, false},
		{"another search", of("B", 1.0, 2.0, 3.0, 4.0), 3, true},
		{"other trials", of("A", 1.0, 5.0, 6.0, 7.0), 3, true},
		{"further rounds", of("A", 1.0, 2.0, 3.0, 4.0), 4, false},
	} {
		got, err := s.GrowPlan(c.grown, registry)
		var mismatch *store.PlanMismatchError
		if errors.As(err, &mismatch) != c.fails || err != nil && !c.fails || err == nil && len(got.Trials) != c.trials {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if back, err := s.ReadPlan(registry); err != nil || len(back.Trials) != c.trials || back.Search.Specification != "A" {
			t.Errorf("%s: the folder has %v, %v", c.name, back, err)
		}
	}
}
