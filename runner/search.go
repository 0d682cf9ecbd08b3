package runner

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"privkern/runner/plan"
	"privkern/runner/plan/search"
	"privkern/runner/record"
	"privkern/runner/show/summary"
	"privkern/runner/store"
)

// Searched are the results of a search so far.
type Searched struct {
	Plan *plan.Plan
	Spec *search.Spec
	Rows []*summary.Row       // of all settings of the plan, in its order
	Seen []search.Observation // the same
	// Unfinished is how many trials have no result.
	Unfinished int
}

// Searched reads the results of the plan of a search.
func (c *Catalogue) Searched(dir string, d *plan.Draft) (*Searched, error) {
	s, p, err := store.OpenPlan(c.Disk, dir, c.Experiments)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return c.searched(s, p, d)
}

func (c *Catalogue) searched(s *store.Store, p *plan.Plan, d *plan.Draft) (*Searched, error) {
	r := &Searched{Plan: p, Spec: d.Spec}
	t := summary.NewTabulator(c.Experiments)
	reported := map[string]bool{}
	for _, trial := range p.Trials {
		rec, ok, err := s.Get(trial.Key)
		if err != nil {
			return nil, err
		}
		if !ok || rec.Status == record.Skipped {
			r.Unfinished++
		} else {
			for name := range rec.Metrics {
				reported[name] = true
			}
		}
		if err := t.Add(trial, rec); err != nil {
			return nil, err
		}
	}
	for _, table := range t.Tables() {
		r.Rows = append(r.Rows, table.Rows...)
	}
	for _, row := range r.Rows {
		o := search.Observation{Params: row.Params, Value: math.NaN()}
		if mean, ok := row.Metrics.Of(d.Spec.Metric); ok && row.Failed == 0 {
			o.Value = mean.Mean
		}
		r.Seen = append(r.Seen, o)
	}
	if r.Unfinished == 0 && len(reported) > 0 && !reported[d.Spec.Metric] {
		return nil, fmt.Errorf("no trial reports the metric %q of the search; these trials have %s", d.Spec.Metric,
			strings.Join(slices.Sorted(maps.Keys(reported)), ", "))
	}
	return r, nil
}

// Best returns the rows from the best to the worst, those without a result of the metric left out.
func (r *Searched) Best() []*summary.Row {
	var out []*summary.Row
	for _, i := range r.Spec.Rank(r.Seen) {
		if !math.IsNaN(r.Seen[i].Value) && !math.IsInf(r.Seen[i].Value, 0) {
			out = append(out, r.Rows[i])
		}
	}
	return out
}

// Table returns the best n settings as a table of the metric.
func (r *Searched) Table(n int) *summary.MetricTable {
	t := &summary.MetricTable{Experiment: r.Spec.Experiment.Name, Metrics: []string{r.Spec.Metric}}
	for _, d := range r.Spec.Space {
		t.Varying = append(t.Varying, d.Param.Name)
	}
	if r.Spec.Fidelity != "" {
		t.Varying = append(t.Varying, r.Spec.Fidelity)
	}
	t.Rows = r.Best()
	t.Rows = t.Rows[:min(n, len(t.Rows))]
	return t
}

// Grow appends the next round of a search to the plan of its folder, once every trial of the plan has a result, and
// returns the plan. Where another runner did so, it returns that plan. more is false where the plan stays: trials are
// left to run, the budget is spent, or no setting is left.
func (c *Catalogue) Grow(ctx context.Context, dir string, d *plan.Draft, data *plan.Datasets, propose search.Propose,
) (p *plan.Plan, more bool, err error) {
	s, err := store.Create(c.Disk, dir)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = s.Close() }()
	if p, err = s.ReadPlan(c.Experiments); err != nil {
		return nil, false, err
	}
	r, err := c.searched(s, p, d)
	if err != nil || r.Unfinished > 0 {
		return p, false, err
	}
	round, err := d.Spec.Next(ctx, r.Seen, propose)
	if err != nil || len(round) == 0 {
		return p, false, err
	}
	grown, err := p.Grown(d, round, data)
	if err != nil {
		return nil, false, err
	}
	p, err = s.GrowPlan(grown, c.Experiments)
	return p, err == nil, err
}
