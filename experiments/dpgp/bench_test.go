package dpgp

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"testing"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// The settings of Fig. 2.
var (
	figure2Sigmas   = []float64{0.03, 0.1, 0.3}
	figure2Epsilons = []float64{1, 3, 10, 30}
)

// benchTrial returns a trial without settings on an engine of all processors.
func benchTrial(b *testing.B) *experiment.Trial {
	b.Helper()
	workers := runtime.GOMAXPROCS(0)
	opened, err := engine.Opener("cpu", "float64", workers)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = opened.Close() })
	return &experiment.Trial{
		Identity: experiment.Identity{Backend: "cpu", DType: "float64"}, Engine: opened, Workers: workers,
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			fmt.Fprint(h, purpose)
			return rand.New(rand.NewPCG(h.Sum64(), 0))
		},
	}
}

// BenchmarkCalibration computes Section 6.2: 40 repeats of 3 noise levels, 4 values of ε and
// 4 levels (48 scenarios). The paper takes less than 30 seconds.
func BenchmarkCalibration(b *testing.B) {
	t := benchTrial(b)
	for b.Loop() {
		for _, sigma := range figure2Sigmas {
			for _, epsilon := range figure2Epsilons {
				s := calibration().With(func(s *calibrationSettings) { s.Sigma, s.Epsilon = sigma, epsilon })
				if _, err := calibration().Compute(b.Context(), t, s); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// BenchmarkHyperparameters computes Section 6.3: 100 repeats of the search for
// hyperparameters with 4 values of ε. The paper takes approximately 10 minutes.
func BenchmarkHyperparameters(b *testing.B) {
	t := benchTrial(b)
	for b.Loop() {
		for _, epsilon := range figure2Epsilons {
			s := hyperparameters().With(func(s *searchSettings) { s.Epsilon = epsilon })
			if _, err := hyperparameters().Compute(b.Context(), t, s); err != nil {
				b.Fatal(err)
			}
		}
	}
}
