package trialtest

import (
	"math"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// Try computes a trial whose settings are the defaults with some changes.
func Try[S, M any](
	t *testing.T, o Options, x *experiment.Definition[S, M], changes ...func(*S),
) (*experiment.Outcome[M], error) {
	t.Helper()
	return x.Compute(t.Context(), New(t, o), x.With(changes...))
}

// Compute does so where nothing fails and all metrics are finite.
func Compute[S, M any](
	t *testing.T, o Options, x *experiment.Definition[S, M], changes ...func(*S),
) *experiment.Outcome[M] {
	t.Helper()
	out, err := Try(t, o, x, changes...)
	if err != nil {
		t.Fatalf("%s: %v", x.Name, err)
	}
	for name, v := range experiment.MetricValues(out.Metrics) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s: %s is %v", x.Name, name, v)
		}
	}
	return out
}

// Observe returns the observation of a trial by its settings and outcome.
func Observe[S, M any](x *experiment.Definition[S, M], s *S, seed int64, out *experiment.Outcome[M],
) experiment.Observation {
	return experiment.Observation{
		Identity: experiment.Identity{Experiment: x.Name, Params: experiment.SettingValues(*s), Seed: seed},
		Metrics:  experiment.MetricValues(out.Metrics), Series: out.Series,
	}
}

// WordOr returns the setting that is a word instead of a T.
func WordOr[T int | float64, W experiment.Choice](w W) experiment.Or[W, T] {
	return experiment.Or[W, T]{IsWord: true, Word: w}
}

// Near fails where a number is not within a tolerance of the expected one.
func Near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.13g, want %.13g within %g", what, got, want, tolerance)
	}
}

// Runs returns a function that runs trials of an experiment with the options.
func Runs[S, M any](t *testing.T, o Options, x *experiment.Definition[S, M],
) func(*S) (*experiment.Outcome[M], error) {
	return func(s *S) (*experiment.Outcome[M], error) { return x.Compute(t.Context(), New(t, o), s) }
}

// Refuses fails where an error is nil, or lacks the expected text.
func Refuses(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; it should say %q", err, want)
	}
}
