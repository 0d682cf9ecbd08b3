package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

var demonstration = experiment.Of(experiment.Declaration[*demoSettings, demoMetrics]{
	Name: "demo/a", Version: 1,
	Datasets: func(s *demoSettings) []string {
		if s.Data != "" {
			return []string{s.Data}
		}
		return nil
	},
	Run: func(_ context.Context, t *experiment.Trial, s *demoSettings) (*experiment.Outcome[demoMetrics], error) {
		if s.X == 13 {
			return nil, errors.New("unlucky")
		}
		y := t.Stream("noise").NormFloat64() + float64(s.X)
		return &experiment.Outcome[demoMetrics]{Metrics: demoMetrics{Y: y}}, nil
	},
})()

type demoSettings struct {
	X    int    `name:"x" default:"0" doc:"what noise is added to"`
	Data string `name:"data" default:"" doc:"a data set"`
}

type demoMetrics struct {
	Y float64 `name:"y" doc:"x with noise"`
}

var demo = demonstration.Experiment

// large is the demonstration whose trials need x GiB.
func large() *experiment.Experiment {
	e := *demo
	e.Memory = func(p experiment.Params) int64 { return int64(demonstration.Settings(p).X) << 30 }
	return &e
}

var registry = experiment.NewRegistry(demo)

// inProcess runs jobs in the test's process and counts how often each ran.
type inProcess struct {
	runs  *sync.Map
	delay time.Duration
}

