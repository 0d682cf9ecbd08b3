package kahm

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// NoiseStep is the part of a classifier's pipeline that adds the noise: for audits.
type NoiseStep struct{ pipeline *pipeline }

// NewNoiseStep returns the step of kahm/classifier on noisy images.
func NewNoiseStep(epsilon, delta, d float64) (*NoiseStep, error) {
	p, err := classifier().Resolve(map[string]any{"data": dataNoisy, "epsilon": epsilon, "delta": delta, "d": d})
	if err != nil {
		return nil, err
	}
	b, err := newPipeline(&experiment.Trial{Params: p}, nil)
	return &NoiseStep{b}, err
}

// Draw returns samples of one class, too few for more than one machine, with noise.
func (s *NoiseStep) Draw(ctx context.Context, samples *mat.Dense, rng *rand.Rand) (*mat.Dense, error) {
	b := *s.pipeline
	b.stream = func(string) *rand.Rand { return rng }
	parts, err := b.split(ctx, &source{samples: samples})
	if err != nil {
		return nil, err
	}
	return parts[0].given, nil
}
