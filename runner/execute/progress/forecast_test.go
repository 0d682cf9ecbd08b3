package progress_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"privkern/runner/execute/progress"
	"privkern/runner/experiment"
	"privkern/runner/plan"
)

var epoch = time.Unix(1_700_000_000, 0)

func clockAt(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// sized is a workload of trials of the given sizes, all to be run.
func sized(jobs int, sizes ...int) plan.Workload {
	w := plan.Workload{Plan: &plan.Plan{}, Jobs: jobs}
	for i, n := range sizes {
		w.Plan.Trials = append(w.Plan.Trials, plan.Trial{Key: strconv.Itoa(i),
			Identity: experiment.Identity{Experiment: "demo/a", Params: experiment.Params{"n": n}, Seed: int64(i)}})
		w.Pending = append(w.Pending, i)
	}
	return w
}

// isLeft compares a forecast with the seconds that are left; negative where nothing is known.
func isLeft(t *testing.T, f *progress.Forecast, at, want float64) progress.TimeLeft {
	t.Helper()
	left, ok := f.Left(clockAt(at))
	if ok != (want >= 0) || ok && math.Abs(left.Time.Seconds()-want) > 1e-6 {
		t.Errorf("after %v s %+v, %v are left, not %v s", at, left, ok, want)
	}
	return left
}

// A setting costs the mean of its trials, and one without an ended trial the mean of
// the experiment.
func TestForecastBySettings(t *testing.T) {
	w := sized(2, 10, 10, 30, 10, 30, 50)
	f := progress.NewForecast(w, epoch)
	trials := w.Plan.Trials
	isLeft(t, f, 0, -1)
	f.Started(trials[0], clockAt(0))
	f.Started(trials[2], clockAt(0))
	isLeft(t, f, 5, -1)
	f.Ended(trials[0], 10)
	f.Started(trials[1], clockAt(10))
	f.Ended(trials[1], 20)
	f.Ended(trials[2], 30)
	// One of 15 s, one of 30 s, one of an unknown setting at (10+20+30)/3 s, on two workers.
	isLeft(t, f, 30, 32.5)
	f.Dropped(trials[5]) // another runner has it
	isLeft(t, f, 30, 30)
	f.Started(trials[4], clockAt(30))
	f.Again(trials[4])
	isLeft(t, f, 40, 30)
	f.Started(trials[4], clockAt(40))
	isLeft(t, f, 50, 20)
	f.Dropped(trials[3])
	isLeft(t, f, 90, 5) // it is overdue by 20 s: a tenth of its 50 s
}

// Of an experiment without an ended trial nothing is known: the forecast is a bound.
func TestForecastIsABound(t *testing.T) {
	w := sized(1, 1, 1, 1, 1)
	w.Plan.Trials[3].Experiment = "demo/b"
	w.Past, w.Pending = []plan.Past{{Index: 0, Seconds: 100}}, w.Pending[1:]
	f := progress.NewForecast(w, epoch)
	if left := isLeft(t, f, 0, 200); !left.Least || left.Unknown != 1 {
		t.Errorf("%+v", left)
	}
	f.Started(w.Plan.Trials[3], epoch)
	if left := isLeft(t, f, 10, 200); !left.Least || left.Unknown != 0 {
		t.Errorf("%+v", left)
	}
}

// Timed trials run alone, after the others; so do trials on fewer workers than jobs
// where memory holds no more.
func TestForecastOfWorkers(t *testing.T) {
	w := sized(4, 1, 1, 1, 1, 1, 2, 2)
	w.Past, w.Pending, w.Alone = []plan.Past{{Index: 5, Seconds: 7}}, w.Pending[:5], []int{6}
	f := progress.NewForecast(w, epoch)
	isLeft(t, f, 0, 5*7.0/4+7)
	f.Started(w.Plan.Trials[0], epoch)
	f.Ended(w.Plan.Trials[0], 10)
	isLeft(t, f, 10, 4*10+7) // one at a time
}

// On a cluster the run goes on as fast as so far.
func TestForecastElsewhere(t *testing.T) {
	w := sized(0, 1, 1, 1, 1)
	f := progress.NewForecast(w, epoch)
	isLeft(t, f, 10, -1)
	f.Ended(w.Plan.Trials[0], 100)
	isLeft(t, f, 20, 60)
	f.Ended(w.Plan.Trials[1], 100)
	isLeft(t, f, 30, 30)
}

// Each phase of a trial has a speed of its own.
func TestForecastOfInnerPhases(t *testing.T) {
	w := sized(1, 1)
	f := progress.NewForecast(w, epoch)
	trial := w.Plan.Trials[0]
	f.Started(trial, epoch)
	for _, step := range []struct {
		at          float64
		done, total int
		phase       string
		want        float64
	}{
		{1, 0, 10, "folds", -1},
		{3, 1, 10, "folds", 18},
		{11, 5, 10, "folds", 10},
		{21, 10, 10, "folds", 0},
		{30, 1, 50, "test points", -1},
		{32, 5, 50, "test points", 22.5},
		{40, 1, 0, "test points", -1},
	} {
		t.Run(fmt.Sprintf("%d of %d %s", step.done, step.total, step.phase), func(t *testing.T) {
			f.Inner(trial, step.done, step.total, step.phase, clockAt(step.at))
			isLeft(t, f, step.at, step.want)
		})
	}
	t.Run("time passes between two reports", func(t *testing.T) {
		f.Inner(trial, 0, 10, "draws", clockAt(50))
		f.Inner(trial, 2, 10, "draws", clockAt(54))
		isLeft(t, f, 57, 13)
	})
}
