package classify

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Four draws at two test inputs have accuracies of 1, ½, ½ and 0.
func TestAccuracyMetrics(t *testing.T) {
	fit := &prediction{mean: mat.NewDense(2, 4, []float64{
		1, 1, -1, -1,
		-1, 1, 0, 2,
	})}
	truth := []float64{1, -1}
	m := classifierFor(t, func(s *stripesSettings) { s.Draws = 4 }).accuracyMetrics(fit, truth)
	each(t,
		checked{"mean", m.Accuracy, 0.5, 0}, checked{"deviation", *m.SD, math.Sqrt(0.125), 1e-15},
		checked{"standard error", *m.SE, math.Sqrt(0.125) / 2, 1e-15},
	)
	if clean := classifierFor(t, onStripes(noiseless)).accuracyMetrics(fit, truth); clean.SD != nil || clean.SE != nil {
		t.Errorf("without noise: %+v", clean)
	}
}

func TestAveragedLogistic(t *testing.T) {
	numbers := []checked{
		{"no variance", averagedLogistic(1.5, 0), logistic(1.5), 0},
		{"where the formula changes", averagedLogistic(2, wideVariance),
			averagedLogistic(2, math.Nextafter(wideVariance, 0)), 1e-8},
	}
	// mpmath's adaptive quadrature with 30 digits.
	for _, c := range []struct{ mean, variance, want float64 }{
		{1.0, 4.0, 0.6477264385258687},
		{-2.0, 0.5, 0.1383468014942232},
		{0.0, 9.0, 0.5},
		{3.0, 10.0, 0.7961883169462909},
		{5.0, 100.0, 0.6886544307324994},
		{-30.0, 1000.0, 0.1717868594332108},
		{20.0, 10000.0, 0.5792468490325858},
		{0.3, 1.0e+8, 0.5000119682682134},
	} {
		numbers = append(numbers, checked{
			fmt.Sprintf("N(%g, %g)", c.mean, c.variance), averagedLogistic(c.mean, c.variance), c.want, 1e-8,
		})
	}
	each(t, numbers...)
}
