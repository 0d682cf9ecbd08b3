package privacygp

import (
	"fmt"
	"math"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/runner/experiment"
)

// linspace returns n ≥ 1 points from low to high.
func linspace(low, high float64, n int) []float64 {
	if n == 1 {
		return []float64{low}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	out[n-1] = high
	return out
}

// grid returns the training inputs i/(n+1), i = 1..n.
func grid(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i+1) / float64(n+1)
	}
	return out
}

// checkSensitive refuses a line of sensitive inputs that are not distinct. Its ends are the
// settings prefix + "low" and prefix + "high".
func checkSensitive(prefix string, low, high float64, count int) error {
	switch {
	case count > 1 && !(low < high):
		return fmt.Errorf("%slow = %v is not below %shigh = %v: "+
			"%d sensitive inputs between them would coincide or descend", prefix, low, prefix, high, count)
	case math.IsInf(high-low, 0):
		return fmt.Errorf("%slow = %v and %shigh = %v are too far apart for floating point", prefix, low, prefix, high)
	case count > 1 && process.Same(low, low+(high-low)/float64(count-1)):
		return fmt.Errorf("%d sensitive inputs between %v and %v coincide to rounding", count, low, high)
	}
	return nil
}

// checkTolerance refuses ξ ≥ K(s,s) = 1: noise in the data can raise the
// predictive variance towards the prior variance, never to it.
func checkTolerance(name string, xi float64) error {
	if xi >= 1 {
		return fmt.Errorf("%s is %s, but must be below the prior variance K(s,s) = 1: "+
			"no noise raises the predictive variance to the prior variance",
			name, experiment.FormatNumber(xi))
	}
	return nil
}

// The duality gaps, relative to the trace or to the variance of a datum where
// that is larger, above which a solution is none.
const (
	diagonalGap = 1e-8
	weakGap     = 1e-7
	generalGap  = 1e-6 // of the method that is there to be compared with
)

// checkGap refuses a solution whose certificate is too wide.
func checkGap(what string, s *sdp.Solution, wanted float64) error {
	if gap := s.RelativeGap(); !(gap <= wanted) {
		return fmt.Errorf("%s stopped after %d steps at a relative duality gap of %.1e, and at most %.0e is wanted: "+
			"the least trace lies between %.10g and %.10g; fewer training inputs, a larger theta or "+
			"noise_variance > 0 make the kernel matrix better conditioned", what, s.Iterations, gap, wanted, s.Lower, s.Upper)
	}
	return nil
}

// solving passes a solver's progress on.
func solving(t *experiment.Trial) sdp.Progress {
	return func(done, total int) { t.Progress(done, total, "central path") }
}

// matrixMemory estimates the memory of a trial with n points, in bytes: the given number of n×n
// matrices in addition to the process. Measured were, in MiB: example1 49 to 72, 112 and 189 for 9,
// 600 and 1,000 points, example2 58 and 121 for 9 and 600, uniform 91 and 151 for 600 and 1,000,
// satellite 109 and 149 for these, weak 57, 77 and 109 for 9, 250 and 500.
func matrixMemory(matrices, n int) int64 {
	const process, float = 92 << 20, 8
	return process + int64(matrices)*float*int64(n)*int64(n)
}
