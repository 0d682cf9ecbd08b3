package cloak

import (
	"context"
	"math"

	"privkern/experiments/cloaking/design"
)

const (
	// settled is the change of all weights below which the authors' descent ends.
	settled = 1e-5
	// leastLogDet is log|M| where the determinant in double precision is not positive, and
	// smallestLogDet where it begins to be zero.
	leastLogDet    = -1000
	smallestLogDet = -745
)

// descendPseudo is the descent of the authors' code (lionfish0/dp4gp, findLambdas_repeat), for
// each set alone: M⁺ for M⁻¹ in the gradient and in the norm, and of several starts the one
// with the smallest determinant. That is zero, and so the best, where M is singular.
func (w *Work) descendPseudo(ctx context.Context, ranges []*design.Range) ([]*design.Design, error) {
	starts := 1
	if w.Start.Is(RandomStart) {
		starts = w.Starts
	}
	designs := make([]*design.Design, len(ranges))
	err := w.Engine.ParallelFor(ctx, len(ranges), 1, func(i, _ int) error {
		best, least, steps := []float64(nil), math.Inf(1), 0
		for j := range starts {
			lambda, logDet, taken, err := w.pseudoDescent(ranges[i], i, j)
			if err != nil {
				return InBatch(err, i, len(ranges))
			}
			if logDet < least {
				best, least, steps = lambda, logDet, taken
			}
		}
		d, err := design.FromPseudoInverse(ranges[i], best)
		if err != nil {
			return InBatch(err, i, len(ranges))
		}
		d.Iterations = steps
		w.scale(d)
		designs[i] = d
		return nil
	})
	return designs, err
}

// pseudoDescent is one descent of a set: λ_j falls by the learning rate times 1 − c_jᵀM⁺c_j,
// to zero at least.
func (w *Work) pseudoDescent(r *design.Range, set, number int) (lambda []float64, logDet float64, steps int,
	err error) {
	_, n := r.B.Dims()
	columns := w.columns(r)
	lambda = make([]float64, n)
	start := w.start(len(columns), set, number)
	for i, j := range columns {
		if lambda[j] = float64(len(r.Scale)) / float64(len(columns)); start != nil {
			lambda[j] = start[i]
		}
	}
	for change := math.Inf(1); steps < w.Steps && change >= settled; steps++ {
		inverse, err := design.PseudoInverseOf(r, lambda)
		if err != nil {
			return nil, 0, 0, err
		}
		change = 0
		for _, j := range columns {
			next := max(0, lambda[j]-w.LearningRate*(1-inverse.SquaredNorms[j]))
			change, lambda[j] = max(change, math.Abs(next-lambda[j])), next
		}
	}
	inverse, err := design.PseudoInverseOf(r, lambda)
	if err != nil {
		return nil, 0, 0, err
	}
	logDet = inverse.LogDet
	if points, rank := r.U.Dims(); rank < points || logDet < smallestLogDet {
		logDet = leastLogDet
	}
	return lambda, logDet, steps, nil
}
