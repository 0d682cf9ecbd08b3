package cloaktest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Engine is one on the CPU.
func Engine(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Open("cpu", "float64", 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Column is a matrix of one column.
func Column(values ...float64) *mat.Dense { return mat.NewDense(len(values), 1, values) }

// Run runs a trial with settings as a user writes them. It must not fail, and its metrics must be
// finite.
func Run(t *testing.T, o trialtest.Options, e *experiment.Experiment, given map[string]any) *experiment.Result {
	t.Helper()
	p, err := e.Resolve(given)
	if err != nil {
		t.Fatalf("%s %v: %v", e.Name, given, err)
	}
	tr := trialtest.New(t, o)
	tr.Experiment, tr.Params = e.Name, p
	r, err := e.Run(t.Context(), tr, tr.Params)
	if err != nil {
		t.Fatalf("%s %v: %v", e.Name, given, err)
	}
	for name, v := range r.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s %v: %s is %v", e.Name, given, name, v)
		}
	}
	return r
}

// WantSuspects compares warnings with the texts that they must contain.
func WantSuspects(t *testing.T, warnings, want []string) {
	t.Helper()
	suspect := slices.DeleteFunc(slices.Clone(warnings), func(w string) bool {
		return !strings.HasPrefix(w, "computed but suspect: ")
	})
	if len(suspect) != len(want) {
		t.Fatalf("warnings %q, want %q", suspect, want)
	}
	for i := range want {
		if !strings.Contains(suspect[i], want[i]) {
			t.Errorf("warning %q, want %q", suspect[i], want[i])
		}
	}
}
