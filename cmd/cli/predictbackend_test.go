package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"privkern/experiments"
	"privkern/graphs/cost"
	"privkern/runner"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
)

func TestSpacedSettings(t *testing.T) {
	for _, c := range []struct {
		settings int
		want     string
	}{{0, "[]"}, {1, "[0]"}, {2, "[1 0]"}, {5, "[2 3 4 0 1]"}, {100, "[50 70 90 10 30]"}} {
		settings := make([]sweep.Assignment, c.settings)
		for i := range settings {
			settings[i].Seed = int64(i)
		}
		var got []int64
		for _, s := range spaced(settings) {
			got = append(got, s.Seed)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d settings: %v, want %s", c.settings, got, c.want)
		}
	}
}

// catalogued is an application with all experiments and no data.
func catalogued(t *testing.T) *app {
	t.Helper()
	t.Setenv("PRIVKERN_DATA", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	a := silent(t)
	a.Catalogue = runner.NewCatalogue(experiments.Papers())
	return a
}

// lookedUp is an experiment of the program with its defaults.
func lookedUp(t *testing.T, a *app, name string) sweep.Assignment {
	t.Helper()
	e, err := a.Experiments.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	params, err := e.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return sweep.Assignment{Experiment: e, Params: params}
}

// A trial is tried until it ends or its time does, and its parts add up.
func TestTriedTrial(t *testing.T) {
	cost.SetOwn(cost.Devices[0])
	a := catalogued(t)
	s := lookedUp(t, a, "privacygp/kernel-condition")
	of, _, _, err := plan.Single(s, a.datasets(), plan.Options{Backend: "cpu", DType: experiment.Float64})
	if err != nil {
		t.Fatal(err)
	}
	job := trial.Job{Key: of.Key, Identity: of.Identity, Workers: 1}
	got, whole, measured := tryTrial(t.Context(), s.Experiment, job, time.Hour)
	if !whole || !measured || got.Outside <= 0 || got.Outside >= got.Host || got.Device <= 0 {
		t.Errorf("%+v, %v, %v", got, whole, measured)
	}
	if got, whole, measured := tryTrial(t.Context(), s.Experiment, job, 0); whole || measured && got.Host < got.Outside {
		t.Errorf("in no time: %+v, %v, %v", got, whole, measured)
	}
	waiting := &experiment.Experiment{Untyped: experiment.Untyped{Name: "waiting", Run: func(ctx context.Context,
		_ *experiment.Trial, _ experiment.Params) (*experiment.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}}
	if got, whole, measured := tryTrial(t.Context(), waiting, job, 10*time.Millisecond); whole || measured {
		t.Errorf("without a program: %+v, %v, %v", got, whole, measured)
	}
	failing := *s.Experiment
	failing.Run = func(ctx context.Context, x *experiment.Trial, p experiment.Params) (*experiment.Result, error) {
		_, err := s.Experiment.Run(ctx, x, p)
		return nil, errors.Join(err, errors.New("boom"))
	}
	if got, whole, measured := tryTrial(t.Context(), &failing, job, time.Hour); whole || measured {
		t.Errorf("one that fails: %+v, %v, %v", got, whole, measured)
	}
}

// Trials whose data are missing are not tried, and a run that is interrupted is.
func TestTriedPlan(t *testing.T) {
	a := catalogued(t)
	p := pilot{app: a, dtype: experiment.Float64, jobs: 1, workers: 1}
	s := lookedUp(t, a, "privacygp/kernel-condition")
	tried, err := p.try(t.Context(), []sweep.Assignment{s, lookedUp(t, a, "kahm/classifier"), s})
	total := 0.0
	for _, x := range tried {
		total += x.Trials
	}
	if err != nil || len(tried) != 2 || total != 3 {
		t.Errorf("%+v, %v", tried, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.try(ctx, []sweep.Assignment{s}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
