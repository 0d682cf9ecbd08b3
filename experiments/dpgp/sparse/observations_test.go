package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
)

// Draws from the GP have its covariance.
func TestGPFunction(t *testing.T) {
	for _, l := range []float64{LeastLengthscale, 1, 3} {
		t.Run(fmt.Sprintf("lengthscale %g", l), func(t *testing.T) {
			const draws, variance = 4000, 2.5
			x := mat.NewDense(5, 1, []float64{-4, -4 + l/2, 0, 1.5 * l, 4})
			if x.At(3, 0) > 4 {
				x.Set(3, 0, 3.5)
			}
			rng := rand.New(rand.NewPCG(7, 8))
			products := mat.NewDense(5, 5, nil)
			for range draws {
				f := GPFunction(x, l, variance, rng)
				for i := range f {
					for j := range f {
						products.Set(i, j, products.At(i, j)+f[i]*f[j]/draws)
					}
				}
			}
			for i := range 5 {
				for j := range 5 {
					d := (x.At(i, 0) - x.At(j, 0)) / l
					want := variance * math.Exp(-d*d/2)
					trialtest.Near(t, "covariance of draws", products.At(i, j), want, 5*variance*math.Sqrt(2.0/draws))
				}
			}
		})
	}
}
