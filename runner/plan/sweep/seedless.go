package sweep

import "privkern/runner/experiment"

// distinctSeeds returns the seeds that give different results: the first alone where a trial
// with these settings draws nothing at random ([experiment.Declaration.Seedless]). Trials that
// measure time keep all seeds, since a time scatters.
func (x *expander) distinctSeeds(e *experiment.Experiment, params experiment.Params, seeds []int64) []int64 {
	if len(seeds) < 2 || e.Seedless == nil || e.Timed() || !e.Seedless(params) {
		return seeds
	}
	x.out.Seedless += len(seeds) - 1
	return seeds[:1]
}
