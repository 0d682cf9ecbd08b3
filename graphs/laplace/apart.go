package laplace

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// apart finds the modes independently, several at a time on the engine's workers. A run is one
// step of [Model.Step]; steps are halved on the host.
func apart(ctx context.Context, e *engine.Engine, problems []Problem, most int) ([]Mode, error) {
	modes := make([]Mode, len(problems))
	err := e.ParallelFor(ctx, len(problems), 1, func(i, _ int) error {
		at, err := problems[i].find(ctx, Tolerance(e), most)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			at = Mode{Err: fmt.Errorf("step %d of the Laplace approximation: %w", at.Steps+1, err)}
		}
		modes[i] = at
		return nil
	})
	return modes, err
}

// find makes Newton steps from f = 0 until they converge, at most the given number.
func (p *Problem) find(ctx context.Context, tolerance float64, most int) (Mode, error) {
	m := p.Model
	at := Mode{Latent: make([]float64, m.n), Change: math.Inf(1)}
	labels := mat.NewDense(m.n, 1, p.Sums)
	logPosterior := p.logLikelihood(at.Latent)
	for at.Steps < most && !(at.Change <= tolerance) {
		s, err := m.Step(ctx, at.Latent, labels)
		if err != nil {
			return at, err
		}
		f, dual := mat.Col(nil, 0, s.Latent), mat.Col(nil, 0, s.Dual)
		if at.Dual == nil {
			at.Dual = make([]float64, len(dual))
		}
		at.Change = largestChange(at.Latent, f)
		posterior := func() float64 { return p.logLikelihood(f) - m.squaredNorm(f, dual)/2 }
		next := posterior()
		for range maxHalvings {
			// A comparison with NaN is false, so that a step to NaN is halved as well.
			if next >= logPosterior-tolerance*math.Abs(logPosterior) {
				break
			}
			halve(f, at.Latent)
			halve(dual, at.Dual)
			next = posterior()
		}
		at.Latent, at.Dual, logPosterior = f, dual, next
		at.Steps++
	}
	return at, nil
}

// halve replaces a by (a + b)/2.
func halve(a, b []float64) {
	for i := range a {
		a[i] = (a[i] + b[i]) / 2
	}
}

// logLikelihood returns Σ log p(y|f), where n labels of sum s share a latent value.
func (p *Problem) logLikelihood(f []float64) float64 {
	sum := 0.0
	for i, v := range f {
		n, s := p.Model.counts[i], p.Sums[i]
		sum -= (n+s)/2*softplus(-v) + (n-s)/2*softplus(v)
	}
	return sum
}

// softplus returns log(1 + eˣ).
func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// largestChange returns max |f'−f| / max(1, |f'|) over the latent values, NaN if a value is not
// finite.
func largestChange(before, after []float64) float64 {
	largest := 0.0
	for i, v := range after {
		largest = max(largest, math.Abs(v-before[i])/max(1, math.Abs(v)))
	}
	return largest
}
