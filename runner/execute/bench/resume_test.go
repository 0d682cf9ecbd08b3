package bench

import (
	"testing"

	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
)

// BenchmarkResume is the benchmark runner/resume within one process: the plan of
// 1,000 finished trials is made, and their records are read.
func BenchmarkResume(b *testing.B) {
	const trials = 1000
	dir := b.TempDir()
	p, err := makePlan(trials)
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Create(dir)
	if err != nil {
		b.Fatal(err)
	}
	if err := s.FreezePlan(p, noops, false); err != nil {
		b.Fatal(err)
	}
	for _, t := range p.Trials {
		r, err := trial.Execute(b.Context(), Noop, trial.Job{
			Key: t.Key, Identity: t.Identity,
			Host: record.Provenance{Version: "1.0", Go: "go1.26", CPU: "a processor"},
		}, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Put(r); err != nil {
			b.Fatal(err)
		}
	}
	_ = s.Close()
	for b.Loop() {
		if p, err = makePlan(trials); err != nil {
			b.Fatal(err)
		}
		s, err := store.Create(dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.FreezePlan(p, noops, false); err != nil {
			b.Fatal(err)
		}
		sum, err := schedule.Run(b.Context(), s, p, plan.Shard{}.Indices(trials), noops, plan.NewDatasets(noData{}),
			schedule.Options{Jobs: 1, NewRunner: func() schedule.Runner { return nopRunner{} }})
		_ = s.Close()
		if err != nil || sum.Cached != trials {
			b.Fatal(sum, err)
		}
	}
}

// nopRunner has nothing to run.
type nopRunner struct{ schedule.Runner }

func (nopRunner) Close() {}
