package cloak

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/graphs/descent"
	"privkern/graphs/engine"
)

// SolveDesigns finds the noise covariances for a batch of cloaking matrices (P×N
// each). Progress, if not nil, is called with the steps of the gradient descent.
func SolveDesigns(ctx context.Context, e *engine.Engine, cs []*mat.Dense, s *Solver,
	progress func(done, total int)) ([]*design.Range, []*design.Design, error) {
	ranges := make([]*design.Range, len(cs))
	err := e.ParallelFor(ctx, len(cs), 1, func(i, _ int) (err error) {
		ranges[i], err = design.Whiten(cs[i], s.Directions(), RankTolerance(e))
		return InBatch(err, i, len(cs))
	})
	if err != nil {
		return nil, nil, err
	}
	designs, err := SolveRanges(ctx, e, ranges, s, progress)
	return ranges, designs, err
}

// SolveRanges is [SolveDesigns] where the ranges are known.
func SolveRanges(ctx context.Context, e *engine.Engine, ranges []*design.Range, s *Solver,
	progress func(done, total int)) ([]*design.Design, error) {
	designs := make([]*design.Design, len(ranges))
	if s.Algorithm == Gradient {
		return designs, descend(ctx, e, ranges, s, progress, designs)
	}
	err := e.ParallelFor(ctx, len(ranges), 1, func(i, _ int) (err error) {
		designs[i], err = design.Solve(ctx, ranges[i], 0)
		return InBatch(err, i, len(ranges))
	})
	return designs, err
}

// RankTolerance is what decides numerical ranks.
func RankTolerance(e *engine.Engine) float64 {
	if SinglePrecision(e) {
		return design.Tolerance32
	}
	return design.Tolerance64
}

// SinglePrecision says whether cloaking matrices are computed in float32. Their
// small singular values are then rounding errors, which is why the numerical
// rank cannot be decided as in float64, although designs always are float64.
func SinglePrecision(e *engine.Engine) bool { return e.DType() == "float32" }

// descend is the paper's projected gradient descent, on the distinct columns of
// every range. Equal columns need one weight between them: the first of each set gets
// it, and the others zero.
func descend(ctx context.Context, e *engine.Engine, ranges []*design.Range, s *Solver,
	progress func(done, total int), designs []*design.Design) error {
	problems := make([]descent.Problem, len(ranges))
	for i, r := range ranges {
		problems[i].C = r.DistinctColumns()
		if !s.Start.Is(UniformStart) {
			_, n := problems[i].C.Dims()
			problems[i].Start = make([]float64, n)
			for j := range problems[i].Start {
				problems[i].Start[j] = s.Start.Number
			}
		}
	}
	results, err := descent.DescendAll(ctx, e, problems, descent.Options{
		Iterations: s.Steps, LearningRate: s.LearningRate, Tolerance: design.DefaultGap, Progress: progress,
	})
	if err != nil {
		return fmt.Errorf("%w; try another learning_rate or start, or solver=certified", err)
	}
	for i, r := range ranges {
		_, all := r.B.Dims()
		lambda := make([]float64, all)
		for j, column := range r.Distinct() {
			lambda[column] = results[i].Lambda[j]
		}
		if designs[i], err = design.FromWeights(r, lambda); err != nil {
			return InBatch(err, i, len(ranges))
		}
		designs[i].Iterations = results[i].Iterations
	}
	return nil
}

// InBatch says which one of several failed.
func InBatch(err error, i, of int) error {
	if err == nil || of == 1 {
		return err
	}
	return fmt.Errorf("set of predictions %d of %d: %w", i+1, of, err)
}
