package cli

import (
	"context"
	"errors"
	"fmt"

	"privkern/experiments"
	"privkern/runner/execute/bench/curves"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/store"
)

// longCost is the processor time in s above which a trial is warned of.
const longCost = 600

// costOf are sentences on the time and memory of a method for own data, by size; none for other experiments.
func costOf(name string) (told []string, err error) {
	costs, err := curves.Embedded()
	if err != nil {
		return nil, err
	}
	for _, c := range experiments.ScalingCases() {
		sizes := costs.Tell(c.Name())
		if c.Experiment != name || sizes == "" {
			continue
		}
		if c.Variant != "" {
			sizes = "method=" + c.Variant + ": " + sizes
		}
		told = append(told, sizes)
	}
	if told != nil {
		told = append(told, "numeric columns and default settings, on one core of the machine of results/scaling.md: "+
			costs.Machine)
	}
	return told, nil
}

// warnOfCost warns of trials on own data that are predicted to take over ten minutes of processor time. Memory is no
// part of it: trials that need more than there is by the estimates of their experiments are refused.
func (a *app) warnOfCost(ctx context.Context, trials []sweep.Assignment) error {
	costs, err := curves.Embedded()
	if err != nil {
		return err
	}
	if text := longTrials(ctx, costs, trials); text != "" {
		a.complain("warning: %s", text)
	}
	return ctx.Err()
}

// warnOfPending warns of the trials of a part of a plan that have no record in the folder, which may be absent.
func (a *app) warnOfPending(ctx context.Context, dir string, p *plan.Plan, shard plan.Shard) error {
	var there map[string]bool
	if s, err := store.Open(a.Disk, dir); err == nil {
		there, err = s.Keys()
		if err = errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	var pending []sweep.Assignment
	for _, i := range shard.Indices(len(p.Trials)) {
		t := p.Trials[i]
		if there[t.Key] {
			continue
		}
		e, err := a.Experiments.Lookup(t.Experiment)
		if err != nil {
			return err
		}
		pending = append(pending, sweep.Assignment{Experiment: e, Params: t.Params})
	}
	return a.warnOfCost(ctx, pending)
}

// longTrials is the text of the warning, empty for none, and where ctx ends.
func longTrials(ctx context.Context, costs *curves.Costs, trials []sweep.Assignment) string {
	worst, number, most, sizes := "", 0, 0., experiments.NewOwnSizes()
	for _, s := range trials {
		if ctx.Err() != nil {
			return ""
		}
		name, o, ok := sizes.Of(s.Experiment, s.Params)
		if !ok {
			continue
		}
		size := curves.Size{Rows: o.Rows, Inputs: o.Inputs}
		time, known := costs.Predict(name, curves.Time, size)
		time.Cost *= o.Fits
		if !known || time.Cost <= longCost {
			continue
		}
		number++
		if time.Cost > most {
			most = time.Cost
			worst = fmt.Sprintf("%s on about %v at default settings: %s", s.Experiment.Name, size, time.Text(curves.Seconds))
			if time.Beyond {
				worst += "; so large a size was not measured"
			}
		}
	}
	if number == 0 {
		return ""
	}
	return areTrials(number) + " predicted to take over ten minutes of processor time: " + worst
}
