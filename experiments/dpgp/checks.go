package dpgp

import (
	"fmt"
	"slices"

	"privkern/experiments/dpgp/sparse"
)

// number is how many inducing inputs there are.
func (s *inducingInputs) number() int { return max(s.Inducing.Count, len(s.Inducing.Values)) }

// points are the inducing inputs, as they are given or on a grid.
func (s *inducingInputs) points() []float64 {
	z := s.Inducing
	switch {
	case z.Values != nil:
		return z.Values
	case z.Count == 1:
		return []float64{s.Low + (s.High-s.Low)/2}
	}
	grid := make([]float64, z.Count)
	for i := range grid {
		grid[i] = s.Low + (s.High-s.Low)*float64(i)/float64(z.Count-1)
	}
	return grid
}

// model has these inducing inputs, and observations with noise of standard deviation
// sigma.
func (s *inducingInputs) model(k eqKernel, sigma, jitter float64) *sparse.Model {
	return sparse.NewModel(sparse.Column(s.points()), k.Lengthscale, k.KernelVariance, sigma*sigma, jitter)
}

// check refuses inducing inputs that no model can have.
func (s *inducingInputs) check() error {
	if !(s.Low < s.High) {
		return fmt.Errorf("low = %g, high = %g: low must be below high", s.Low, s.High)
	}
	if n := s.number(); n > sparse.MaxInducing {
		return fmt.Errorf("inducing: %d inducing inputs; at most %d are possible", n, sparse.MaxInducing)
	}
	z := slices.Sorted(slices.Values(s.points()))
	for i, v := range z {
		if i > 0 && v == z[i-1] {
			return fmt.Errorf("inducing: %g is given twice; equal inducing inputs make their covariance singular", v)
		}
	}
	return nil
}

// checkRows refuses settings that no trial with n rows can have.
func (s *inducingInputs) checkRows(n int) error {
	if err := s.check(); err != nil {
		return err
	}
	if z := s.number(); n*z > sparse.MaxKernel {
		return fmt.Errorf("n = %d with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer "+
			"of either", n, z, sparse.MaxKernel)
	}
	return nil
}

// memory estimates the memory of a trial with n rows, in bytes: a number of n×M matrices in
// addition to the process. With 9 inducing inputs and 100,000 observations 77 MiB were measured for
// inference, 99 to 126 for classification and 137 for hyperparameters, for inference of 200,000 it
// was 105; with few observations 53 to 70, for hyperparameters 95.
func (s *inducingInputs) memory(n int, matrices int64) int64 {
	const process, float = 98 << 20, 8
	return process + matrices*float*int64(n)*int64(s.number())
}

// value is the spacing that is asked for; 0 stands for the one that there is.
func (s *spacing) value() float64 {
	if s.Spacing.Is(automatic) {
		return 0
	}
	return s.Spacing.Number
}

// cheap is a bound that is as finite as the one that is chosen and needs no search,
// which is no part of a check: ledgers hold hundreds of settings.
func (s *rowBound) cheap() sparse.Bound {
	if s.Bound == sparse.Exact {
		return sparse.Eq4
	}
	return s.Bound
}
