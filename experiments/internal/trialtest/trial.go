// Package trialtest makes trials for the tests of experiments.
package trialtest

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Options are what a test may want otherwise; the zero value is a trial of one worker
// in float64.
type Options struct {
	Seed     uint64 // of the streams, each by its purpose
	DType    string
	Workers  int
	Secure   bool
	Dataset  func(name string) string
	Progress func(done, total int, what string)
}

// New returns a trial on the CPU without experiment and settings, with an engine that
// is closed at the end of the test.
func New(tb testing.TB, o Options) *experiment.Trial {
	tb.Helper()
	if o.DType == "" {
		o.DType = "float64"
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	workers := max(1, o.Workers)
	opened, err := engine.Opener("cpu", o.DType, workers)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := opened.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &experiment.Trial{
		Identity: experiment.Identity{Backend: "cpu", DType: o.DType}, Engine: opened, Workers: workers,
		Secure: o.Secure, Dataset: o.Dataset, Progress: o.Progress,
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), o.Seed))
		},
	}
}
