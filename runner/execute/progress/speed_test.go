package progress_test

import (
	"testing"
	"time"

	"privkern/runner/execute/progress"
	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// BenchmarkForecast measures the forecast of 100,000 trials of as many settings; a
// tenth have run.
func BenchmarkForecast(b *testing.B) {
	w := plan.Workload{Plan: &plan.Plan{}, Jobs: 8}
	for i := range 100_000 {
		w.Plan.Trials = append(w.Plan.Trials,
			plan.Trial{Identity: experiment.Identity{Experiment: "demo/a", Params: experiment.Params{
				"c": float64(i/2) + 0.5, "theta": i % 2, "points": 3, "method": "sparse", "data": "kung", "folds": 14}}})
		if i%10 == 0 {
			w.Past = append(w.Past, plan.Past{Index: i, Seconds: 0.1})
		} else {
			w.Pending = append(w.Pending, i)
		}
	}
	start := time.Unix(1_700_000_000, 0)
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			progress.NewForecast(w, start)
		}
	})
	f := progress.NewForecast(w, start)
	b.Run("left", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.Ended(w.Plan.Trials[1], 0.1)
			f.Left(start)
		}
	})
}
