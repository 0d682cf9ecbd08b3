package recognise

import (
	"fmt"
	"slices"

	"privkern/experiments/learn"
	"privkern/experiments/learn/infer"
	"privkern/graphs/engine"
)

// discloseMore has all adversaries recognise people, where the setting asks for it.
func (r *recognition) discloseMore() error {
	if r.settings.Adversaries == FewAdversaries {
		return nil
	}
	found, err := infer.Run(r.ctx, infer.Means{Engine: engine.Of(r.Engine), Workers: r.Workers, Stream: r.Stream,
		Step: r.step}, &infer.Problem{Train: r.features.Train, Labels: r.train.Privacy, Folds: blocks(r.train),
		Test: r.features.Test, Truth: r.test.Privacy, Groups: infer.GroupsOf(r.test.Privacy)})
	if err != nil {
		return err
	}
	single, pooled := infer.IntervalOf(found.Chosen.Right, r.test.Privacy), infer.IntervalOf(found.Chosen.Pooled, nil)
	percent := func(share float64) *float64 { return new(100 * share) }
	r.metrics.ChosenMetrics = ChosenMetrics{percent(single.Share), percent(single.Low), percent(single.High),
		percent(pooled.Share), percent(pooled.Low), percent(pooled.High)}
	for _, f := range found.All {
		switch {
		case f.Skipped != "":
			r.warnings = append(r.warnings, fmt.Sprintf("adversary: no %s: %s", f.Adversary, f.Skipped))
		case f == found.Chosen && f.Untuned != "":
			r.warnings = append(r.warnings, fmt.Sprintf("adversary_chosen_percent, of the %s: %s was best at an end of the "+
				"values that were tried; a stronger one of the kind may exist", f.Adversary, f.Untuned))
		}
	}
	return nil
}

// blocks are three parts of training samples, in which adversaries are tuned: the first, second and last third of each
// person at each activity, in the order of time. Neighbours overlap, and parts of them drawn at random would favour
// those who remember.
func blocks(s Samples) []learn.Fold {
	const parts = 3
	folds := make([]learn.Fold, parts)
	for _, rows := range infer.GroupsOf(s.Privacy, s.Utility) {
		for i, row := range rows {
			for part := range folds {
				if i*parts/len(rows) == part {
					folds[part].Test = append(folds[part].Test, row)
				} else {
					folds[part].Train = append(folds[part].Train, row)
				}
			}
		}
	}
	for _, f := range folds {
		slices.Sort(f.Train)
		slices.Sort(f.Test)
	}
	return slices.DeleteFunc(folds, func(f learn.Fold) bool { return len(f.Test) == 0 })
}
