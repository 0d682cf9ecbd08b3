package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"privkern/runner/execute/machine"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

func killed() error {
	return &trial.Trouble{Machine: true, Reason: "the worker process was killed",
		Advice: "use --jobs 1", Output: "last words"}
}

// troubleTrial is a runner that meets trouble in the first runs of a trial.
type troubleTrial struct {
	key     string
	times   int64
	runs    atomic.Int64
	trouble func() error
}

func (r *troubleTrial) runner() schedule.Runner {
	return runnerFunc(func(ctx context.Context, job trial.Job, _ time.Duration) (*record.Record, error) {
		if job.Key == r.key && r.runs.Add(1) <= r.times {
			return nil, r.trouble()
		}
		return trial.Execute(ctx, demo, job, nil, nil)
	})
}

// noticeLog keeps the machine trouble that an observer receives.
type noticeLog struct {
	stopAfter
	lines []string
}

func (o *noticeLog) Again(_ plan.Trial, why *trial.Trouble, try, tries int, pause time.Duration) {
	o.lines = append(o.lines, fmt.Sprintf("again: %s, %d of %d, %v", why.Reason, try, tries, pause))
}

func (o *noticeLog) GivenUp(_ plan.Trial, why *trial.Trouble, tries int) {
	o.lines = append(o.lines, fmt.Sprintf("given up: %s, %d, %s", why.Reason, tries, why.Advice))
}

