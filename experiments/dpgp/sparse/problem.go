package sparse

import (
	"context"
	"fmt"
	"math/rand/v2"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Problem holds the model, the noise and the engine of a trial.
type Problem struct {
	Trial  *experiment.Trial
	Engine *engine.Engine
	Model  *Model
	Noise  Noise
	Update Update
}

// Publishes reports whether the record leaves out all functions of the data but the output of the
// mechanism.
func (p *Problem) Publishes() bool { return p.Trial.Secure && p.Noise.SigmaA > 0 }

// NoiseMetrics are those of the noise in the sums.
func (p *Problem) NoiseMetrics() NoiseMetrics {
	return NoiseMetrics{Sensitivity: p.Noise.Sensitivity, NoiseDeviation: NoiseDeviation{SigmaA: p.Noise.SigmaA}}
}

// FitMetrics are those of every fit of the model.
func (p *Problem) FitMetrics() FitMetrics {
	ridge := p.Noise.Ridge(p.Model, p.Update.Rho, p.Update.Regularisation)
	return FitMetrics{NoiseMetrics: p.NoiseMetrics(), Lambda: ridge}
}

// Stream is the random stream of one purpose in one repeat.
func (p *Problem) Stream(purpose string, repeat int) *rand.Rand {
	return p.Trial.Stream(fmt.Sprintf("%s, repeat %d", purpose, repeat))
}

// Repeat runs the repeats of a trial, each with streams of its own, so that their order does not
// matter, and returns the result of each.
func Repeat[T any](
	ctx context.Context, p *Problem, repeats int, once func(ctx context.Context, repeat int) (T, error),
) ([]T, error) {
	out := make([]T, repeats)
	counter := experiment.NewCounter(p.Trial.Progress, repeats, "repeats")
	err := p.Engine.ParallelFor(ctx, repeats, 1, func(i, _ int) (err error) {
		if out[i], err = once(ctx, i); err != nil {
			if repeats > 1 {
				return fmt.Errorf("repeat %d of %d: %w", i+1, repeats, err)
			}
			return err
		}
		counter.Step()
		return nil
	})
	return out, err
}
