package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// Noop is an experiment that computes nothing, so that what is left is the
// runner's own time.
var Noop = noop.Experiment

var noop = experiment.Of(experiment.Declaration[*noopSettings, noopMetrics]{
	Name: "bench/noop", Version: 1, Summary: "Compute nothing.", Source: "none",
	Run: func(_ context.Context, _ *experiment.Trial, s *noopSettings) (*experiment.Outcome[noopMetrics], error) {
		return &experiment.Outcome[noopMetrics]{Metrics: noopMetrics{Sum: s.X + s.Y}}, nil
	},
})()

type noopSettings struct {
	X      float64    `name:"x" default:"0" doc:"any number"`
	Y      float64    `name:"y" default:"0" doc:"any number"`
	Method noopMethod `name:"method" default:"a" doc:"any word"`
}

type noopMetrics struct {
	Sum float64 `name:"sum" doc:"x + y"`
}

type noopMethod int

func (noopMethod) Choices() []string { return []string{"a", "b"} }

var noops = experiment.NewRegistry(Noop)

type noData struct{}

func (noData) Find(string) (string, string, error) { return "", "", errors.New("no data") }

// Runner returns the benchmarks of the runner itself. newRunner makes workers
// that know Noop.
func Runner(newRunner func() schedule.Runner) []experiment.Benchmark {
	return []experiment.Benchmark{
		{Name: "runner/plan", Doc: "Plan a sweep of 100,000 trials.", Run: inFolder(planning)},
		{Name: "runner/overhead", Doc: "Run 500 trials that compute nothing, in worker processes.",
			Run: inFolder(func(ctx context.Context, m experiment.Meter, dir string) error {
				return overhead(ctx, m, dir, newRunner)
			})},
		{Name: "runner/resume", Doc: "Resume a finished sweep of 10,000 trials.",
			Run: inFolder(func(ctx context.Context, m experiment.Meter, dir string) error {
				return resume(ctx, m, dir, newRunner)
			})},
	}
}

// inFolder gives a benchmark an empty output folder.
func inFolder(run func(ctx context.Context, m experiment.Meter,
	dir string) error) func(context.Context, experiment.Meter) error {
	return func(ctx context.Context, m experiment.Meter) error {
		dir, err := os.MkdirTemp("", "privkern-bench-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		return run(ctx, m, dir)
	}
}

// makePlan plans n trials from a sweep file, as the command line does.
func makePlan(n int) (*plan.Plan, error) {
	text := fmt.Sprintf("experiment: bench/noop\nsweep:\n  x: linspace(0,1,%d)\n  method: [a, b]\n", n/2)
	s, err := sweep.Read("bench.yaml", []byte(text), sweep.Names{Experiments: noops})
	if err != nil {
		return nil, err
	}
	x, err := s.Expand()
	if err != nil {
		return nil, err
	}
	return plan.New(x.Settings, plan.NewDatasets(noData{}), plan.Options{Title: "bench", Backend: "cpu", DType: "float64"})
}

func planning(_ context.Context, m experiment.Meter, dir string) error {
	const trials = 100_000
	return m.Memory("memory", experiment.Target{AtMost: 500}, func() error {
		start := time.Now()
		p, err := makePlan(trials)
		if err != nil {
			return err
		}
		s, err := store.Create(dir)
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		if err := s.FreezePlan(p, noops, false); err != nil {
			return err
		}
		if len(p.Trials) != trials {
			return fmt.Errorf("planned %d trials", len(p.Trials))
		}
		m.Value("100,000 trials: expand, key, freeze", time.Since(start).Seconds(), "s", experiment.Target{AtMost: 2})
		return nil
	})
}

func runPlan(ctx context.Context, dir string, p *plan.Plan, jobs int,
	newRunner func() schedule.Runner) (schedule.Summary, float64, error) {
	s, err := store.Create(dir)
	if err != nil {
		return schedule.Summary{}, 0, err
	}
	defer func() { _ = s.Close() }()
	start := time.Now()
	if err := s.FreezePlan(p, noops, false); err != nil {
		return schedule.Summary{}, 0, err
	}
	sum, err := schedule.Run(ctx, s, p, plan.Shard{}.Indices(len(p.Trials)), noops, plan.NewDatasets(noData{}),
		schedule.Options{Jobs: jobs, Host: record.Provenance{}, NewRunner: newRunner})
	if err == nil && sum.OK != len(p.Trials) {
		err = fmt.Errorf("%+v", sum)
	}
	return sum, time.Since(start).Seconds(), err
}

func overhead(ctx context.Context, m experiment.Meter, dir string, newRunner func() schedule.Runner) error {
	const trials = 500
	p, err := makePlan(trials)
	if err != nil {
		return err
	}
	_, elapsed, err := runPlan(ctx, dir, p, 1, newRunner)
	if err != nil {
		return err
	}
	m.Value("a trial, one worker, start of the worker included", elapsed/trials*1e3, "ms", experiment.Target{AtMost: 2})
	m.Value("a durable file (written, synced, renamed)", syncTime(dir)*1e3, "ms", experiment.Target{})
	return nil
}

// syncTime measures what the disk alone takes for a file the size of a record.
func syncTime(dir string) float64 {
	const files = 50
	data := []byte(strings.Repeat("x", 900))
	start := time.Now()
	for i := range files {
		if err := disk.WriteFile(disk.System, fmt.Sprintf("%s/sync%d", dir, i), data); err != nil {
			return 0
		}
	}
	return time.Since(start).Seconds() / files
}

func resume(ctx context.Context, m experiment.Meter, dir string, newRunner func() schedule.Runner) error {
	const trials = 10_000
	p, err := makePlan(trials)
	if err != nil {
		return err
	}
	if _, _, err := runPlan(ctx, dir, p, runtime.NumCPU(), newRunner); err != nil {
		return err
	}
	start := time.Now()
	if p, err = makePlan(trials); err != nil {
		return err
	}
	sum, _, err := runPlan(ctx, dir, p, runtime.NumCPU(), newRunner)
	if err != nil {
		return err
	}
	if sum.Cached != trials {
		return fmt.Errorf("%d of %d trials were taken from before", sum.Cached, trials)
	}
	m.Value("10,000 finished trials: plan, read, answer", time.Since(start).Seconds(), "s", experiment.Target{AtMost: 3})
	return nil
}
