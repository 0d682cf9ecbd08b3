package dpgp

import (
	"runtime"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// BenchmarkHyperparameters computes Section 6.3: 100 repeats of the search for
// hyperparameters with 4 values of ε. The paper takes approximately 10 minutes.
func BenchmarkHyperparameters(b *testing.B) {
	t := trialtest.New(b, trialtest.Options{Workers: runtime.GOMAXPROCS(0)})
	for b.Loop() {
		for _, epsilon := range []float64{1, 3, 10, 30} {
			s := hyperparameters().With(func(s *searchSettings) { s.Epsilon = epsilon })
			if _, err := hyperparameters().Compute(b.Context(), t, s); err != nil {
				b.Fatal(err)
			}
		}
	}
}
