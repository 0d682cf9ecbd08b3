package process

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
)

// TestFastDraw: the noise is √(A⁺)ω, in as many steps as A has eigenvalues that matter.
func TestFastDraw(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	for _, tt := range []struct {
		name  string
		n     int
		v     float64
		s     []float64
		steps int
	}{
		{"two inputs", 120, .01, []float64{.4, .6}, 40},
		{"no noise in the data", 120, 0, []float64{.4, .6}, 40},
		{"dense inputs", 60, .1, []float64{.4, .42, .44, .46, .48, .5, .52, .54, .56, .58, .6}, 60},
		{"few data", 3, 0, []float64{.5}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := make([]float64, tt.n)
			omega := make([]float64, tt.n)
			rng := rand.New(rand.NewPCG(3, 4))
			for i := range x {
				x[i], omega[i] = float64(i+1)/float64(tt.n+1), rng.NormFloat64()
			}
			p, err := New(e, 10, tt.v, x)
			if err != nil {
				t.Fatal(err)
			}
			cross, q := problemOf(t, p, tt.s)
			z, steps, err := p.FastDraw(cross, q, omega, 1e-8)
			if err != nil {
				t.Fatal(err)
			}
			noise, err := p.StrongNoise(cross, q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := p.Root(noise.Sigma, omega)
			if err != nil {
				t.Fatal(err)
			}
			if d := floats.Distance(z, want, 2); d > 1e-6*floats.Norm(want, 2) {
				t.Errorf("the noise is %g away from that of the eigen-decomposition", d)
			}
			if steps > tt.steps {
				t.Errorf("%d steps", steps)
			}
		})
	}
}

func TestFastDrawOfNothing(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	p, err := New(e, 10, 0, []float64{.3, .6})
	if err != nil {
		t.Fatal(err)
	}
	cross, q := problemOf(t, p, []float64{.5})
	z, steps, err := p.FastDraw(cross, q, []float64{0, 0}, 1e-6)
	if err != nil || steps != 0 || floats.Norm(z, math.Inf(1)) != 0 {
		t.Errorf("%v after %d steps, error %v", z, steps, err)
	}
	if _, _, err := p.FastDraw(cross, mat.NewDense(1, 1, []float64{-1}), []float64{1, 1}, 1e-6); err == nil {
		t.Error("an inadmissible requirement is accepted")
	}
}

// problemOf is K_XS and K_SS/2.
func problemOf(t *testing.T, p *Process, s []float64) (cross, q *mat.Dense) {
	t.Helper()
	cross, err := p.Between(p.X, s)
	if err != nil {
		t.Fatal(err)
	}
	if q, err = p.Between(s, s); err != nil {
		t.Fatal(err)
	}
	q.Scale(.5, q)
	return cross, q
}
