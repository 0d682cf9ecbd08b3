package laplace

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// apart finds the modes one by one, several at a time on the engine's workers, with a step of
// [Model.Step] a run and its halving on the host.
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

// find takes Newton steps from f = 0 until they converge, most at most.
func (p *Problem) find(ctx context.Context, tolerance float64, most int) (Mode, error) {
	m := p.Model
	at := Mode{Latent: make([]float64, m.n), Change: math.Inf(1)}
	labels := mat.NewDense(m.n, 1, p.Sums)
	height := p.logLikelihood(at.Latent)
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
		posterior := func() float64 { return p.logLikelihood(f) - m.SquaredNorm(f, dual)/2 }
		next := posterior()
		for range maxHalvings {
			// Written so that a NaN is halved, too.
			if next >= height-tolerance*math.Abs(height) {
				break
			}
			halve(f, at.Latent)
			halve(dual, at.Dual)
			next = posterior()
		}
		at.Latent, at.Dual, height = f, dual, next
		at.Steps++
	}
	return at, nil
}

// halve moves a to the middle between it and b.
func halve(a, b []float64) {
	for i := range a {
		a[i] = (a[i] + b[i]) / 2
	}
}

// logLikelihood is Σ log p(y|f), with n labels of sum s at a latent value.
func (p *Problem) logLikelihood(f []float64) float64 {
	sum := 0.0
	for i, v := range f {
		n, s := p.Model.counts[i], p.Sums[i]
		sum -= (n+s)/2*softplus(-v) + (n-s)/2*softplus(v)
	}
	return sum
}

// softplus is log(1 + eˣ).
func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// largestChange is the largest change of a latent value in a step, relative to the value or to
// 1 where that is larger; NaN where one is not finite.
func largestChange(before, after []float64) float64 {
	largest := 0.0
	for i, v := range after {
		largest = max(largest, math.Abs(v-before[i])/max(1, math.Abs(v)))
	}
	return largest
}
