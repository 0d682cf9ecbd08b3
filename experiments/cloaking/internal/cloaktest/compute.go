// Package cloaktest makes the data and the trials of cloaking's tests.
package cloaktest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// given returns a trial that protects, with its settings.
func given[S, M any](
	t *testing.T, o trialtest.Options, x *experiment.Definition[S, M], changes []func(*S),
) (*experiment.Trial, error) {
	t.Helper()
	p, err := x.Resolved(x.With(changes...))
	if err != nil {
		return nil, err
	}
	o.Secure = true
	tr := trialtest.New(t, o)
	tr.Experiment, tr.Params = x.Name, p
	return tr, nil
}

// Publish makes a release, with entropy by the number of the stream, that books
// nothing.
func Publish[S, M any](
	t *testing.T, o trialtest.Options, x *experiment.Definition[S, M], changes ...func(*S),
) (*experiment.Release, error) {
	t.Helper()
	tr, err := given(t, o, x, changes)
	if err != nil {
		return nil, err
	}
	if err := x.CheckRelease(tr.Params); err != nil {
		return nil, err
	}
	tr.Book = func(experiment.Spending) error { return nil }
	tr.Entropy = Entropy(int(o.Seed))
	return x.Experiment.Release(t.Context(), tr, tr.Params)
}

// PlanOf plans a release.
func PlanOf[S, M any](
	t *testing.T, o trialtest.Options, plan func(context.Context, *experiment.Trial) (*release.Plan, error),
	x *experiment.Definition[S, M], changes ...func(*S),
) *release.Plan {
	t.Helper()
	tr, err := given(t, o, x, changes)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Entropy is a source of the given number.
func Entropy(seed int) *rand.ChaCha8 {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d", seed)))
}
