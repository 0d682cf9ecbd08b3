package schedule_test

import (
	"fmt"
	"sync"
	"testing"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// sweepOf plans n trials from a sweep file, as the command line does.
func sweepOf(b *testing.B, n int) *plan.Plan {
	b.Helper()
	text := fmt.Sprintf("experiment: demo/a\nseeds: 0..%d\n", n-1)
	s, err := sweep.Read("bench.yaml", []byte(text), sweep.Names{Experiments: registry})
	if err != nil {
		b.Fatal(err)
	}
	x, err := s.Expand()
	if err != nil {
		b.Fatal(err)
	}
	p, err := plan.New(x.Settings, data, plan.Options{Title: "bench", Backend: "cpu", DType: "float64"})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func runSweep(b *testing.B, dir string, p *plan.Plan) schedule.Summary {
	b.Helper()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(p, registry, false); err != nil {
		b.Fatal(err)
	}
	sum, err := schedule.Run(b.Context(), s, p, plan.Shard{}.Indices(len(p.Trials)), registry, data,
		options(2, new(sync.Map), 0))
	if err != nil || sum.OK != len(p.Trials) {
		b.Fatal(sum, err)
	}
	return sum
}

// BenchmarkPlan plans a sweep of 100,000 trials: it expands, keys and freezes.
func BenchmarkPlan(b *testing.B) {
	for b.Loop() {
		p := sweepOf(b, 100_000)
		s, err := store.Create(disk.System, b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.FreezePlan(p, registry, false); err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
	}
}

// BenchmarkOverhead runs 500 trials that compute next to nothing, in this process.
func BenchmarkOverhead(b *testing.B) {
	p := sweepOf(b, 500)
	for b.Loop() {
		runSweep(b, b.TempDir(), p)
	}
}

// BenchmarkResume resumes a finished sweep of 10,000 trials.
func BenchmarkResume(b *testing.B) {
	dir := b.TempDir()
	runSweep(b, dir, sweepOf(b, 10_000))
	for b.Loop() {
		if sum := runSweep(b, dir, sweepOf(b, 10_000)); sum.Cached != 10_000 {
			b.Fatal(sum)
		}
	}
}
