package cloaking

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/graphs/cloak"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// solveDesigns finds the noise covariances for a batch of cloaking matrices, as
// the parameters of solverParams say. Progress, which may be nil, is told of
// the steps of the gradient descent.
func solveDesigns(ctx context.Context, e *engine.Engine, cs []*mat.Dense, p experiment.Params, progress func(done, total int)) ([]*design.Range, []*design.Design, error) {
	ranges := make([]*design.Range, len(cs))
	err := e.ParallelFor(ctx, len(cs), 1, func(i, _ int) (err error) {
		ranges[i], err = design.Whiten(cs[i], rankOf(p), rankTolerance(e))
		return inBatch(err, i, len(cs))
	})
	if err != nil {
		return nil, nil, err
	}
	designs, err := solveRanges(ctx, e, ranges, p, progress)
	return ranges, designs, err
}

// solveRanges is solveDesigns where the ranges are known.
func solveRanges(ctx context.Context, e *engine.Engine, ranges []*design.Range, p experiment.Params, progress func(done, total int)) ([]*design.Design, error) {
	designs := make([]*design.Design, len(ranges))
	if p.Text("solver") != solverCertified {
		return designs, descend(ctx, e, ranges, p, progress, designs)
	}
	err := e.ParallelFor(ctx, len(ranges), 1, func(i, _ int) (err error) {
		designs[i], err = design.Solve(ctx, ranges[i], 0)
		return inBatch(err, i, len(ranges))
	})
	return designs, err
}

// rankTolerance is what decides numerical ranks.
func rankTolerance(e *engine.Engine) float64 {
	if singlePrecision(e) {
		return design.Tolerance32
	}
	return design.Tolerance64
}

// singlePrecision says whether cloaking matrices are computed in float32. Their
// small singular values are then rounding errors, which is why the numerical
// rank cannot be decided as in float64, although designs always are float64.
func singlePrecision(e *engine.Engine) bool { return e.DType() == "float32" }

// rankMetric is what the noise lies in.
var rankMetric = experiment.Metric{Name: "rank", Doc: "number of released directions, the smallest over the sets of predictions that are released (with noise only)"}

// descend is the paper's projected gradient descent, on the distinct columns of
// every range.
func descend(ctx context.Context, e *engine.Engine, ranges []*design.Range, p experiment.Params, progress func(done, total int), designs []*design.Design) error {
	problems := make([]cloak.Problem, len(ranges))
	for i, r := range ranges {
		problems[i].C = r.DistinctColumns()
		if p.Text("start") != "uniform" {
			_, n := problems[i].C.Dims()
			problems[i].Start = make([]float64, n)
			for j := range problems[i].Start {
				problems[i].Start[j] = p.Float("start")
			}
		}
	}
	results, err := cloak.DescendAll(ctx, e, problems, cloak.Options{
		Iterations: gradientStepsOf(p), LearningRate: p.Float("learning_rate"), Tolerance: design.DefaultGap, Progress: progress,
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
			return inBatch(err, i, len(ranges))
		}
		designs[i].Iterations = results[i].Iterations
	}
	return nil
}

// gradientStepsOf returns the number of steps, by either of its names.
func gradientStepsOf(p experiment.Params) int {
	if _, ok := p[gradientStepsClassifier]; ok {
		return p.Int(gradientStepsClassifier)
	}
	return p.Int(gradientSteps)
}

// inBatch says which one of several failed.
func inBatch(err error, i, of int) error {
	if err == nil || of == 1 {
		return err
	}
	return fmt.Errorf("set of predictions %d of %d: %w", i+1, of, err)
}