func (r inProcess) Run(ctx context.Context, job trial.Job, _ time.Duration,
	progress trial.ProgressFunc) (*record.Record, error) {
	n, _ := r.runs.LoadOrStore(job.Key, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	select {
	case <-time.After(r.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return trial.Execute(ctx, demo, job, nil, progress)
}

func (inProcess) Close() {}

type noData struct{}

func (noData) Find(name string) (string, string, error) {
	if name == "wrong" {
		return "", "digest of " + name, errors.New("the file is not what it should be")
	}
	return "", "digest of " + name, missingError{name}
}

type missingError struct{ name string }

func (m missingError) Error() string  { return fmt.Sprintf("the data set %q is not there", m.name) }
func (m missingError) Advice() string { return "run data fetch " + m.name }

var data = plan.NewDatasets(noData{})

func makePlan(t *testing.T, n int, extra ...map[string]any) *plan.Plan {
	t.Helper()
	var settings []sweep.Assignment
	for x := range n {
		extra = append(extra, map[string]any{"x": x})
	}
	for i, given := range extra {
		p, err := demo.Resolve(given)
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, sweep.Assignment{Experiment: demo, Params: p, Seed: int64(i % 3)})
	}
	p, err := plan.New(settings, data, plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(ctx context.Context, t *testing.T, dir string, p *plan.Plan, shard plan.Shard,
	opts schedule.Options) (schedule.Summary, error) {
	t.Helper()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	return schedule.Run(ctx, s, p, shard.Indices(len(p.Trials)), registry, data, opts)
}

func options(jobs int, runs *sync.Map, delay time.Duration) schedule.Options {
	return schedule.Options{Jobs: jobs, NewRunner: func() schedule.Runner { return inProcess{runs, delay} }}
}

func count(runs *sync.Map) (trials, times int64) {
	runs.Range(func(_, n any) bool {
		trials++
		times += n.(*atomic.Int64).Load()
		return true
	})
	return trials, times
}

// results reads metrics by key.
func results(t *testing.T, dir string, p *plan.Plan) map[string]float64 {
	t.Helper()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out := map[string]float64{}
	for _, tr := range p.Trials {
		if r, ok, err := s.Get(tr.Key); err != nil {
			t.Fatal(err)
		} else if ok {
			out[tr.Key] = demonstration.Values(r.Metrics).Y
		}
	}
	return out
}

func TestResultsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	p := makePlan(t, 12)
	var first map[string]float64
	for _, jobs := range []int{1, 2, 7} {
		dir := t.TempDir()
		sum, err := run(context.Background(), t, dir, p, plan.Shard{}, options(jobs, &sync.Map{}, 0))
		if err != nil || sum.OK != 12 || sum.NotRun != 0 {
			t.Fatalf("%d jobs: %+v, %v", jobs, sum, err)
		}
		got := results(t, dir, p)
		if first == nil {
			first = got
		}
		for k, v := range first {
			if got[k] != v {
				t.Errorf("%d jobs: trial %.8s gave %v, not %v", jobs, k, got[k], v)
			}
		}
	}
}

func TestFailuresSkipsAndRetries(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 20, map[string]any{"data": "missing"}, map[string]any{"data": "wrong"})
	var runs sync.Map
	sum, err := run(context.Background(), t, dir, p, plan.Shard{}, options(2, &runs, 0))
	if err != nil || sum.OK != 19 || sum.Failed != 2 || sum.Skipped != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	for _, c := range []struct {
		retry schedule.Retry
		again int64
	}{{schedule.RetryNone, 0}, {schedule.RetryFailed, 1}, {schedule.RetryAll, 20}} {
		t.Run(fmt.Sprintf("retry %q", c.retry), func(t *testing.T) {
			runs.Clear()
			opts := options(2, &runs, 0)
			opts.Retry = c.retry
			sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
			if err != nil || sum.OK != 19 || sum.Failed != 2 || sum.Skipped != 1 {
				t.Errorf("retry %q: %+v, %v", c.retry, sum, err)
			}
			if _, times := count(&runs); times != c.again {
				t.Errorf("retry %q ran %d trials again, not %d", c.retry, times, c.again)
			}
		})
	}
}

// A trial that was skipped for want of data runs when they are there.
func TestSkippedTrialsAreLookedAtAgain(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 0, map[string]any{"data": "missing"})
	if sum, err := run(context.Background(), t, dir, p, plan.Shard{}, options(1, &sync.Map{}, 0)); err != nil ||
		sum.Skipped != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	sum, err := schedule.Run(context.Background(), s, p, []int{0}, registry, plan.NewDatasets(allData{}),
		options(1, &sync.Map{}, 0))
	if err != nil || sum.OK != 1 || sum.Cached != 0 {
		t.Errorf("with data: %+v, %v", sum, err)
	}
}

// allData has every data set.
type allData struct{}

func (allData) Find(name string) (string, string, error) {
	return "folder of " + name, "digest of " + name, nil
}

// runnerFunc is a runner of one function.
type runnerFunc func(context.Context, trial.Job, time.Duration) (*record.Record, error)

func (f runnerFunc) Run(ctx context.Context, job trial.Job, limit time.Duration,
	_ trial.ProgressFunc) (*record.Record, error) {
	return f(ctx, job, limit)
}

func (runnerFunc) Close() {}

// A runner gets with each trial all that determines its result.
func TestJobsAreThePlansTrials(t *testing.T) {
	params, err := demo.Resolve(map[string]any{"x": 5, "data": "kung"})
	if err != nil {
		t.Fatal(err)
	}
	data := plan.NewDatasets(allData{})
	p, err := plan.New([]sweep.Assignment{{Experiment: demo, Params: params, Seed: 3}}, data,
		plan.Options{Backend: "cuda", DType: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(disk.System, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var got trial.Job
	var noticed []string
	sum, err := schedule.Run(context.Background(), s, p, []int{0}, registry, data, schedule.Options{
		Workers: 4, Timeout: time.Minute, SharedLimit: 7, Notice: func(text string) { noticed = append(noticed, text) },
		NewRunner: func() schedule.Runner {
			return runnerFunc(func(ctx context.Context, job trial.Job, limit time.Duration) (*record.Record, error) {
				if limit != time.Minute {
					t.Errorf("time limit %v", limit)
				}
				job.Notice("once")
				job.Notice("once")
				got, got.Notice = job, nil
				return trial.Execute(ctx, demo, job, nil, nil)
			})
		},
	})
	want := trial.Job{
		Key: p.Trials[0].Key,
		Identity: experiment.Identity{
			Experiment: "demo/a", ResultVersion: 1, Params: params, Seed: 3,
			Backend: "cuda", DType: "float32", Datasets: map[string]string{"kung": "digest of kung"},
		},
		Workers: 4, Folders: map[string]string{"kung": "folder of kung"},
		Shared: trial.SharedWork{Dir: s.Dir(), Limit: 7},
	}
	if len(noticed) != 1 {
		t.Errorf("noticed %q; many trials may say the same", noticed)
	}
	if err != nil || sum.OK != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\ngot  %+v\nwant %+v", sum, err, got, want)
	}
}

// A runner's trouble, such as a crash, costs that trial only, and is reported
// whenever the sweep is started.
func TestTroubleOfARunnerIsThatTrialsFailure(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 3)
	for i, before := range []string{"", p.Trials[1].Key + ": out of memory"} {
		var noticeLog failureLog
		sum, err := run(context.Background(), t, dir, p, plan.Shard{}, schedule.Options{
			Observer: &noticeLog,
			NewRunner: func() schedule.Runner {
				return runnerFunc(func(ctx context.Context, job trial.Job, _ time.Duration) (*record.Record, error) {
					if job.Key == p.Trials[1].Key {
						return nil, errors.New("out of memory")
					}
					return trial.Execute(ctx, demo, job, nil, nil)
				})
			},
		})
		if err != nil || sum.OK != 2 || sum.Failed != 1 || sum.Cached != 3*i || noticeLog.text != before {
			t.Errorf("run %d: %+v, %v, failed before: %q", i, sum, err, noticeLog.text)
		}
	}
	// In a part of the plan, positions are not those of the plan.
	var noticeLog failureLog
	opts := options(1, &sync.Map{}, 0)
	opts.Observer = &noticeLog
	if _, err := run(context.Background(), t, dir, p, plan.Shard{Index: 1, Count: 2}, opts); err != nil ||
		noticeLog.text != p.Trials[1].Key+": out of memory" {
		t.Errorf("in the second part: %q, %v", noticeLog.text, err)
	}
}

type failureLog struct {
	stopAfter
	text string
}

func (f *failureLog) FailedBefore(t plan.Trial, reason string) { f.text += t.Key + ": " + reason }

// A machine that can start no worker, because its program is gone, has no results: it
// must not turn the rest of a sweep into failures.
func TestNoWorkerIsNoFailure(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 5)
	sum, err := run(context.Background(), t, dir, p, plan.Shard{}, schedule.Options{NewRunner: func() schedule.Runner {
		return runnerFunc(func(ctx context.Context, job trial.Job, _ time.Duration) (*record.Record, error) {
			if job.Key == p.Trials[2].Key {
				return nil, fmt.Errorf("%w: no such file", trial.ErrNotStarted)
			}
			return trial.Execute(ctx, demo, job, nil, nil)
		})
	}})
	if want := (schedule.Summary{Total: 5, OK: 2, NotRun: 3}); !errors.Is(err, trial.ErrNotStarted) || sum != want {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := results(t, dir, p); len(got) != 2 {
		t.Errorf("records %v", got)
	}
}

// An interrupted trial has no result, not a failed one.
func TestAnInterruptedTrialHasNoRecord(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 2)
	ctx, cancel := context.WithCancel(context.Background())
	sum, err := run(ctx, t, dir, p, plan.Shard{}, schedule.Options{NewRunner: func() schedule.Runner {
		return runnerFunc(func(ctx context.Context, _ trial.Job, _ time.Duration) (*record.Record, error) {
			cancel()
			return nil, fmt.Errorf("the worker was ended: %w", ctx.Err())
		})
	}})
	if want := (schedule.Summary{Total: 2, NotRun: 2}); !errors.Is(err, context.Canceled) || sum != want {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := results(t, dir, p); len(got) > 0 {
		t.Errorf("records %v", got)
	}
}

func TestFailFastStops(t *testing.T) {
	p := makePlan(t, 40)
	opts := options(1, &sync.Map{}, 0)
	opts.FailFast = true
	sum, err := run(context.Background(), t, t.TempDir(), p, plan.Shard{}, opts)
	if !errors.Is(err, schedule.ErrFailFast) || sum.OK != 13 || sum.Failed != 1 || sum.NotRun != 26 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestShardsPartitionThePlan(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 13)
	var runs sync.Map
	for i := range 4 {
		if _, err := run(context.Background(), t, dir, p, plan.Shard{Index: i, Count: 4}, options(2, &runs, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if trials, times := count(&runs); trials != 13 || times != 13 {
		t.Errorf("%d trials ran %d times", trials, times)
	}
}

// Two runners on one folder run every trial once, and both see all results.
func TestTwoRunnersShareAFolder(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 12)
	var runs sync.Map
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if sum, err := run(context.Background(), t, dir, p, plan.Shard{},
				options(2, &runs, 5*time.Millisecond)); err != nil || sum.OK != 12 {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
	wg.Wait()
	if trials, times := count(&runs); trials != 12 || times != 12 {
		t.Errorf("%d trials ran %d times", trials, times)
	}
}

// So do two that both run everything again: once again, not twice.
func TestTwoRunnersRetryOnce(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 4)
	if _, err := run(context.Background(), t, dir, p, plan.Shard{}, options(1, &sync.Map{}, 0)); err != nil {
		t.Fatal(err)
	}
	var runs sync.Map
	var both, wg sync.WaitGroup
	both.Add(2)
	for range 2 {
		wg.Go(func() {
			opts := options(1, &runs, 5*time.Millisecond)
			opts.Retry = schedule.RetryAll
			newRunner := opts.NewRunner
			opts.NewRunner = func() schedule.Runner { // neither begins before the other has read the folder
				both.Done()
				both.Wait()
				return newRunner()
			}
			if sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts); err != nil || sum.OK != 4 {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
	wg.Wait()
	if trials, times := count(&runs); trials != 4 || times != 4 {
		t.Errorf("%d trials ran %d times", trials, times)
	}
}

// Records that a clock dates into the future, or long ago, are run again all
// the same, and once.
func TestRetryDoesNotTrustClocks(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 4)
	if _, err := run(context.Background(), t, dir, p, plan.Shard{}, options(1, &sync.Map{}, 0)); err != nil {
		t.Fatal(err)
	}
	for i, tr := range p.Trials {
		when := time.Now().AddDate(20*(i%2)-10, 0, 0)
		if err := os.Chtimes(filepath.Join(dir, "trials", tr.Key+".json"), when, when); err != nil {
			t.Fatal(err)
		}
	}
	var runs sync.Map
	opts := options(2, &runs, 0)
	opts.Retry = schedule.RetryAll
	if _, err := run(context.Background(), t, dir, p, plan.Shard{}, opts); err != nil {
		t.Fatal(err)
	}
	if trials, times := count(&runs); trials != 4 || times != 4 {
		t.Errorf("%d trials ran %d times", trials, times)
	}
}

// A trial that does not fit into the memory is not started, and no more of the others
// run at a time than fit.
func TestMemory(t *testing.T) {
	all := experiment.NewRegistry(large())
	dir, p := t.TempDir(), makePlan(t, 6)
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var runs sync.Map
	var notices []string
	opts := options(3, &runs, 0)
	opts.Memory = 9 << 29 // 4.5 GiB: x = 5 does not fit, and x = 4 only alone
	opts.Notice = func(text string) { notices = append(notices, text) }
	watch := &noticeLog{}
	opts.Observer = watch
	sum, err := schedule.Run(context.Background(), s, p, plan.Shard{}.Indices(6), all, data, opts)
	if err != nil || sum.OK != 5 || sum.NotRun != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	const notice = "up to 3 at a time: a trial needs about 0.1 GiB to 4.0 GiB, 4.5 GiB are available; " +
		"1 trial of up to about 4.0 GiB runs beside fewer; --ignore-memory runs as many as asked for"
	if !slices.Equal(notices, []string{notice}) {
		t.Errorf("%q", notices)
	}
	// That is the machine's doing: a larger one runs it with the same command.
	if r, ok, err := s.Get(p.Trials[5].Key); ok || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if len(watch.lines) != 1 ||
		!strings.HasPrefix(watch.lines[0], "given up: needs about 5.0 GiB, 4.5 GiB are available: ") {
		t.Errorf("%q", watch.lines)
	}
	if trials, _ := count(&runs); trials != 5 {
		t.Errorf("%d trials ran", trials)
	}
}

// A trial that another runner holds is waited for, with one notice; it is run where the
// other one gives it back without a result.
func TestWaitingForAnotherRunner(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 4)
	other, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	var unlock [2]func()
	for i := range unlock {
		var ok bool
		if unlock[i], ok, err = other.Lock(p.Trials[i].Key); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	opts := options(1, &sync.Map{}, 0)
	w := &waiter{stopAfter: stopAfter{n: -1}, waiting: func() { unlock[0](); unlock[1]() }}
	opts.Observer = w
	sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
	if err != nil || sum.OK != 4 || !reflect.DeepEqual(w.counts, []int{2}) {
		t.Errorf("%+v, %v, waiting for %v", sum, err, w.counts)
	}
}

// waiter counts the calls of Waiting.
type waiter struct {
	stopAfter
	counts  []int
	waiting func()
}

func (w *waiter) Waiting(n int) {
	w.counts = append(w.counts, n)
	w.waiting()
}

func TestInterruptionKeepsWhatIsFinished(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 12)
	ctx, cancel := context.WithCancel(context.Background())
	opts := options(2, &sync.Map{}, 2*time.Millisecond)
	opts.Observer = &stopAfter{n: 3, cancel: cancel}
	sum, err := run(ctx, t, dir, p, plan.Shard{}, opts)
	if !errors.Is(err, context.Canceled) || sum.OK < 3 || sum.NotRun == 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	var runs sync.Map
	again, err := run(context.Background(), t, dir, p, plan.Shard{}, options(2, &runs, 0))
	if err != nil || again.OK != 12 || again.Cached != sum.OK {
		t.Errorf("%+v, %v", again, err)
	}
	if _, times := count(&runs); int(times) != 12-sum.OK {
		t.Errorf("%d trials ran again; %d were finished", times, sum.OK)
	}
}

type stopAfter struct {
	n      int
	cancel func()
}

func (*stopAfter) Ahead(plan.Workload)                {}
func (*stopAfter) Planned(int, int)                   {}
func (*stopAfter) FailedBefore(plan.Trial, string)    {}
func (*stopAfter) Started(plan.Trial)                 {}
func (*stopAfter) Inner(plan.Trial, int, int, string) {}
func (*stopAfter) Elsewhere(plan.Trial)               {}
func (*stopAfter) Waiting(int)                        {}
func (*stopAfter) Aside(store.Aside)                  {}
func (*stopAfter) Again(plan.Trial, *trial.Trouble, int, int, time.Duration) {
}
func (*stopAfter) GivenUp(plan.Trial, *trial.Trouble, int) {}
func (s *stopAfter) Finished(plan.Trial, *record.Record) {
	if s.n--; s.n == 0 {
		s.cancel()
	}
}

// A folder that cannot be written ends the run with an error that names the trial, and
// earlier results stay.
func TestUnwritableFolder(t *testing.T) {
	for name, before := range map[string]int{"between two trials": 0, "during the second trial": 2} {
		t.Run(name, func(t *testing.T) {
			dir, p := t.TempDir(), makePlan(t, 3)
			opts := options(1, &sync.Map{}, 0)
			opts.Observer = &breakFolder{dir: dir, t: t, started: before}
			sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
			if err == nil || sum.OK != 1 || sum.NotRun != 2 {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
}

// breakFolder replaces the folder of the trials by a file: after the first
// result, or when trial number started starts.
type breakFolder struct {
	stopAfter
	dir     string
	t       *testing.T
	started int
}

func (b *breakFolder) Started(plan.Trial) {
	if b.started--; b.started == 0 {
		b.breakIt()
	}
}

func (b *breakFolder) Finished(plan.Trial, *record.Record) {
	if b.started < 0 {
		b.breakIt()
	}
}

func (b *breakFolder) breakIt() {
	trials := filepath.Join(b.dir, "trials")
	if err := os.Rename(trials, trials+".kept"); err != nil {
		b.t.Error(err)
	}
	if err := os.WriteFile(trials, nil, 0o600); err != nil {
		b.t.Error(err)
	}
}

func TestParseShard(t *testing.T) {
	if s, err := plan.ParseShard("2/3"); err != nil || s != (plan.Shard{Index: 1, Count: 3}) {
		t.Errorf("%v %v", s, err)
	}
	for _, bad := range []string{"", "0/3", "4/3", "1", "a/b", "1/0", "-1/2"} {
		if _, err := plan.ParseShard(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
