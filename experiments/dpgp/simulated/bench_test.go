package simulated

import (
	"runtime"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// BenchmarkCalibration computes Section 6.2: 40 repeats of 3 noise levels, 4 values of ε and
// 4 levels (48 scenarios). The paper takes less than 30 seconds.
func BenchmarkCalibration(b *testing.B) {
	t := trialtest.New(b, trialtest.Options{Workers: runtime.GOMAXPROCS(0)})
	for b.Loop() {
		for _, sigma := range []float64{0.03, 0.1, 0.3} {
			for _, epsilon := range []float64{1, 3, 10, 30} {
				s := calibration().With(func(s *calibrationSettings) { s.Sigma, s.Epsilon = sigma, epsilon })
				if _, err := calibration().Compute(b.Context(), t, s); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
