package kahm

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/nearest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// NoiseStep is the part of a classifier's pipeline that adds the noise: for audits.
type NoiseStep struct{ pipeline *wide.Pipeline }

// NewNoiseStep returns the step of kahm/classifier on noisy images.
func NewNoiseStep(epsilon, delta, d float64) (*NoiseStep, error) {
	x := nearest.Classifier()
	s := x.With(func(s *nearest.ClassifierSettings) {
		s.Data, s.Budget = wide.Noisy, wide.Budget{Epsilon: epsilon, Delta: delta, D: d}
	})
	_, err := x.Resolved(s)
	return &NoiseStep{&s.Pipeline}, err
}

// Draw returns samples of one class, too few for more than one machine, with noise.
func (n *NoiseStep) Draw(ctx context.Context, samples *mat.Dense, rng *rand.Rand) (*mat.Dense, error) {
	trial := &experiment.Trial{Stream: func(string) *rand.Rand { return rng }}
	b, err := wide.NewBuilder(trial, nil, wide.Noisy, n.pipeline)
	if err != nil {
		return nil, err
	}
	clusters, err := b.Split(ctx, &wide.Source{Samples: samples})
	if err != nil {
		return nil, err
	}
	return clusters[0].Samples, nil
}
