package cli

import (
	"fmt"

	"privkern/experiments"
	"privkern/runner/execute/bench/curves"
	"privkern/runner/plan/sweep"
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

// warnOfCost warns of trials on own data that are predicted to take over ten minutes of processor time, or more memory
// than is available (0: unknown).
func (a *app) warnOfCost(trials []sweep.Assignment, available int64) error {
	costs, err := curves.Embedded()
	if err != nil {
		return err
	}
	worst, number := "", 0
	most := 0. // in shares of the limits
	for _, s := range trials {
		name, o, ok := experiments.OwnSize(s.Experiment, s.Params)
		if !ok {
			continue
		}
		size := curves.Size{Rows: o.Rows, Inputs: o.Inputs}
		time, known := costs.Predict(name, curves.Time, size)
		memory, _ := costs.Predict(name, curves.Memory, size)
		time.Cost *= o.Fits
		over := time.Cost / longCost
		if available > 0 {
			over = max(over, memory.Cost/float64(available))
		}
		if !known || over <= 1 {
			continue
		}
		number++
		if over > most {
			most = over
			worst = fmt.Sprintf("%s on %v: %s of processor time and %s of memory", s.Experiment.Name, size,
				time.Text(curves.Seconds), memory.Text(curves.Bytes))
			if available > 0 {
				worst += fmt.Sprintf(", of which %s are available", curves.Bytes(float64(available)))
			}
			if time.Beyond {
				worst += "; so large a size was not measured"
			}
		}
	}
	if number > 0 {
		a.complain("warning: %s predicted to take over ten minutes, or more memory than there is: %s", areTrials(number),
			worst)
	}
	return nil
}
