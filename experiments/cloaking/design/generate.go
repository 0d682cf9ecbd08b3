package design

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// FewColumns is the most columns of which the whole program is solved at once, by a matrix of their order.
const FewColumns = 2000

// generated is solveOn by column generation: the optimum carries at most r(r+1)/2 columns, so that the
// program is solved on some of them, and those that break its bound g ≤ 1 the most join, until the
// certificate over all columns holds. A round costs O(Nr²) operations and a small program, of at most the given
// number of steps; there are at most as many rounds.
func generated(ctx context.Context, r *Range, columns []int, gap float64, most int) (*Design, error) {
	k, n := r.B.Dims()
	joining := min(k*(k+1), max(4*k, 64))
	lambda := make([]float64, n)
	some := spanning(r.B)
	for _, c := range some {
		lambda[c] = 1
	}
	for steps, round := 0, 0; ; round++ {
		chol, ok := choleskyOfDesign(r.B, lambda)
		if !ok {
			return nil, &NoCertificateError{k, n, steps}
		}
		g, total := squaredNorms(chol, r.B), sum(lambda)
		if gapOf(k, maxOf(g), total) <= gap {
			return certified(r, lambda, gap, steps)
		}
		kept := some[:0:0] // that carry weight
		for _, c := range some {
			if lambda[c] > 1e-12*total {
				kept = append(kept, c)
			}
		}
		joined := worst(g, columns, kept, joining)
		next := append(kept, joined...)
		slices.Sort(next)
		if slices.Equal(next, some) || round >= most {
			return nil, &GapError{k, n, steps, gapOf(k, maxOf(g), total), gap}
		}
		some = next
		clear(lambda)
		p := newInterior(r.B, some)
		taken, _, err := p.solve(ctx, gap/4, most, lambda)
		if err != nil {
			return nil, err
		}
		steps += taken
	}
}

// spanning returns a column of B (r×N) for each of its dimensions, the farthest one from the span of those before.
func spanning(b *mat.Dense) []int {
	k, n := b.Dims()
	left, along, columns := columnNorms(b), make([]float64, n), make([]int, k)
	q := mat.NewDense(k, k, nil) // the orthonormal directions, one in a row
	for i := range k {
		columns[i] = floats.MaxIdx(left)
		direction := q.RawRowView(i)
		mat.Col(direction, columns[i], b)
		for range 2 { // the second time for rounding
			for j := range i {
				before := q.RawRowView(j)
				floats.AddScaled(direction, -floats.Dot(before, direction), before)
			}
		}
		floats.Scale(1/floats.Norm(direction, 2), direction)
		blas64.Gemv(blas.Trans, 1, b.RawMatrix(), vector(direction), 0, vector(along))
		for j, v := range along {
			left[j] -= v * v
		}
	}
	slices.Sort(columns)
	return columns
}

// worst returns up to most of the columns with the largest g, but none of those kept, which are in ascending order.
func worst(g []float64, columns, kept []int, most int) []int {
	found := make([]int, 0, most+1) // by descending g
	for _, c := range columns {
		if len(found) == most && g[c] <= g[found[most-1]] {
			continue
		}
		if _, has := slices.BinarySearch(kept, c); has {
			continue
		}
		at, _ := slices.BinarySearchFunc(found, g[c], func(f int, v float64) int {
			if g[f] >= v {
				return -1
			}
			return 1
		})
		found = slices.Insert(found, at, c)
		found = found[:min(most, len(found))]
	}
	return found
}
