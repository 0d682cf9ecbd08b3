package trialtest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"privkern/runner/experiment"
)

// Kept keeps shared work in memory, and counts it by the name of the work. The zero value
// has none.
type Kept struct {
	mu    sync.Mutex
	of    map[[2]string]*experiment.Shared
	Asked map[string]int
	Done  map[string]int
}

// Keep implements [experiment.Keeper]. It returns a copy, so that a change by one trial
// is not seen by others.
func (k *Kept) Keep(_ context.Context, name, key string, compute func() (*experiment.Shared, error),
) (*experiment.Shared, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of, k.Asked, k.Done = map[[2]string]*experiment.Shared{}, map[string]int{}, map[string]int{}
	}
	k.Asked[name]++
	v, ok := k.of[[2]string{name, key}]
	if !ok {
		var err error
		if v, err = experiment.Work(compute); err != nil {
			return nil, err
		}
		k.Done[name]++
		k.of[[2]string{name, key}] = copied(v)
	}
	return copied(v), nil
}

func copied(v *experiment.Shared) *experiment.Shared {
	out := *v
	out.Numbers, out.Texts = maps.Clone(v.Numbers), slices.Clone(v.Texts)
	for name, column := range out.Numbers {
		out.Numbers[name] = slices.Clone(column)
	}
	return &out
}
