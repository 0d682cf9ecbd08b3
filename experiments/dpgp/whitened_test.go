package dpgp

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// No substitution moves the sums of whitened features by more than the sensitivity of vectors of norm σ_f, although
// products of two rows' features may be negative, and some come near.
func TestWhitenedSensitivityBoundsSubstitutions(t *testing.T) {
	const variance, classes = 0.25, 3
	rng := rand.New(rand.NewPCG(2, 2))
	negative, nearest := false, 0.0
	for _, lengthscale := range []float64{0.2, 0.6, 2} {
		z := mat.NewDense(4, 1, []float64{0, 0.3, 0.5, 1})
		m := sparse.NewModel(z, lengthscale, variance, 1, 1e-8)
		w, err := sparse.NewWhitening(m)
		if err != nil {
			t.Fatal(err)
		}
		features := func() []float64 { return w.Vector(m.Vector([]float64{4*rng.Float64() - 1.5})) }
		for _, ratio := range []float64{0.4, 1.4} {
			d := newDirichlet(0.5, balancedCentre, nil)
			bound := d.jointSensitivity(classes, ratio, variance)
			for range 4000 {
				phi, other := features(), features()
				negative = negative || floats.Dot(phi, other) < -1e-3
				before, after := rng.IntN(classes), rng.IntN(classes)
				square := 0.0
				for c := range classes {
					i, j := indicator(c == before), indicator(c == after)
					square += whitenedMove(d, i, j, ratio, phi, other)
				}
				nearest = max(nearest, math.Sqrt(square)/bound)
			}
		}
	}
	if !negative {
		t.Error("no two rows have features with a negative product")
	}
	if nearest > 1+1e-9 || nearest < 0.97 {
		t.Errorf("the largest move is %g times the sensitivity", nearest)
	}
}

// whitenedMove is the square of the move of one class's sums, with B's off-diagonal elements counted twice.
func whitenedMove(d dirichlet, i, j int, ratio float64, phi, other []float64) (square float64) {
	for r := range phi {
		v := d.w[i]*d.y[i]*phi[r] - d.w[j]*d.y[j]*other[r]
		square += v * v
		for q := range phi {
			v := ratio * (d.w[i]*phi[r]*phi[q] - d.w[j]*other[r]*other[q])
			square += v * v
		}
	}
	return square
}

// Own data have whitened features by default, and kernel vectors where a bound of these is given.
func TestDefaultFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*ClassificationSettings)
		features sparse.Features
		alpha    float64
	}{
		"nothing given": {func(*ClassificationSettings) {}, sparse.WhitenedFeatures, 0.5},
		"a bound":       {func(s *ClassificationSettings) { s.Bound = sparse.Eq8 }, sparse.KernelFeatures, 0.1},
		"kernel":        {func(s *ClassificationSettings) { s.Features = sparse.KernelFeatures }, sparse.KernelFeatures, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &ClassificationSettings{}
			c.change(s)
			given := func(field any) bool {
				switch f := field.(type) {
				case *sparse.Features:
					return name == "kernel" && f == &s.Features
				case *sparse.Bound:
					return name == "a bound"
				}
				return false
			}
			s.KernelVariance = 0.25
			if err := completeClassification(s, given); err != nil {
				t.Fatal(err)
			}
			if s.Features != c.features || s.Alpha != c.alpha {
				t.Errorf("features %v and alpha %g", s.Features, s.Alpha)
			}
		})
	}
}

// Two classes that a line parts are told by features of overlapping kernels, with a noise that hides them from sums of
// kernel vectors.
func TestWhitenedClasses(t *testing.T) {
	accuracy := func(f sparse.Features) float64 {
		return trialtest.Compute(t, trialtest.Options{File: ownFile(t)}, classification(),
			func(s *ClassificationSettings) {
				ownClasses(s)
				s.Output, s.Epsilon, s.Repeats = "kind", 30, 10
				s.Inducing, s.Lengthscale.Numbers = experiment.Points{Count: 6}, experiment.Several{3}
				s.Features, s.KernelVariance, s.Alpha, s.Rho = f, 0.25, 0.5, 0.5
			}).Metrics.Accuracy
	}
	if plain, whitened := accuracy(sparse.KernelFeatures), accuracy(sparse.WhitenedFeatures); whitened < plain+0.1 {
		t.Errorf("accuracy %g with whitened features, %g with kernel vectors", whitened, plain)
	}
}
