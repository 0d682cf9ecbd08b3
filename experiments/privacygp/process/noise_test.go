package process

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
)

// TestDraw compares the covariance of many draws with Σ; a direction without
// noise gets none at all.
func TestDraw(t *testing.T) {
	sigma := mat.NewDense(3, 3, []float64{2, 1, 0, 1, .5, 0, 0, 0, .25}) // rank 2
	rng := rand.New(rand.NewPCG(1, 2))
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	const n = 20000
	got := mat.NewDense(3, 3, nil)
	for range n {
		z, err := Draw(e, sigma, rng)
		if err != nil {
			t.Fatal(err)
		}
		if exact := z[0] - 2*z[1]; math.Abs(exact) > 1e-7 {
			t.Fatalf("noise %g in a direction of variance 0", exact)
		}
		v := mat.NewVecDense(3, z)
		got.RankOne(got, 1./n, v, v)
	}
	if !mat.EqualApprox(got, sigma, .1) {
		t.Errorf("covariance of draws:\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(sigma))
	}
}

// The trace of the noise is that of the positive part, and its rank excludes eigenvalues at the
// level of rounding.
func TestTraceOfThePositivePart(t *testing.T) {
	p := &Observations{epsilon: epsilon64}
	if n := p.noise(nil, []float64{-3, 1e-16, 1, 2}); n.Trace != 3 || n.Rank != 2 {
		t.Errorf("trace %g, rank %d, want 3 and 2", n.Trace, n.Rank)
	}
}
