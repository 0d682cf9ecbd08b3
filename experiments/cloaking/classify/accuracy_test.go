package classify

import (
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
