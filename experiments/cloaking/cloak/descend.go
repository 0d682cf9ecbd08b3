package cloak

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/learn"
	"privkern/graphs/batch"
	"privkern/graphs/descent"
)

// descend is the paper's projected gradient descent, for all sets and all starts in one
// batch.
func (w *Work) descend(ctx context.Context, ranges []*design.Range) ([]*design.Design, error) {
	if w.Inverse == Pseudo {
		return w.descendPseudo(ctx, ranges)
	}
	starts := 1
	if w.Start.Is(RandomStart) {
		starts = w.Starts
	}
	columns := make([][]int, len(ranges)) // those of a set that have a weight
	problems := make([]descent.Problem, 0, len(ranges)*starts)
	for i, r := range ranges {
		columns[i] = w.columns(r)
		c := r.Columns(columns[i])
		for j := range starts {
			problems = append(problems, descent.Problem{C: c, Start: w.start(len(columns[i]), i, j)})
		}
	}
	results, err := descent.DescendAll(ctx, w.Engine, problems, descent.Options{
		Iterations: w.Steps, LearningRate: w.LearningRate, Tolerance: design.DefaultGap, Progress: w.Progress,
	})
	if err != nil {
		return nil, err
	}
	designs := make([]*design.Design, len(ranges))
	for i, r := range ranges {
		designs[i], err = w.design(r, columns[i], results[i*starts:(i+1)*starts])
		if err != nil {
			return nil, InBatch(err, i, len(ranges))
		}
	}
	return designs, nil
}

// columns are those of a range that have a weight. Equal columns need one between them: with
// distinct columns the first of each set gets it, and the others zero.
func (w *Work) columns(r *design.Range) []int {
	if w.Columns == Distinct {
		return r.Distinct()
	}
	_, n := r.B.Dims()
	return learn.AllRows(n)
}

// start is the first weights of a descent in n columns, counted from 0 among those of a set;
// nil for equal ones that sum to the rank.
func (w *Work) start(n, set, number int) []float64 {
	if w.Start.Is(UniformStart) {
		return nil
	}
	out := make([]float64, n)
	if !w.Start.Is(RandomStart) {
		for j := range out {
			out[j] = w.Start.Number
		}
		return out
	}
	stream := w.Stream(fmt.Sprintf("first weights %d of set %d", number, set))
	for j := range out {
		out[j] = w.StartBelow * stream.Float64()
	}
	return out
}

// design is that of the start which reaches the least covariance, scaled to the sensitivity.
// A start that fails counts only where all do.
func (w *Work) design(r *design.Range, columns []int, ends []descent.Descent) (*design.Design, error) {
	best, least := -1, math.Inf(1)
	for i, end := range ends {
		rank := float64(len(r.Scale))
		if size := end.LogDet + rank*math.Log(end.MaxSquaredNorm); end.Err == nil && size < least {
			best, least = i, size
		}
	}
	if best < 0 {
		errs := make([]error, len(ends))
		for i, end := range ends {
			errs[i] = batch.OfProblem(end.Err, i, len(ends))
		}
		return nil, fmt.Errorf("cloaking descent: %w; try another learning_rate or start, or solver=certified",
			errors.Join(errs...))
	}
	_, n := r.B.Dims()
	lambda := make([]float64, n)
	for j, column := range columns {
		lambda[column] = ends[best].Lambda[j]
	}
	d, err := design.FromWeights(r, lambda)
	if err != nil {
		return nil, err
	}
	d.Iterations = ends[best].Iterations
	w.scale(d)
	return d, nil
}

// scale sets the factor of the noise.
func (w *Work) scale(d *design.Design) {
	if w.Scaling == Squared {
		d.NoiseScale = d.MaxMahalanobis * d.MaxMahalanobis
	}
}
