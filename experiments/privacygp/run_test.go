package privacygp

import (
	"context"
	"math"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// options are those of the trials of most tests.
func options() trialtest.Options { return trialtest.Options{Seed: 1, Workers: 2} }

// compute runs a trial of the defaults; change may be nil.
func compute[S, M any](t *testing.T, x *experiment.Definition[S, M], change func(*S)) *experiment.Outcome[M] {
	t.Helper()
	return computeWith(t, options(), x, change)
}

func computeWith[S, M any](
	t *testing.T, o trialtest.Options, x *experiment.Definition[S, M], change func(*S),
) *experiment.Outcome[M] {
	t.Helper()
	s := x.Defaults()
	if change != nil {
		change(s)
	}
	out, err := x.Compute(context.Background(), trialtest.New(t, o), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// value is a number that a test expects.
type value struct {
	name              string
	got, want, within float64 // within is absolute
}

func checkValues(t *testing.T, values []value) {
	t.Helper()
	for _, v := range values {
		if !(math.Abs(v.got-v.want) <= v.within) {
			t.Errorf("%s = %.15g, want %.15g ± %.0e", v.name, v.got, v.want, v.within)
		}
	}
}
