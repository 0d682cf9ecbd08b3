package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// largestCoordinate keeps sums of squared distances finite.
const largestCoordinate = 1e150

// checkPoints returns the rows of x as slices of its own storage.
func checkPoints(x *mat.Dense, k int) ([][]float64, error) {
	n, _ := x.Dims()
	points := make([][]float64, n)
	for i := range points {
		points[i] = x.RawRowView(i)
		for j, v := range points[i] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("k-means: row %d, column %d of the points is %v; finite numbers are required", i, j, v)
			}
			if math.Abs(v) > largestCoordinate {
				return nil, fmt.Errorf("k-means: row %d, column %d of the points is %v, "+
					"whose square overflows; rescale the points", i, j, v)
			}
		}
	}
	distinct := countDistinct(points)
	switch {
	case k < 1:
		return nil, fmt.Errorf("k-means: %d clusters; at least one is required", k)
	case k > n:
		return nil, fmt.Errorf("k-means: %d clusters of %d points; use at most as many clusters as points", k, n)
	case k > distinct:
		return nil, fmt.Errorf("k-means: %d clusters, but only %d of the %d points are distinct; use at most %[2]d clusters",
			k, distinct, n)
	}
	return points, nil
}

// countDistinct sorts the points: a comparison ends at the first difference.
func countDistinct(points [][]float64) int {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, slices.Compare)
	return len(slices.CompactFunc(sorted, slices.Equal))
}

// seedCentres draws k rows by greedy k-means++.
// The next centre is drawn with probability proportional to the squared distance to the
// nearest centre so far: the expected inertia of such a start is within 8(log k + 2) of
// the optimum (Arthur and Vassilvitskii, Theorem 1.1). The greedy choice among several
// candidates has no such proof, but lower inertia in practice.
func seedCentres(points [][]float64, k int, distances distances, rng *rand.Rand) [][]float64 {
	n := len(points)
	trials := 2 + int(math.Log(float64(k)))
	centres := make([][]float64, 0, k)
	nearest := make([]float64, n) // squared distance to the nearest centre so far
	candidate, kept := make([]float64, n), make([]float64, n)
	drawn, tried := make([]int, trials), make([][]float64, trials)
	away := make([]float64, n*trials) // of point i from candidate t at i·trials + t

	centres = append(centres, points[rng.IntN(n)])
	distances.squared(centres, nearest)
	total := 0.0
	for _, d := range nearest {
		total += d
	}
	for len(centres) < k {
		for t := range trials {
			drawn[t] = drawWeighted(nearest, total, rng)
			tried[t] = points[drawn[t]]
		}
		distances.squared(tried, away)
		bestTotal, bestIndex := math.Inf(1), -1
		for t, c := range drawn {
			sum := 0.0
			for i := range points {
				candidate[i] = min(nearest[i], away[i*trials+t])
				sum += candidate[i]
			}
			if sum < bestTotal {
				bestTotal, bestIndex = sum, c
				candidate, kept = kept, candidate
			}
		}
		centres = append(centres, points[bestIndex])
		nearest, kept = kept, nearest
		total = bestTotal
	}
	return centres
}

// drawWeighted returns index i with probability weights[i]/total.
// An index of weight zero is never drawn: it is a point that is a centre already.
func drawWeighted(weights []float64, total float64, rng *rand.Rand) int {
	u, last := rng.Float64()*total, 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		last = i
		if u -= w; u < 0 {
			return i
		}
	}
	return last // rounding left a remainder of u
}

// lloyd is the state of one run.
// Every iteration replaces centres by means and gives points to the nearest centre;
// neither raises the inertia, so that it ends after finitely many, as clusterings do not
// repeat.
type lloyd struct {
	points     [][]float64
	centres    [][]float64
	labels     []int
	distance   []float64 // squared, to the own centre
	inertia    float64
	iterations int
	moving     int // points that moved in the last iteration
}

// newLloyd copies the start, which is rows of the points.
func newLloyd(points, start [][]float64) *lloyd {
	l := &lloyd{
		points:   points,
		centres:  make([][]float64, len(start)),
		labels:   make([]int, len(points)),
		distance: make([]float64, len(points)),
	}
	for c := range start {
		l.centres[c] = append([]float64(nil), start[c]...)
	}
	l.assign()
	return l
}

// assign gives every point to its nearest centre and returns how many moved.
// Sums run in the order of the points: the inertia has the same bits in every run.
func (l *lloyd) assign() (moved int) {
	l.inertia = 0
	away := make([]float64, len(l.centres))
	for i, p := range l.points {
		squaredDistances(p, l.centres, away)
		best, bestD := 0, math.Inf(1)
		for c, d := range away {
			if d < bestD {
				best, bestD = c, d
			}
		}
		if best != l.labels[i] {
			moved++
		}
		l.labels[i], l.distance[i] = best, bestD
		l.inertia += bestD
	}
	return moved
}

// update moves every centre to the mean of its points.
func (l *lloyd) update() {
	count := make([]int, len(l.centres))
	for c := range l.centres {
		clear(l.centres[c])
	}
	for _, c := range l.labels {
		count[c]++
	}
	for c := range count {
		if count[c] == 0 {
			l.refill(c, count)
		}
	}
	for i, p := range l.points {
		for j, v := range p {
			l.centres[l.labels[i]][j] += v
		}
	}
	for c := range l.centres {
		for j := range l.centres[c] {
			l.centres[c][j] /= float64(count[c])
		}
	}
}

// refill gives the empty cluster c the point farthest from its own centre,
// among those whose cluster keeps another point.
func (l *lloyd) refill(c int, count []int) {
	far := -1
	for i, d := range l.distance {
		if count[l.labels[i]] > 1 && (far < 0 || d > l.distance[far]) {
			far = i
		}
	}
	count[l.labels[far]]--
	l.labels[far], l.distance[far] = c, 0
	count[c] = 1
}

// iterate runs until no point moves, or to the limit, with moving above zero in that
// case.
func (l *lloyd) iterate(limit int) {
	for l.iterations = 0; l.iterations < limit; {
		l.iterations++
		l.update()
		if l.moving = l.assign(); l.moving == 0 {
			return
		}
	}
}

// result is the clustering that the run ended with.
func (l *lloyd) result() *Clustering {
	return &Clustering{Centres: denseOf(l.centres), Labels: l.labels, Inertia: l.inertia, Iterations: l.iterations,
		moving: l.moving}
}

// denseOf copies rows of equal lengths into a matrix.
func denseOf(rows [][]float64) *mat.Dense {
	out := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		out.SetRow(i, r)
	}
	return out
}
