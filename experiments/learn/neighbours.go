package learn

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/clusters"
	"privkern/graphs/engine"
)

// NearestNeighbours predicts the class of each query (M×d) by a vote of the k
// samples (the rows of x, N×d) that are nearest in Euclidean distance, for each of the ks. Of
// equally distant samples those with the smaller row number count, and of
// classes with as many votes the smallest is predicted.
//
// Distances from a matrix product, a program on the engine, only select the samples that may be
// among the nearest; these are compared by sums of squared differences, so that rounding
// in the product does not decide.
//
// It takes 2MNd operations and holds 128·N distances. It returns an error where a k is not
// between 1 and N, the columns differ, or a number is not finite.
func NearestNeighbours(ctx context.Context, e *engine.Engine, x *mat.Dense, labels []int, queries *mat.Dense,
	ks ...int) ([][]int, error) {
	m, _ := queries.Dims()
	out := make([][]int, len(ks))
	for i := range out {
		out[i] = make([]int, m)
	}
	classes, _ := byClass(labels)
	err := neighbourVotes(ctx, e, x, labels, queries, ks, func(query, i int, votes []int) {
		out[i][query] = classes[mostVoted(votes)]
	})
	return out, err
}

// NeighbourVotes returns the different labels in increasing order, L of them, and how many of the k nearest samples of
// each query have each of them (M×L), as [NearestNeighbours] counts them.
func NeighbourVotes(ctx context.Context, e *engine.Engine, x *mat.Dense, labels []int, queries *mat.Dense, k int) (
	classes []int, votes *mat.Dense, err error) {
	classes, _ = byClass(labels)
	m, _ := queries.Dims()
	votes = mat.NewDense(m, max(1, len(classes)), nil)
	err = neighbourVotes(ctx, e, x, labels, queries, []int{k}, func(query, _ int, of []int) {
		for c, v := range of {
			votes.Set(query, c, float64(v))
		}
	})
	return classes, votes, err
}

// neighbourVotes calls each with the votes of the classes, in increasing order, of every query and every one of the ks.
func neighbourVotes(ctx context.Context, e *engine.Engine, x *mat.Dense, labels []int, queries *mat.Dense, ks []int,
	each func(query, i int, votes []int)) error {
	const who = "nearest neighbours"
	if err := checkSamples(who, x, labels); err != nil {
		return err
	}
	if err := checkFinite(who, queries); err != nil {
		return err
	}
	if len(ks) == 0 {
		return fmt.Errorf("%s: there is no number of neighbours", who)
	}
	n, d := x.Dims()
	_, qd := queries.Dims()
	for _, k := range ks {
		if k < 1 || k > n {
			return fmt.Errorf("%s: %d neighbours of %d samples; at least one and at most all are required", who, k, n)
		}
	}
	if qd != d {
		return fmt.Errorf("%s: the queries have %d columns, the samples %d; they must be as many", who, qd, d)
	}
	classes, _ := byClass(labels)
	votes := make([]int, len(classes))
	most := slices.Max(ks)
	return clusters.Distances(ctx, e, x, queries, func(query int, distances []float64, size float64) {
		// Errors of the product are far below this: an inner product of d terms is off by at
		// most about d·1.1e-16·|x||y|.
		slack := 1e-12 * float64(d+10) * size
		near := nearest(queries.RawRowView(query), x, distances, most, slack)
		for i, k := range ks {
			clear(votes)
			for _, j := range near[:k] {
				c, _ := slices.BinarySearch(classes, labels[j])
				votes[c]++
			}
			each(query, i, votes)
		}
	})
}

// nearest returns the k points (rows) nearest to the query, the nearest first; approximate holds their distances,
// less a constant, to within half the slack. A point that is among the nearest has an
// approximate distance of at most the k-th smallest one plus the slack, so that none is
// missed; usually k or k+1 points are looked at again.
func nearest(query []float64, points *mat.Dense, approximate []float64, k int, slack float64) []int {
	bound := kthSmallest(approximate, k) + slack
	type candidate struct {
		row      int
		distance float64
	}
	var candidates []candidate
	for j, v := range approximate {
		if v <= bound {
			candidates = append(candidates, candidate{j, squaredDistance(query, points.RawRowView(j))})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	out := make([]int, k)
	for i := range out {
		out[i] = candidates[i].row
	}
	return out
}

// kthSmallest keeps the k smallest values in a heap, the largest of them first.
// It takes O(n log k) operations at worst and O(n) when the order is random, without
// sorting all.
func kthSmallest(values []float64, k int) float64 {
	heap := slices.Clone(values[:k])
	sink := func(i int) {
		for {
			child := 2*i + 1
			if child >= k {
				return
			}
			if child+1 < k && heap[child+1] > heap[child] {
				child++
			}
			if heap[i] >= heap[child] {
				return
			}
			heap[i], heap[child] = heap[child], heap[i]
			i = child
		}
	}
	for i := k/2 - 1; i >= 0; i-- {
		sink(i)
	}
	for _, v := range values[k:] {
		if v < heap[0] {
			heap[0] = v
			sink(0)
		}
	}
	return heap[0]
}
