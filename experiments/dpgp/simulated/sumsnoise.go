package simulated

import (
	"context"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

// NoisySums are the sums A = Σ y k and B = Σ k kᵀ of a fit to simulated observations
// and their noise, for audits.
type NoisySums struct {
	sparse.InducingInputs
	sparse.EQKernel
	sparse.ClippedOutputs
	// SigmaA is the standard deviation of the noise in every element of A, SigmaB of
	// that on the diagonal of B.
	SigmaA, SigmaB float64
}

// NewNoisySums returns the sums of a trial, with the noise that a trial of the same
// settings reports for two observations; nil where the experiment fits to no simulated
// observations.
func NewNoisySums(ctx context.Context, t *experiment.Trial) (*NoisySums, error) {
	switch t.Experiment {
	case inference().Name:
		s := inference().Settings(t.Params)
		s.N, s.Repeats = 2, 1
		out, err := inference().Compute(ctx, t, s)
		if err != nil {
			return nil, err
		}
		return s.fit().noisySums(out.Metrics.SigmaA), nil
	case calibration().Name:
		s := calibration().Settings(t.Params)
		s.N, s.Repeats = 2, 1
		out, err := calibration().Compute(ctx, t, s)
		if err != nil {
			return nil, err
		}
		return s.fit().noisySums(out.Metrics.SigmaA), nil
	}
	return nil, nil
}

func (f fit) noisySums(sigmaA float64) *NoisySums {
	return &NoisySums{*f.InducingInputs, *f.EQKernel, f.ClippedOutputs, sigmaA, sigmaA / f.Ratio}
}
