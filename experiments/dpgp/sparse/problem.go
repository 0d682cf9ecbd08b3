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
	return RepeatTogether(ctx, p, repeats, 1, func(ctx context.Context, first, _ int) ([]T, error) {
		one, err := once(ctx, first)
		return []T{one}, InRepeat(err, first, repeats)
	})
}

// RepeatTogether is [Repeat] for computations of several repeats at a time, from first to the one before end.
func RepeatTogether[T any](
	ctx context.Context, p *Problem, repeats, together int, some func(ctx context.Context, first, end int) ([]T, error),
) ([]T, error) {
	out := make([]T, repeats)
	counter := experiment.NewCounter(p.Trial.Progress, repeats, "repeats")
	err := p.Engine.ParallelFor(ctx, repeats, together, func(lo, hi int) error {
		results, err := some(ctx, lo, hi)
		if err != nil {
			return err
		}
		copy(out[lo:hi], results)
		for range results {
			counter.Step()
		}
		return nil
	})
	return out, err
}

// InRepeat adds the number of a repeat, counted from 0, to its error, where there are several.
func InRepeat(err error, i, repeats int) error {
	if err == nil || repeats == 1 {
		return err
	}
	return fmt.Errorf("repeat %d of %d: %w", i+1, repeats, err)
}
