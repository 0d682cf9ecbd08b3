package cloak

import (
	"testing"

	"privkern/experiments/dataset/readers"
	"privkern/runner/experiment"
)

func TestNormalisation(t *testing.T) {
	kung := &readers.Kung{Height: []float64{50, 100, 120, 190}, Weight: make([]float64, 4), Age: []float64{1, 2, 3, 4}}
	for _, c := range []struct {
		normalisation Normalisation
		low, prior    float64
		clipped       int
	}{
		{AsPublished, 70, 115, 2}, // midpoint 120; mean of 70, 100, 120, 170
		{Public, 60, 110, 2},      // interval [60, 160]
	} {
		t.Run(experiment.NameOf(c.normalisation), func(t *testing.T) {
			data := censusOf(kung, Age, &Heights{Sensitivity: 100, Normalisation: c.normalisation, PublicLow: 60})
			if data.Low != c.low || data.High != c.low+100 || data.Prior != c.prior || data.Clipped != c.clipped {
				t.Errorf("interval from %g, prior %g, %d clipped; want %+v", data.Low, data.Prior, data.Clipped, c)
			}
		})
	}
}
