package slurm

import (
	"time"

	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
)

// results follows which trials have a result: the files are the truth.
type results struct {
	store  *store.Store
	plan   *plan.Plan
	part   []int           // of each trial, counted from 0
	since  time.Time       // a skipped trial counts where it was looked at since
	status []record.Status // of each trial; "" without a result
	left   []int           // trials without a result, of each part
	total  int             // of them
}

func newResults(s *store.Store, p *plan.Plan, d *division, since time.Time) *results {
	r := &results{store: s, plan: p, part: d.of, since: since, status: make([]record.Status, len(p.Trials)),
		left:  make([]int, d.parts),
		total: len(p.Trials)}
	for _, part := range d.of {
		r.left[part]++
	}
	return r
}

// update looks for new records and calls found for each.
func (r *results) update(found func(t plan.Trial, rec *record.Record)) error {
	if r.total == 0 {
		return nil
	}
	keys, err := r.store.Keys()
	if err != nil {
		return err
	}
	for i, t := range r.plan.Trials {
		if r.status[i] != "" || !keys[t.Key] {
			continue
		}
		rec, ok, err := r.store.Get(t.Key)
		if err != nil {
			return err
		}
		if !ok {
			continue // no record: the trial's task puts the file aside
		}
		if rec.Status == record.Skipped {
			when, err := r.store.Modified(t.Key)
			if err != nil || when.Before(r.since) {
				continue
			}
		}
		r.status[i] = rec.Status
		r.left[r.part[i]]--
		r.total--
		found(t, rec)
	}
	return nil
}
