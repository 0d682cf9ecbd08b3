package learn

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// neighbourBlock is the number of queries whose distances are computed in one
// matrix product.
const neighbourBlock = 128

// NearestNeighbours predicts the class of each query (M×d) by a vote of the k
// samples (the rows of x, N×d) that are nearest in Euclidean distance. Of
// equally distant samples those with the smaller row number count, and of
// classes with as many votes the smallest is predicted.
//
// Distances from a matrix product only select the samples that may be among the
// nearest; these are compared by sums of squared differences, so that rounding
// in the product does not decide.
//
// It takes 2MNd operations and holds 128·N distances. It returns an error where k is not
// between 1 and N, the columns differ, or a number is not finite.
func NearestNeighbours(x *mat.Dense, labels []int, queries *mat.Dense, k int) ([]int, error) {
	const who = "nearest neighbours"
	if err := checkSamples(who, x, labels); err != nil {
		return nil, err
	}
	if err := checkFinite(who, queries); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	m, qd := queries.Dims()
	switch {
	case k < 1 || k > n:
		return nil, fmt.Errorf("%s: %d neighbours of %d samples; at least one and at most all are required", who, k, n)
	case qd != d:
		return nil, fmt.Errorf("%s: the queries have %d columns, the samples %d; they must be as many", who, qd, d)
	}
	points := make([][]float64, n)
	for i := range points {
		points[i] = x.RawRowView(i)
	}
	p := newProducts(points)
	classes, _ := byClass(labels)
	votes := make([]int, len(classes))
	out := make([]int, m)
	distances := make([]float64, neighbourBlock*n)
	for first := 0; first < m; first += neighbourBlock {
		rows := min(neighbourBlock, m-first)
		block := make([][]float64, rows)
		for i := range block {
			block[i] = queries.RawRowView(first + i)
		}
		moved, norms := p.moved(block)
		blas64.Gemm(blas.NoTrans, blas.Trans, -2, moved, p.points, 0,
			blas64.General{Rows: rows, Cols: n, Stride: n, Data: distances[:rows*n]})
		for i, query := range block {
			row := distances[i*n : (i+1)*n]
			largest := norms[i]
			for j, norm := range p.norms {
				row[j] += norm
				largest = max(largest, norm)
			}
			// Errors of the product are far below this.
			// |x−y|² less |y|² of the query: the order is the same. An inner product of
			// d terms is off by at most about d·1.1e-16·|x||y|.
			slack := 1e-12 * float64(d+10) * largest
			clear(votes)
			for _, j := range nearest(query, points, row, k, slack) {
				c, _ := slices.BinarySearch(classes, labels[j])
				votes[c]++
			}
			out[first+i] = classes[mostVoted(votes)]
		}
	}
	return out, nil
}

// nearest returns the k points nearest to the query; approximate holds their distances,
// less a constant, to within half the slack. A point that is among the nearest has an
// approximate distance of at most the k-th smallest one plus the slack, so that none is
// missed; usually k or k+1 points are looked at again.
func nearest(query []float64, points [][]float64, approximate []float64, k int, slack float64) []int {
	bound := kthSmallest(approximate, k) + slack
	type candidate struct {
		row      int
		distance float64
	}
	var candidates []candidate
	for j, v := range approximate {
		if v <= bound {
			candidates = append(candidates, candidate{j, squaredDistance(query, points[j])})
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
