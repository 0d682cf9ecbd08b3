// Package descent minimises the noise covariance of the cloaking mechanism (Smith, Álvarez and
// Lawrence) by the paper's projected gradient descent, for many problems at once.
//
// For a P×N matrix C with columns c_i, the noise covariance is M = Σ λ_i c_i c_iᵀ with λ ≥ 0, as
// small as c_iᵀ M⁻¹ c_i ≤ 1 allows. The paper's gradient (2) is that of the objective
//
//	f(λ) = Σλ − log|M|,  ∂f/∂λ_j = 1 − c_jᵀ M⁻¹ c_j,
//
// whose minimum is the D-optimal design: Σλ = P, and c_jᵀ M⁻¹ c_j = 1 for every c_j with λ_j > 0.
//
// Update, projection and stopping test are in the graph, which makes several steps per run.
// Problems of one size class form one batch, whose weights stay on the backend; each run copies
// only the number of steps of each problem to the host. A problem has the same bits alone and in
// any batch.
package descent

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
)

// DefaultLearningRate is the step length of the paper's code.
const DefaultLearningRate = 0.05

// Options control a descent.
type Options struct {
	// Iterations is the largest number of steps; it must be positive.
	Iterations int
	// LearningRate is the step length; 0 stands for DefaultLearningRate.
	LearningRate float64
	// Tolerance is the gap at which the descent ends. With 0 all iterations are done.
	Tolerance float64
	// Progress, if not nil, is called with the numbers of iterations done and in all, summed over
	// all problems.
	Progress func(done, total int)
}

// Problem is one descent of a batch.
type Problem struct {
	C *mat.Dense // P×N
	// Start is the first λ ≥ 0, of length N; nil stands for P/N each, which has the sum of the
	// optimum.
	Start []float64
}

// Descent is the result of a descent.
type Descent struct {
	// Err is the error of this descent, an *op.NotPositiveDefiniteError if M is singular. No other
	// field is set then.
	Err error
	// Lambda is the last iterate. Multiplied by MaxSquaredNorm it satisfies every
	// c_iᵀ M⁻¹ c_i ≤ 1.
	Lambda []float64
	// Iterations is the number of steps done.
	Iterations int
	// Gap bounds the excess of log|M| over the optimum, for M scaled to satisfy the constraints:
	// P·log(Σλ·max_i c_iᵀM⁻¹c_i / P).
	Gap float64
	// Objective is Σλ − log|M|, LogDet the log|M| in it.
	Objective, LogDet float64
	// MaxSquaredNorm is max_i c_iᵀ M⁻¹ c_i, the square Δ² of the largest
	// Mahalanobis norm.
	MaxSquaredNorm float64
}

// Descend is [DescendAll] for one problem, whose error it returns.
func Descend(ctx context.Context, e *engine.Engine, p Problem, opts Options) (Descent, error) {
	all, err := DescendAll(ctx, e, []Problem{p}, opts)
	if err != nil {
		return Descent{}, err
	}
	return all[0], all[0].Err
}

// DescendAll minimises f for each problem, such as the folds of a data set under several
// configurations and from several starts. C (P×N) must have rank P, because M is singular
// otherwise; for a smaller rank, pass the coordinates of C in its range. A problem that fails has
// an error of its own, and the others are solved.
func DescendAll(ctx context.Context, e *engine.Engine, problems []Problem, opts Options) ([]Descent, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("cloaking descent: %w", err)
	}
	for i, p := range problems {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("cloaking descent: %w", batch.OfProblem(err, i, len(problems)))
		}
	}
	results := make([]Descent, len(problems))
	report := newCounter(opts.Progress, len(problems)*opts.Iterations)
	batches := divide(problems)
	err := e.ParallelFor(ctx, len(batches), 1, func(i, _ int) error {
		return batches[i].descend(ctx, e, &opts, report, results)
	})
	return results, err
}

// check sets defaults, and returns an error for invalid options.
func (o *Options) check() error {
	if o.LearningRate == 0 {
		o.LearningRate = DefaultLearningRate
	}
	switch {
	case o.Iterations < 1:
		return fmt.Errorf("%d iterations: there must be at least one", o.Iterations)
	case !(o.LearningRate > 0) || math.IsInf(o.LearningRate, 0):
		return fmt.Errorf("the learning rate is %g; it must be positive and finite", o.LearningRate)
	case !(o.Tolerance >= 0):
		return fmt.Errorf("the tolerance is %g; it must not be negative", o.Tolerance)
	}
	return nil
}

// check returns an error for a problem whose matrix or start is invalid.
func (p *Problem) check() error {
	if err := finite.Matrix("the matrix C", p.C); err != nil {
		return err
	}
	rows, n := p.C.Dims()
	if rows > n {
		return fmt.Errorf("the matrix C is %d×%d: with fewer columns than rows M is singular", rows, n)
	}
	if p.Start != nil && len(p.Start) != n {
		return fmt.Errorf("the start has %d elements for %d columns", len(p.Start), n)
	}
	for j, v := range p.Start {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("element %d of the start is %g; it must be finite and not negative", j, v)
		}
	}
	return nil
}

// start returns the first λ.
func (p *Problem) start() []float64 {
	if p.Start != nil {
		return p.Start
	}
	rows, n := p.C.Dims()
	equal := make([]float64, n)
	for j := range equal {
		equal[j] = float64(rows) / float64(n)
	}
	return equal
}

// take sets the result of a p×n problem from the last evaluation, or its error: that of the
// graph, or one for numbers that are not finite.
func (d *Descent) take(p, n int, failed error, lambda []float64, logdet, sum, worst float64) {
	gap := float64(p) * math.Log(sum*worst/float64(p))
	switch {
	case failed != nil:
		d.Err = fmt.Errorf("iteration %d: %w", d.Iterations, failed)
	case math.IsNaN(gap) || math.IsInf(gap, 0) || math.IsNaN(logdet):
		d.Err = fmt.Errorf("iteration %d: %w", d.Iterations, errDiverged)
	default:
		d.Lambda, d.Gap, d.MaxSquaredNorm = append([]float64(nil), lambda[:n]...), gap, worst
		d.Objective, d.LogDet = sum-logdet, logdet
		return
	}
	*d = Descent{Err: d.Err}
}

var errDiverged = errors.New("the descent left the finite numbers; choose a smaller learning rate")