// A trial that the machine keeps from a result is run again, up to the limit; then it
// has no record, and the others have theirs.
func TestRequeue(t *testing.T) {
	again := func(try, tries, ms int) string {
		return fmt.Sprintf("again: the worker process was killed, %d of %d, %dms", try, tries, ms)
	}
	givenUp := func(tries int) string {
		return fmt.Sprintf("given up: the worker process was killed, %d, use --jobs 1", tries)
	}
	for _, c := range []struct {
		name     string
		requeue  int
		times    int64 // that there is trouble
		failFast bool
		want     schedule.Summary
		notices  []string
	}{
		{"once", 2, 1, false, schedule.Summary{Total: 3, OK: 3}, []string{again(1, 3, 1)}},
		{"twice", 2, 2, false, schedule.Summary{Total: 3, OK: 3}, []string{again(1, 3, 1), again(2, 3, 2)}},
		{"too often", 2, 3, false, schedule.Summary{Total: 3, OK: 2, NotRun: 1},
			[]string{again(1, 3, 1), again(2, 3, 2), givenUp(3)}},
		{"never again", 0, 1, false, schedule.Summary{Total: 3, OK: 2, NotRun: 1}, []string{givenUp(1)}},
		{"too often, and it is to stop", 0, 1, true, schedule.Summary{Total: 3, OK: 1, NotRun: 2}, []string{givenUp(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, p := t.TempDir(), makePlan(t, 3)
			r := &troubleTrial{key: p.Trials[1].Key, times: c.times, trouble: killed}
			var o noticeLog
			opts := schedule.Options{NewRunner: r.runner, Observer: &o, Requeue: c.requeue,
				Pause: time.Millisecond, FailFast: c.failFast}
			sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
			if errors.Is(err, schedule.ErrFailFast) != c.failFast || err != nil && !c.failFast || sum != c.want {
				t.Errorf("%+v, %v", sum, err)
			}
			if !reflect.DeepEqual(o.lines, c.notices) {
				t.Errorf("notices %q", o.lines)
			}
			if n := len(results(t, dir, p)); n != c.want.OK {
				t.Errorf("%d records", n)
			}
			raw, err := os.ReadFile(filepath.Join(dir, "logs", p.Trials[1].Key+".log"))
			if err != nil || !strings.HasPrefix(string(raw), p.Trials[1].Key+"\ndemo/a --seed 1\n") ||
				!strings.HasSuffix(string(raw), "the worker process was killed\n\nlast words\n") {
				t.Errorf("%s, %v", raw, err)
			}
			// The same command runs the trials without a result.
			sum, err = run(context.Background(), t, dir, p, plan.Shard{}, options(1, &sync.Map{}, 0))
			if err != nil || sum.OK != 3 || sum.Cached != c.want.OK {
				t.Errorf("again: %+v, %v", sum, err)
			}
		})
	}
}

// The last run of a trial in trouble is alone on the machine.
func TestLastRunIsAlone(t *testing.T) {
	p := makePlan(t, 12)
	var running, beside atomic.Int64
	tries := 0
	opts := schedule.Options{
		Jobs: 4, Requeue: 1, Pause: time.Millisecond,
		NewRunner: func() schedule.Runner {
			return runnerFunc(func(ctx context.Context, job trial.Job, _ time.Duration) (*record.Record, error) {
				now := running.Add(1)
				defer running.Add(-1)
				if job.Key == p.Trials[2].Key {
					if tries++; tries == 1 {
						return nil, killed()
					}
					for range 20 { // others would begin meanwhile
						beside.Add(max(now, running.Load()) - 1)
						time.Sleep(time.Millisecond)
					}
				}
				time.Sleep(3 * time.Millisecond)
				return trial.Execute(ctx, demo, job, nil, nil)
			})
		},
	}
	sum, err := run(context.Background(), t, t.TempDir(), p, plan.Shard{}, opts)
	if err != nil || sum.OK != 12 || tries != 2 || beside.Load() != 0 {
		t.Errorf("%+v, %v, %d runs, %d beside the last", sum, err, tries, beside.Load())
	}
}

// An interruption does not wait for a pause to end.
func TestInterruptionEndsAPause(t *testing.T) {
	p := makePlan(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	r := &troubleTrial{key: p.Trials[0].Key, times: 1, trouble: killed}
	opts := schedule.Options{NewRunner: r.runner, Requeue: 1, Pause: time.Hour, Observer: &cancelOnRequeue{cancel: cancel}}
	sum, err := run(ctx, t, t.TempDir(), p, plan.Shard{}, opts)
	if !errors.Is(err, context.Canceled) || sum.NotRun != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// cancelOnRequeue ends a run where a pause begins.
type cancelOnRequeue struct {
	stopAfter
	cancel func()
}

func (c *cancelOnRequeue) Again(plan.Trial, *trial.Trouble, int, int, time.Duration) { c.cancel() }

// A trial that needs more than the limit on its process leaves is not begun, and
// has no record: a limit can be raised.
func TestLimitOnTheProcess(t *testing.T) {
	p := makePlan(t, 3)
	s, err := store.Create(disk.System, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var runs sync.Map
	var o noticeLog
	opts := options(1, &runs, 0)
	opts.Observer, opts.Requeue, opts.Process = &o, 2, machine.MemoryLimit{Bytes: 3 << 30, Flag: "-v", Left: 1 << 30}
	sum, err := schedule.Run(context.Background(), s, p, []int{0, 1, 2}, experiment.NewRegistry(large()), data, opts)
	if err != nil || sum != (schedule.Summary{Total: 3, OK: 2, NotRun: 1}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if trials, _ := count(&runs); trials != 2 || len(o.lines) != 1 ||
		!strings.HasPrefix(o.lines[0], "given up: needs about 2.0 GiB; of the limit ") {
		t.Errorf("%d ran, notices %q", trials, o.lines)
	}
}

// The output of a crash is in the trial's log, and its record has a sentence with the
// path; without a log it has none.
func TestLogs(t *testing.T) {
	crash := func() error {
		return &trial.Trouble{Reason: "the worker process ended with exit status 7: last words", Output: "many\nlast words"}
	}
	for _, c := range []struct {
		name, want string
		trouble    func() error
		spoil      bool // there is no room for logs
	}{
		{"a crash", "the worker process ended with exit status 7: last words; more is in logs/KEY.log", crash, false},
		{"a crash that said nothing", "it ended", func() error { return &trial.Trouble{Reason: "it ended"} }, false},
		{"lines", "one; two; more is in logs/KEY.log", func() error { return errors.New("one\ntwo") }, false},
		{"no room", "the worker process ended with exit status 7: last words", crash, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, p := t.TempDir(), makePlan(t, 1)
			r := &troubleTrial{key: p.Trials[0].Key, times: 1, trouble: func() error {
				if c.spoil {
					if err := os.WriteFile(filepath.Join(dir, "logs"), nil, 0o600); err != nil {
						t.Error(err)
					}
				}
				return c.trouble()
			}}
			var notices []string
			opts := schedule.Options{NewRunner: r.runner, Requeue: 2, Notice: func(text string) {
				notices = append(notices, text)
			}}
			sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
			if err != nil || sum.Failed != 1 || r.runs.Load() != 1 {
				t.Fatalf("%+v, %v, %d runs", sum, err, r.runs.Load())
			}
			raw, err := os.ReadFile(filepath.Join(dir, "trials", p.Trials[0].Key+".json"))
			if want := strings.ReplaceAll(c.want, "KEY", p.Trials[0].Key); err != nil ||
				!strings.Contains(string(raw), `"error":"`+want+`"`) {
				t.Errorf("%s, %v; want %q", raw, err, want)
			}
			if said := len(notices) == 1 && strings.Contains(notices[0], "cannot be written"); said != c.spoil {
				t.Errorf("notices %q", notices)
			}
		})
	}
}

// openFailure finds no data: the machine cannot open them.
type openFailure struct{}

func (openFailure) Find(string) (string, string, error) {
	return "", "digest", &fs.PathError{Op: "open", Path: "kung.csv", Err: syscall.EMFILE}
}

// Data that the machine cannot open are not data that are missing.
func TestDataThatCannotBeOpened(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 0, map[string]any{"data": "kung"})
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	opts := options(1, &sync.Map{}, 0)
	var o noticeLog
	opts.Observer = &o
	sum, err := schedule.Run(context.Background(), s, p, []int{0}, registry, plan.NewDatasets(openFailure{}), opts)
	if err != nil || sum != (schedule.Summary{Total: 1, NotRun: 1}) || len(o.lines) != 1 ||
		!strings.Contains(o.lines[0], "open kung.csv: too many open files, 0,") {
		t.Errorf("%+v, %v, %q", sum, err, o.lines)
	}
}
