// Package descent minimises the cloaking noise of Smith, Álvarez and Lawrence by
// the paper's projected gradient descent, as a differentiated graph.
//
// For a P×N matrix C with columns c_i the noise covariance is
// M = Σ λ_i c_i c_iᵀ with λ ≥ 0, as small as c_iᵀ M⁻¹ c_i ≤ 1 allows. The
// paper's gradient (2) belongs to the objective
//
//	f(λ) = Σλ − log|M|,  ∂f/∂λ_j = 1 − c_jᵀ M⁻¹ c_j,
//
// whose minimum is the D-optimal design: Σλ = P there, and every c_j with
// λ_j > 0 has c_jᵀ M⁻¹ c_j = 1.
package descent

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

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
	// Start is the first λ, of length N, without negative elements; nil stands
	// for P/N each, which has the sum of the optimum.
	Start []float64
	// Tolerance ends the descent once the gap is not above it. With 0 all
	// iterations are done.
	Tolerance float64
	// Progress, if not nil, is called with the number of iterations done and in all.
	Progress func(done, total int)
}

// Descent is where a descent ended.
type Descent struct {
	// Lambda is the last iterate, as the descent leaves it. Multiplied by
	// MaxSquaredNorm it satisfies every c_iᵀ M⁻¹ c_i ≤ 1.
	Lambda []float64
	// Iterations is the number of steps done.
	Iterations int
	// Gap bounds by how much log|M|, after M is scaled until the constraints
	// hold, exceeds the optimum: P·log(Σλ·max_i c_iᵀM⁻¹c_i / P).
	Gap float64
	// Objective is Σλ − log|M|.
	Objective float64
	// MaxSquaredNorm is max_i c_iᵀ M⁻¹ c_i, the square Δ² of the largest
	// Mahalanobis norm.
	MaxSquaredNorm float64
}

// Descend minimises f from one start. C is P×N of rank P, else M is singular
// and the error is an *op.NotPositiveDefiniteError; for a smaller rank, pass
// the coordinates of C in its range. The graph is built once per shape; the
// loop stays outside of it.
func Descend(ctx context.Context, e *engine.Engine, c *mat.Dense, opts Options) (Descent, error) {
	if err := check(c, &opts); err != nil {
		return Descent{}, fmt.Errorf("cloaking descent: %w", err)
	}
	p, n := c.Dims()
	s, err := e.Session(Program(p, n))
	if err != nil {
		return Descent{}, err
	}
	defer s.Close()
	if err := s.Pin("c", e.Matrix(c)); err != nil {
		return Descent{}, err
	}
	r := Descent{Lambda: append([]float64(nil), opts.Start...)}
	for {
		gradient, err := r.evaluate(ctx, e, s, p)
		if err != nil {
			return Descent{}, fmt.Errorf("iteration %d: %w", r.Iterations, err)
		}
		if r.Iterations == opts.Iterations || (opts.Tolerance > 0 && r.Gap <= opts.Tolerance) {
			return r, nil
		}
		for j, g := range gradient {
			r.Lambda[j] = max(0, r.Lambda[j]-opts.LearningRate*g)
		}
		r.Iterations++
		if opts.Progress != nil {
			opts.Progress(r.Iterations, opts.Iterations)
		}
	}
}

// evaluate runs the program at Lambda and returns the gradient.
func (r *Descent) evaluate(ctx context.Context, e *engine.Engine, s *engine.Session, p int) ([]float64, error) {
	out, err := s.Run(ctx, engine.Values{"lambda": e.Column(r.Lambda)})
	if err != nil {
		return nil, err
	}
	read := engine.Read(out)
	gradient := read.Floats("gradient")
	if r.Objective = read.Scalar("objective"); read.Err() != nil {
		return nil, read.Err()
	}
	sum := 0.0
	r.MaxSquaredNorm = 0
	for j, g := range gradient {
		r.MaxSquaredNorm = max(r.MaxSquaredNorm, 1-g)
		sum += r.Lambda[j]
	}
	r.Gap = float64(p) * math.Log(sum*r.MaxSquaredNorm/float64(p))
	if math.IsNaN(r.Gap) || math.IsInf(r.Gap, 0) || math.IsNaN(r.Objective) {
		return nil, errors.New("the descent left the finite numbers; choose a smaller learning rate")
	}
	return gradient, nil
}

// Problem is one descent of a batch.
type Problem struct {
	C     *mat.Dense // P×N
	Start []float64  // as in Options
}

// DescendAll runs a descent for each problem, such as the folds of a data set
// or several starts, on the engine's workers. Options.Start must be nil.
// Progress counts iterations over all problems.
func DescendAll(ctx context.Context, e *engine.Engine, problems []Problem, opts Options) ([]Descent, error) {
	if opts.Start != nil {
		return nil, errors.New("cloaking descents: the starts belong to the problems, not to the options")
	}
	results := make([]Descent, len(problems))
	report := newCounter(opts.Progress, len(problems)*opts.Iterations)
	err := e.ParallelFor(ctx, len(problems), 1, func(i, _ int) error {
		o := opts
		o.Start, o.Progress = problems[i].Start, report
		var err error
		if results[i], err = Descend(ctx, e, problems[i].C, o); err != nil {
			return fmt.Errorf("problem %d of %d: %w", i+1, len(problems), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Program computes "objective", Σλ − log|C diag(λ) Cᵀ|, and "gradient", its
// symbolic derivative by λ (N×1), from the inputs "c" (P×N) and "lambda"
// (N×1).
func Program(p, n int) engine.Program {
	return engine.Program{
		Name: "cloaking descent",
		Key:  fmt.Sprintf("cloaking descent %d %d", p, n),
		Build: func(b *engine.Builder) {
			c, lambda := b.Input("c", p, n), b.Input("lambda", n, 1)
			m := b.WeightedGram(c, lambda) // M = C diag(λ) Cᵀ, p×p
			logdet := b.LogDet(m)
			objective := b.Sub(b.Sum(lambda), logdet) // f(λ) = Σλ − log|M|
			// Eq. (2): ∂f/∂λ_j = 1 − c_jᵀM⁻¹c_j, n×1.
			gradient := b.Gradient(objective, lambda)[0]
			b.Output("objective", objective)
			b.Output("gradient", gradient)
		},
	}
}

// check refuses invalid input and fills in the defaults.
func check(c *mat.Dense, o *Options) error {
	if err := finite.Matrix("the matrix C", c); err != nil {
		return err
	}
	p, n := c.Dims()
	if p > n {
		return fmt.Errorf("the matrix C is %d×%d: with fewer columns than rows M is singular", p, n)
	}
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
	if o.Start == nil {
		o.Start = make([]float64, n)
		for j := range o.Start {
			o.Start[j] = float64(p) / float64(n)
		}
	}
	if len(o.Start) != n {
		return fmt.Errorf("the start has %d elements for %d columns", len(o.Start), n)
	}
	for j, v := range o.Start {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("element %d of the start is %g; it must be finite and not negative", j, v)
		}
	}
	return nil
}
