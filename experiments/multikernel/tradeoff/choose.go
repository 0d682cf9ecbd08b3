package tradeoff

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/multikernel/kernellist"
	"privkern/experiments/multikernel/recognise"
)

// choiceFolds is the number of parts of the training rows in which γ and ρ are chosen.
const choiceFolds = 3

// chooser scores kernels by the accuracy with which a machine recognises the utility classes from the
// features of one kernel alone.
type chooser struct {
	*learner
	parts  []learn.Fold // of rows of the data
	scores map[string]float64
}

// choice is the chosen kernels and ρ.
type choice struct {
	kernels []kernellist.Kernel
	rho     float64
	// edges are warnings of values at an end of their grid.
	edges []string
}

// choose returns the kernels with their γ, and ρ: the given ones, or those with the best scores, which
// for ρ are the means over the kernels. Of equal scores the first of the grid wins.
func (l *learner) choose(ctx context.Context, kernels []kernellist.Kernel, rows []int) (*choice, error) {
	s := l.settings
	rhos := []float64{s.Rho.Number}
	chooseRho := s.Projection != pca && s.Rho.Is(recognise.CrossValidated)
	if chooseRho {
		rhos = s.RhoGrid
	}
	if !chooseRho && s.Gamma == given {
		return &choice{kernels: kernels, rho: s.Rho.Number}, nil
	}
	c := &chooser{learner: l, scores: map[string]float64{}}
	for _, f := range l.innerParts(rows, "choice of kernels") {
		c.parts = append(c.parts, learn.Fold{Train: learn.Select(rows, f.Train), Test: learn.Select(rows, f.Test)})
	}
	for _, f := range c.parts {
		if err := l.data.checkFold(f, s); err != nil {
			return nil, fmt.Errorf("choosing gamma and rho in %d parts of the training rows: %w", choiceFolds, err)
		}
	}
	var best *choice
	most := math.Inf(-1)
	for _, rho := range rhos {
		found, score, err := c.gammas(ctx, kernels, rho)
		if err != nil {
			return nil, err
		}
		if score > most {
			best, most = &choice{kernels: found, rho: rho}, score
		}
	}
	if math.IsInf(most, -1) {
		return nil, fmt.Errorf("no gamma and rho of the grids compresses the kernels %s; take another rho", s.Kernels)
	}
	if chooseRho {
		best.edge("rho", best.rho, s.RhoGrid)
	}
	for i, k := range best.kernels {
		if s.Gamma == crossValidated && len(k.Parameters) > 0 {
			best.edge(fmt.Sprintf("gamma of %s (kernel %d)", k.Family, i+1), k.Parameters[0], s.GammaGrid)
		}
	}
	return best, nil
}

func (c *choice) edge(what string, v float64, grid []float64) {
	if len(grid) > 1 && (v == slices.Min(grid) || v == slices.Max(grid)) {
		c.edges = append(c.edges, fmt.Sprintf("cross-validation: the best %s is %g, an end of its grid", what, v))
	}
}

// innerParts divides some rows as the settings divide all; the parts have places in rows. The purpose names the random
// stream.
func (l *learner) innerParts(rows []int, purpose string) []learn.Fold {
	columns, groups := l.data.columns(), l.data.groups
	for i := range columns {
		columns[i] = learn.Select(columns[i], rows)
	}
	if groups != nil {
		groups = learn.Select(groups, rows)
	}
	return division{folds: choiceFolds, how: l.settings.Split}.divide(columns, groups, l.Stream(purpose))
}

// gammas returns the kernels with the γ of the best scores, and the mean of these.
func (c *chooser) gammas(ctx context.Context, kernels []kernellist.Kernel, rho float64) ([]kernellist.Kernel, float64,
	error) {
	var out []kernellist.Kernel
	total := 0.0
	for _, k := range kernels {
		candidates := []kernellist.Kernel{k}
		if c.settings.Gamma == crossValidated && len(k.Parameters) > 0 {
			candidates = nil
			for _, g := range c.settings.GammaGrid {
				if other, ok := k.WithGamma(g); ok {
					candidates = append(candidates, other)
				}
			}
		}
		best, most := -1, math.Inf(-1)
		for i, candidate := range candidates {
			name := candidate.Kernel.String()
			if slices.ContainsFunc(out, func(o kernellist.Kernel) bool { return o.Kernel.String() == name }) {
				continue
			}
			score, err := c.score(ctx, candidate, rho)
			if err != nil {
				return nil, 0, err
			}
			if score > most {
				best, most = i, score
			}
		}
		if best < 0 {
			return nil, math.Inf(-1), nil
		}
		out = append(out, candidates[best])
		total += most
	}
	return out, total / float64(len(kernels)), nil
}

// score returns the mean accuracy over folds and utilities, and −∞ for a kernel that is not compressed
// with this ρ.
func (c *chooser) score(ctx context.Context, k kernellist.Kernel, rho float64) (float64, error) {
	key := fmt.Sprint(k.Kernel.String(), " ", rho)
	if v, ok := c.scores[key]; ok {
		return v, nil
	}
	sum, count := 0.0, 0.0
	for _, f := range c.parts {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		part, err := c.part(f.Train, rho)
		if err != nil {
			return 0, err
		}
		test := c.scaled(part.scaling, learn.SelectRows(c.data.x, f.Test))
		train, tested, err := part.features(ctx, k, test)
		if err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			c.scores[key] = math.Inf(-1) // no such compression
			return c.scores[key], nil
		}
		normalise(train, tested)
		for _, u := range c.data.utilities {
			m, err := learn.TrainSVM(train, learn.Select(u.labels, f.Train), learn.SVMOptions{C: 1})
			if err != nil {
				return 0, fmt.Errorf("choosing gamma and rho: %w", err)
			}
			sum += learn.Accuracy(m.Predict(tested), learn.Select(u.labels, f.Test))
			count++
		}
	}
	c.scores[key] = sum / count
	return c.scores[key], nil
}

// normalise scales features to variance one over the training samples, which suits C = 1.
func normalise(train, test *mat.Dense) {
	s := learn.ScalingOf(train)
	s.Apply(train)
	s.Apply(test)
}
