package dpgp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// NoisyClasses returns the released sums of all classes in dpgp/classification, with one free row
// of the data and the others left out, because they move nothing: for audits of its noise.
type NoisyClasses struct{ c *classifier }

// NewNoisyClasses calibrates the noise as a trial does whose settings are the defaults
// with some changes, and opens an engine, which Close closes.
func NewNoisyClasses(change func(*ClassificationSettings)) (n *NoisyClasses, err error) {
	opened, err := engine.Opener("cpu", "float64", 1)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	s := classification().With(change)
	if _, err := classification().Resolved(s); err != nil {
		return nil, err
	}
	c, err := newClassifier(&experiment.Trial{Engine: opened, Workers: 1}, s)
	if err != nil {
		return nil, err
	}
	return &NoisyClasses{c}, nil
}

// Close closes the engine.
func (s *NoisyClasses) Close() error { return s.c.Engine.Close() }

// Sums are the exact sums of a row for each class.
func (s *NoisyClasses) Sums(ctx context.Context, x float64, label int) ([]sparsegp.Sums, error) {
	var out []sparsegp.Sums
	for class := range s.c.settings.Classes {
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
		out[i] = s.c.Noise.NoisyCopy(c, rng)
	}
	return out
}

// Numbers returns the different numbers of the sums in units of the noise's standard deviation: B
// is symmetric, and its off-diagonal noise has half of the variance.
func (s *NoisyClasses) Numbers(sums []sparsegp.Sums) []float64 {
	a, b := s.c.Noise.SigmaA, s.c.Noise.SigmaB
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
