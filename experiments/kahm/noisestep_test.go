package kahm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestNoiseStep(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta, d  float64
		refused, noiseless bool
	}{
		{1, 0.01, 1, false, false},
		{math.Inf(1), 0.01, 1, false, true},
		{0, 0.01, 1, true, false},
		{1, 1, 1, true, false},
		{1, 0.01, 0, true, false},
	} {
		t.Run(fmt.Sprint(c.epsilon, c.delta, c.d), func(t *testing.T) {
			step, err := NewNoiseStep(c.epsilon, c.delta, c.d)
			if (err != nil) != c.refused {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			samples := mat.NewDense(40, 5, nil)
			noisy, err := step.Draw(t.Context(), samples, rand.New(rand.NewPCG(1, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if got := mat.Norm(noisy, 1) == 0; got != c.noiseless {
				t.Errorf("noise of norm %g", mat.Norm(noisy, 1))
			}
		})
	}
}
