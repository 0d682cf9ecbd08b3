package cloaking

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// runTrial resolves the parameters as the runner does and runs the trial.
func runTrial(t *testing.T, e *experiment.Experiment, given map[string]any) *experiment.Result {
	t.Helper()
	r, err := tryTrial(t, e, given, 2)
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

func tryTrial(t *testing.T, e *experiment.Experiment, given map[string]any, workers int) (*experiment.Result, error) {
	t.Helper()
	p, err := e.Resolve(given)
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	if e.Datasets != nil {
		for _, name := range e.Datasets(p) {
			folders[name] = dataFolder(t, name)
		}
	}
	return e.Run(context.Background(), &experiment.Trial{
		Params: p, Backend: "cpu", DType: "float64", Workers: workers,
		Dataset:  func(name string) string { return folders[name] },
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), 0))
		},
	})
}

// dataFolder skips the test where the data set is not there.
func dataFolder(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skipf("needs the data set %s: set $%s", name, dataset.DataVariable)
	}
	folder, _, err := dataset.NewLocator("").Find(name)
	var missing *dataset.MissingError
	switch {
	case errors.As(err, &missing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return folder
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.13g, want %.13g within %g", what, got, want, tolerance)
	}
}
