package judge

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Records finds the results of a setting. It keeps no series, so that a large store fits
// into memory.
type Records struct {
	byTrial map[record.TrialID][]*outcome
	planned map[record.SettingID][]int64 // setting to the seeds that were planned
	whole   map[record.SettingID]bool    // planned with the seeds of the ledger's tables, all of them
	classes map[string]string            // key to BLAS class
}

// outcome is the part of a record that an evaluation needs.
type outcome struct {
	key      string
	computed string // backend and number format
	status   record.Status
	err      string
	metrics  map[string]float64
	warnings []string
	privacy  *experiment.Privacy
}

// Index collects records. Their order does not matter.
func Index(records iter.Seq[*record.Record]) (*Records, error) {
	out := &Records{byTrial: map[record.TrialID][]*outcome{}, classes: map[string]string{}}
	for r := range records {
		id, err := record.IDOfTrial(r.Identity())
		if err != nil {
			return nil, fmt.Errorf("the parameters of trial %s: %w", r.Key, err)
		}
		o := &outcome{key: r.Key, computed: r.Backend + " " + r.DType, status: r.Status,
			metrics: r.Metrics, warnings: r.Warnings}
		if r.Privacy.Stated() {
			o.privacy = r.Privacy
		}
		if r.Error != nil {
			o.err = *r.Error
		}
		out.classes[r.Key] = r.Provenance.Class()
		out.byTrial[id] = append(out.byTrial[id], o)
	}
	for _, list := range out.byTrial {
		slices.SortStableFunc(list, preference)
	}
	return out, nil
}

// Expect registers a planned trial. Where a setting was planned with other seeds than
// the ledger's, its cells use those, and variants without any planned trial are left
// out. Without any call the ledger's trials are expected.
func (r *Records) Expect(experimentName string, params experiment.Params, seed int64) error {
	id, err := record.IDOfSetting(experimentName, params)
	if err != nil {
		return fmt.Errorf("the parameters of a trial of %s: %w", experimentName, err)
	}
	if r.planned == nil {
		r.planned = map[record.SettingID][]int64{}
	}
	if !slices.Contains(r.planned[id], seed) {
		r.planned[id] = append(r.planned[id], seed)
	}
	return nil
}

// ExpectTables registers all trials of the tables that the plan has, after its trials. Cells and
// joint verdicts may share a setting, and have different seeds of it. Where exactly theirs were
// planned, each has its own.
func (r *Records) ExpectTables(trials []experiment.Identity) error {
	listed := map[record.SettingID][]int64{}
	for _, t := range trials {
		id, err := record.IDOfSetting(t.Experiment, t.Params)
		if err != nil {
			return fmt.Errorf("the parameters of a trial of %s: %w", t.Experiment, err)
		}
		listed[id] = append(listed[id], t.Seed)
	}
	r.whole = map[record.SettingID]bool{}
	for id, seeds := range listed {
		slices.Sort(seeds)
		r.whole[id] = slices.Equal(slices.Compact(seeds), slices.Sorted(slices.Values(r.planned[id])))
	}
	return nil
}

// seeds returns the seeds of a side.
func (r *Records) seeds(s *ledger.Side) []int64 {
	if seeds := r.planned[s.ID]; len(seeds) > 0 && !r.whole[s.ID] {
		return seeds
	}
	return s.Seeds
}

// paired reports whether every side has all of the seeds.
func (r *Records) paired(seeds []int64, sides []*ledger.Side) bool {
	for _, s := range sides {
		own := r.seeds(s)
		if slices.ContainsFunc(seeds, func(seed int64) bool { return !slices.Contains(own, seed) }) {
			return false
		}
	}
	return true
}

// unplanned returns the variants without a planned trial, where other variants have some.
func (r *Records) unplanned(t *ledger.Table, all []ledger.Claim) []string {
	var out []string
	for _, v := range t.Variants {
		if !slices.ContainsFunc(all, func(c ledger.Claim) bool {
			return c.Variant == v.Name && slices.ContainsFunc(c.Left, func(s *ledger.Side) bool {
				return r.planned[s.ID] != nil
			})
		}) {
			out = append(out, v.Name)
		}
	}
	if len(out) == len(t.Variants) {
		return nil
	}
	return out
}

// warningsOf returns the warnings of an outcome that concern a side's metric. Warnings about
// a trial's times concern no other metric.
func warningsOf(o *outcome, s *ledger.Side) []string {
	if s.Timed() {
		return o.warnings
	}
	return slices.DeleteFunc(slices.Clone(o.warnings), record.AboutTimes)
}

// preference orders several records of one setting: a good one first, then
// float64 on the CPU, which is the reference, then by key.
func preference(a, b *outcome) int {
	rank := func(o *outcome) int {
		switch {
		case o.status != record.OK:
			return 3
		case o.computed == "cpu float64":
			return 0
		case o.computed == "cuda float64":
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.key, b.key))
}

// classesOf counts trials by their BLAS class.
func (r *Records) classesOf(keys []string) record.Classes {
	out := record.Classes{}
	for _, key := range keys {
		out.Add(r.classes[key], 1)
	}
	return out
}

// find returns the outcome of one seed of a side, nil for none, and a warning where there
// are several good records.
func (r *Records) find(s *ledger.Side, seed int64) (*outcome, string) {
	list := r.byTrial[record.TrialID{Setting: s.ID, Seed: seed}]
	if len(list) == 0 {
		return nil, ""
	}
	for _, o := range list[1:] {
		if o.status == record.OK && o.key != list[0].key {
			return list[0], fmt.Sprintf("several records of seed %d (%s, %s, ...): used the first, %.12s",
				seed, list[0].computed, o.computed, list[0].key)
		}
	}
	return list[0], ""
}
