// Package cloaktest makes the data and the trials of cloaking's tests.
package cloaktest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"privkern/experiments/dataset"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Setup is what a trial runs on.
type Setup struct {
	Folder  string // of the census
	File    string // a user's
	Workers int
	DType   string
	Stream  uint64
	Secure  bool
	Ctx     context.Context // nil for none
}

// context is that of a trial.
func (s Setup) context() context.Context {
	if s.Ctx == nil {
		return context.Background()
	}
	return s.Ctx
}

// Trial returns a trial without experiment and settings.
func (s Setup) Trial(t *testing.T) *experiment.Trial {
	t.Helper()
	return trialtest.New(t, trialtest.Options{
		Seed: s.Stream, DType: s.DType, Workers: s.Workers, Secure: s.Secure, Dataset: s.dataset,
	})
}

// dataset is where a data set lies.
func (s Setup) dataset(name string) string {
	if _, own := dataset.FilePath(name); own {
		return s.File
	}
	return s.Folder
}

// Settings returns the defaults with some changes.
func Settings[S, M any](x *experiment.Definition[S, M], changes ...func(*S)) *S {
	return x.With(func(s *S) {
		for _, change := range changes {
			change(s)
		}
	})
}

// Attempt runs a trial.
func Attempt[S, M any](
	t *testing.T, s Setup, x *experiment.Definition[S, M], changes ...func(*S),
) (*experiment.Outcome[M], error) {
	t.Helper()
	return x.Compute(s.context(), s.Trial(t), Settings(x, changes...))
}

// Compute runs a trial, which must not fail. What it reports must be finite.
func Compute[S, M any](
	t *testing.T, s Setup, x *experiment.Definition[S, M], changes ...func(*S),
) *experiment.Outcome[M] {
	t.Helper()
	out, err := Attempt(t, s, x, changes...)
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

// given returns a trial that protects, with its settings.
func given[S, M any](
	t *testing.T, s Setup, x *experiment.Definition[S, M], changes []func(*S),
) (*experiment.Trial, error) {
	t.Helper()
	p, err := x.Resolved(Settings(x, changes...))
	if err != nil {
		return nil, err
	}
	s.Secure = true
	tr := s.Trial(t)
	tr.Experiment, tr.Params = x.Name, p
	return tr, nil
}

// Publish makes a release, with entropy by the number of the stream, that books
// nothing.
func Publish[S, M any](
	t *testing.T, s Setup, x *experiment.Definition[S, M], changes ...func(*S),
) (*experiment.Release, error) {
	t.Helper()
	tr, err := given(t, s, x, changes)
	if err != nil {
		return nil, err
	}
	if err := x.CheckRelease(tr.Params); err != nil {
		return nil, err
	}
	tr.Book = func(experiment.Spending) error { return nil }
	tr.Entropy = Entropy(int(s.Stream))
	return x.Experiment.Release(s.context(), tr)
}

// PlanOf plans a release.
func PlanOf[S, M any](
	t *testing.T, s Setup, plan func(context.Context, *experiment.Trial) (*release.Plan, error),
	x *experiment.Definition[S, M], changes ...func(*S),
) *release.Plan {
	t.Helper()
	tr, err := given(t, s, x, changes)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan(s.context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Entropy is a source of the given number.
func Entropy(seed int) *rand.ChaCha8 {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d", seed)))
}
