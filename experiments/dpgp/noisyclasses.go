package dpgp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// NoisyClasses is what dpgp/classification releases of the sums of all classes,
// with one row of the data free and the others left out, which move nothing: for
// audits of its noise.
type NoisyClasses struct{ c *classifier }

// NewNoisyClasses calibrates the noise as a trial with these settings does.
func NewNoisyClasses(given map[string]any) (*NoisyClasses, error) {
	p, err := classification().Resolve(given)
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(&experiment.Trial{Params: p, Backend: "cpu", DType: "float64", Workers: 1})
	if err != nil {
		return nil, err
	}
	return &NoisyClasses{c}, nil
}

// Sums are the exact sums of a row for each class.
func (s *NoisyClasses) Sums(ctx context.Context, x float64, label int) ([]sparsegp.Sums, error) {
	var out []sparsegp.Sums
	for class := range s.c.classes {
		sums, err := s.c.classSums(ctx, mat.NewDense(1, 1, []float64{x}), []int{label}, class)
		if err != nil {
			return nil, err
		}
		out = append(out, sums)
	}
	return out, nil
}

// Draw adds the noise of a trial to copies of the sums.
func (s *NoisyClasses) Draw(sums []sparsegp.Sums, rng *rand.Rand) []sparsegp.Sums {
	out := make([]sparsegp.Sums, len(sums))
	for i, c := range sums {
		out[i] = s.c.noise.noisyCopy(c, rng)
	}
	return out
}

// Numbers are the different numbers of the sums in units of the noise's standard
// deviation: B is symmetric, and has half of the variance beside its diagonal.
func (s *NoisyClasses) Numbers(sums []sparsegp.Sums) []float64 {
	a, b := s.c.noise.sigmaA, s.c.noise.sigmaB
	var out []float64
	for _, c := range sums {
		out = slices.Grow(out, len(c.A)*(len(c.A)+3)/2)
		for i, v := range c.A {
			out = append(out, v/a, c.B.At(i, i)/b)
			for j := range i {
				out = append(out, c.B.At(i, j)/(b/math.Sqrt2))
			}
		}
	}
	return out
}
