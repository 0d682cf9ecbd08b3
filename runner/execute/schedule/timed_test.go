package schedule_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// timedDemo has trials that are timed.
var timedDemo = func() *experiment.Experiment {
	e := *demo
	e.Name = "demo/timed"
	e.Metrics = append(slices.Clone(e.Metrics), experiment.Metric{Name: "time_s", Timing: true})
	return &e
}()

var bothDemos = experiment.NewRegistry(demo, timedDemo)

// mixedPlan has a timed trial first and after every two ordinary ones.
func mixedPlan(t *testing.T, n int) *plan.Plan {
	t.Helper()
	var settings []sweep.Assignment
	for x := range n {
		e := demo
		if x%3 == 0 {
			e = timedDemo
		}
		p, err := e.Resolve(map[string]any{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, sweep.Assignment{Experiment: e, Params: p})
	}
	p, err := plan.New(settings, data, plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// floor runs fake trials, and notes which of them overlap.
type floor struct {
	mu      sync.Mutex
	running map[string]trial.Job
	started chan struct{} // closed and made anew at every start
	order   []trial.Job
	shared  bool // a timed trial has overlapped another
	beside  bool // ordinary ones have
}

func newFloor() *floor { return &floor{running: map[string]trial.Job{}, started: make(chan struct{})} }

// Run gives another trial the time to start meanwhile, and ends as soon as one does.
func (f *floor) Run(ctx context.Context, job trial.Job, _ time.Duration, _ trial.ProgressFunc) (*record.Record, error) {
	f.mu.Lock()
	f.running[job.Key] = job
	f.order = append(f.order, job)
	for _, other := range f.running {
		if other.Key == job.Key {
			continue
		}
		if other.Experiment == timedDemo.Name || job.Experiment == timedDemo.Name {
			f.shared = true
		} else {
			f.beside = true
		}
	}
	close(f.started)
	f.started = make(chan struct{})
	next := f.started
	f.mu.Unlock()
	select {
	case <-next:
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
	}
	f.mu.Lock()
	delete(f.running, job.Key)
	f.mu.Unlock()
	e, err := bothDemos.Lookup(job.Experiment)
	if err != nil {
		return nil, err
	}
	return trial.Execute(ctx, e, job, nil, nil)
}

func (*floor) Close() {}

func (f *floor) options() schedule.Options {
	return schedule.Options{Jobs: 3, Workers: 2, Cores: 7, NewRunner: func() schedule.Runner { return f }}
}

func runMixed(ctx context.Context, t *testing.T, dir string, p *plan.Plan,
	opts schedule.Options) (schedule.Summary, error) {
	t.Helper()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	return schedule.Run(ctx, s, p, plan.Shard{}.Indices(len(p.Trials)), bothDemos, data, opts)
}

// A timed trial runs after the others, alone, on all cores, with a notice.
func TestTimedTrialsRunAlone(t *testing.T) {
	p, f := mixedPlan(t, 9), newFloor()
	opts := f.options()
	var notices []string
	opts.Notice = func(text string) { notices = append(notices, text) }
	sum, err := runMixed(context.Background(), t, t.TempDir(), p, opts)
	if err != nil || sum.OK != 9 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if f.shared || !f.beside {
		t.Errorf("timed trials beside others: %v; others beside each other: %v", f.shared, f.beside)
	}
	for i, job := range f.order {
		timed, workers := i >= 6, 2
		if timed {
			workers = 7
		}
		if (job.Experiment == timedDemo.Name) != timed || job.Workers != workers || job.Beside {
			t.Errorf("trial %d is one of %s with %d workers, %v", i, job.Experiment, job.Workers, job.Beside)
		}
	}
	const notice = "3 trials are timed and run one at a time, each alone, after the others (--share-timings: beside " +
		"others)"
	if !slices.Equal(notices, []string{notice}) {
		t.Errorf("%q", notices)
	}
}

// With ShareTimings they overlap others, with the workers of the others, and their jobs
// have a mark.
func TestSharedTimings(t *testing.T) {
	p, f := mixedPlan(t, 9), newFloor()
	opts := f.options()
	opts.ShareTimings = true
	opts.Notice = func(text string) { t.Errorf("notice: %s", text) }
	sum, err := runMixed(context.Background(), t, t.TempDir(), p, opts)
	if err != nil || sum.OK != 9 || !f.shared {
		t.Errorf("%+v, %v; beside each other: %v", sum, err, f.shared)
	}
	for _, job := range f.order {
		if job.Workers != 2 || job.Beside != (job.Experiment == timedDemo.Name) {
			t.Errorf("%s has %d workers, %v", job.Experiment, job.Workers, job.Beside)
		}
	}
}

// Two runners on one folder and machine keep each other's timed trials alone,
// too.
func TestTimedTrialsOfTwoRunnersRunAlone(t *testing.T) {
	dir, p, f := t.TempDir(), mixedPlan(t, 12), newFloor()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if sum, err := runMixed(context.Background(), t, dir, p, f.options()); err != nil || sum.OK != 12 {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
	wg.Wait()
	if f.shared || len(f.order) != 12 {
		t.Errorf("timed trials beside others: %v; %d trials ran", f.shared, len(f.order))
	}
}

// A runner that waits for a timed trial of another one gives one notice, and can be
// interrupted.
func TestWaitingForATimedTrialElsewhere(t *testing.T) {
	dir, p, f := t.TempDir(), mixedPlan(t, 3), newFloor()
	other, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	leave, ok, err := other.Enter(true)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer leave()
	ctx, cancel := context.WithCancel(context.Background())
	opts := f.options()
	notices := 0
	opts.Notice = func(text string) {
		if text == "waiting for another runner of this folder on this machine: a timed trial runs beside no other" {
			notices++
			cancel()
		}
	}
	sum, err := runMixed(ctx, t, dir, p, opts)
	if !errors.Is(err, context.Canceled) || sum.NotRun != 3 || notices != 1 || len(f.order) > 0 {
		t.Errorf("%+v, %v, %d notices, %d trials ran", sum, err, notices, len(f.order))
	}
}

// Without other numbers a timed trial has all cores, and others their share.
func TestCores(t *testing.T) {
	f := newFloor()
	opts := f.options()
	opts.Workers, opts.Cores, opts.Jobs = 0, 0, 2*runtime.GOMAXPROCS(0)
	if _, err := runMixed(context.Background(), t, t.TempDir(), mixedPlan(t, 2), opts); err != nil {
		t.Fatal(err)
	}
	if got := []int{f.order[0].Workers, f.order[1].Workers}; !slices.Equal(got, []int{1, runtime.GOMAXPROCS(0)}) {
		t.Errorf("workers %v", got)
	}
}
