package design

import (
	"context"
	"slices"
)

// generated is solveOn by column generation: the optimum carries at most r(r+1)/2 columns, so that the
// program is solved on some of them, and those that break its bound g ≤ 1 the most join, until the
// certificate over all columns holds. A round costs O(Nr²) operations besides a small program.
//
// It returns nil, without an error, where it would not be much cheaper than the whole program.
func generated(ctx context.Context, r *Range, columns []int, gap float64, most int) (*Design, error) {
	k, n := r.B.Dims()
	support := k * (k + 1) / 2
	if len(columns) < fewColumns || len(columns) < 8*support {
		return nil, nil
	}
	lambda := make([]float64, n)
	for _, c := range columns {
		lambda[c] = 1
	}
	var some []int
	for steps := 0; ; {
		chol, ok := choleskyOfDesign(r.B, lambda)
		if !ok {
			return nil, nil
		}
		g, total := squaredNorms(chol, r.B), sum(lambda)
		if some != nil && gapOf(k, maxOf(g), total) <= gap {
			return certified(r, lambda, gap, steps)
		}
		kept := some[:0:0] // that carry weight
		for _, c := range some {
			if lambda[c] > 1e-12*total {
				kept = append(kept, c)
			}
		}
		joined := worst(g, columns, kept, 2*support)
		next := append(kept, joined...)
		slices.Sort(next)
		if len(joined) == 0 || slices.Equal(next, some) || steps >= most {
			return nil, nil
		}
		some = next
		clear(lambda)
		p := newInterior(r.B, some)
		taken, _, err := p.solve(ctx, gap/4, most-steps, lambda)
		if err != nil {
			return nil, err
		}
		steps += taken
	}
}

// fewColumns is the number of columns below which the whole program is solved.
const fewColumns = 1000

// worst returns up to most of the columns with the largest g, but none of those kept.
func worst(g []float64, columns, kept []int, most int) []int {
	has := make(map[int]bool, len(kept))
	for _, c := range kept {
		has[c] = true
	}
	var others []int
	for _, c := range columns {
		if !has[c] {
			others = append(others, c)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int {
		switch {
		case g[a] > g[b]:
			return -1
		case g[a] < g[b]:
			return 1
		}
		return 0
	})
	return others[:min(most, len(others))]
}

