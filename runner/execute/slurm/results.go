package slurm

import (
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
)

// results tracks the trials that have a result in the store. A trial that was skipped
// before the first update has none, because it runs again, until its record is replaced.
type results struct {
	store   *store.Store
	plan    *plan.Plan
	done    []bool                // for each trial
	skipped map[int]store.Version // nil before the first update
}

// update calls found for each new record.
func (r *results) update(found func(t plan.Trial, rec *record.Record)) error {
	keys, err := r.store.Keys()
	if err != nil {
		return err
	}
	before := map[int]store.Version{}
	for i, t := range r.plan.Trials {
		if r.done[i] || !keys[t.Key] {
			continue
		}
		// The version before the record: a record that is replaced in between is new.
		version, err := r.store.Version(t.Key)
		if err != nil {
			return err
		}
		rec, ok, err := r.store.Get(t.Key)
		if err != nil {
			return err
		}
		if !ok {
			continue // the trial's task puts the file aside
		}
		if rec.Status == record.Skipped {
			before[i] = version
			if old, known := r.skipped[i]; r.skipped == nil || known && version.Same(old) {
				continue
			}
		}
		r.done[i] = true
		found(t, rec)
	}
	if r.skipped == nil {
		r.skipped = before
	}
	return nil
}
