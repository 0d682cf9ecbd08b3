package schedule_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// workloadLog keeps the workload that is announced.
type workloadLog struct {
	stopAfter
	workloads []plan.Workload
}

func (a *workloadLog) Ahead(w plan.Workload)                   { a.workloads = append(a.workloads, w) }
func (a *workloadLog) Finished(plan.Trial, *record.Record)     {}
func (a *workloadLog) GivenUp(plan.Trial, *trial.Trouble, int) {}

// The workload of a run has the trials to be run in their order, timed ones apart, and
// the durations of the records.
func TestWorkload(t *testing.T) {
	dir, p := t.TempDir(), mixedPlan(t, 15) // 0, 3, ... 12 are timed, and 13 fails
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	do := func(indices []int, retry schedule.Retry, share bool) *workloadLog {
		t.Helper()
		o := &workloadLog{}
		opts := schedule.Options{Jobs: 2, Retry: retry, ShareTimings: share, Observer: o, NewRunner: func() schedule.Runner {
			return anyDemo{}
		}}
		if _, err := schedule.Run(context.Background(), s, p, indices, bothDemos, data, opts); err != nil {
			t.Fatal(err)
		}
		return o
	}
	all := plan.Shard{}.Indices(len(p.Trials))
	do([]int{1, 3, 13}, schedule.RetryNone, false)
	for _, c := range []struct {
		name                 string
		retry                schedule.Retry
		share                bool
		indices              []int
		pending, alone, past []int
	}{
		{"failures again", schedule.RetryFailed, false, []int{0, 1, 2, 3, 13}, []int{2, 13}, []int{0}, []int{1, 3, 13}},
		{"timed trials beside others", schedule.RetryNone, true, []int{4, 6, 7}, []int{4, 6, 7}, nil, nil},
		{"the rest", schedule.RetryNone, false, all, []int{5, 8, 10, 11, 14}, []int{9, 12}, []int{0, 1, 2, 3, 4, 6, 7, 13}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := do(c.indices, c.retry, c.share).workloads
			if len(got) != 1 {
				t.Fatalf("announced %d times", len(got))
			}
			w := got[0]
			var past []int
			for _, q := range w.Past {
				past = append(past, q.Index)
				if q.Seconds != float64(q.Index)+0.5 {
					t.Errorf("trial %d took %v s", q.Index, q.Seconds)
				}
			}
			if !slices.Equal(w.Pending, c.pending) || !slices.Equal(w.Alone, c.alone) || !slices.Equal(past, c.past) ||
				w.Jobs != 2 || w.Plan != p {
				t.Errorf("got %v, %v, %v on %d jobs", w.Pending, w.Alone, past, w.Jobs)
			}
		})
	}
	t.Run("nothing to run", func(t *testing.T) {
		if got := do(all, schedule.RetryNone, false).workloads; got != nil {
			t.Errorf("announced %v", got)
		}
	})
}

// anyDemo runs trials of both demos; trial x reports x + 1/2 s.
type anyDemo struct{}

func (anyDemo) Run(ctx context.Context, job trial.Job, _ time.Duration,
	progress trial.ProgressFunc) (*record.Record, error) {
	e, err := bothDemos.Lookup(job.Experiment)
	if err != nil {
		return nil, err
	}
	rec, err := trial.Execute(ctx, e, job, nil, progress)
	if err == nil {
		rec.Timing.WallS = float64(demonstration.Settings(job.Params).X) + 0.5
	}
	return rec, err
}

func (anyDemo) Close() {}
