package learn

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// boundedRun is a run of Lloyd's iteration on a large problem, in which most points are passed
// over: by the triangle inequality a centre that moves by δ comes nearer or goes farther by at most
// δ, and a point whose own centre stays the nearest by these bounds need not be looked at (Hamerly,
// "Making k-means even faster", SDM 2010). It visits the same clusterings as [lloyd], up to
// rounding.
//
// The invariant: upper[i] is at least the distance of point i to its own centre, lower[i] at most
// that to every other one. Where upper < lower the label cannot change. Two numbers a point,
// against k in Elkan's variant, which looks at fewer distances but takes n·k memory.
//
// Cluster sums are kept up as points move, so that an iteration costs O(n + kd) plus the doubtful
// points, not O(nkd). Rounding in them grows with the number of moves; the inertia is computed anew
// at the end.
type boundedRun struct {
	rows    [][]float64
	p       *products
	centres [][]float64
	sums    [][]float64 // of the points of each cluster
	count   []int
	labels  []int
	upper   []float64 // of the distance to the own centre
	lower   []float64 // of the distance to any other
}

// slack keeps rounding from passing over a point that is as near to two
// centres.
const slack = 1 + 1e-9

// gathered is how many points in doubt are looked at in one product.
const gathered = 128

// newBoundedRun gives every point to its nearest start, with all n·k distances once.
func newBoundedRun(rows, start [][]float64, p *products) *boundedRun {
	k, n := len(start), len(rows)
	b := &boundedRun{rows: rows, p: p, centres: make([][]float64, k), sums: make([][]float64, k), count: make([]int, k),
		labels: make([]int, n), upper: make([]float64, n), lower: make([]float64, n)}
	for c := range start {
		b.centres[c] = append([]float64(nil), start[c]...)
		b.sums[c] = make([]float64, len(start[c]))
	}
	away := make([]float64, n*k)
	p.squared(b.centres, away)
	for i := range rows {
		b.bound(i, away[i*k:(i+1)*k])
		b.count[b.labels[i]]++
		floats.Add(b.sums[b.labels[i]], rows[i])
	}
	return b
}

// bound sets label and bounds of a point from its squared distances to the
// centres.
func (b *boundedRun) bound(i int, squared []float64) {
	best, nearest, second := 0, math.Inf(1), math.Inf(1)
	for c, d := range squared {
		switch {
		case d < nearest:
			best, nearest, second = c, d, nearest
		case d < second:
			second = d
		}
	}
	b.labels[i], b.upper[i], b.lower[i] = best, math.Sqrt(nearest), math.Sqrt(second)
}

// run iterates until no point moves, or to the limit.
func (b *boundedRun) run(limit int) *Clustering {
	rounds, moving := 0, 0
	for rounds < limit {
		rounds++
		b.refill()
		b.moveCentres()
		if moving = b.assign(); moving == 0 {
			break
		}
	}
	k := len(b.centres)
	away := make([]float64, len(b.rows)*k)
	b.p.squared(b.centres, away)
	inertia := 0.0
	for i, c := range b.labels {
		inertia += away[i*k+c]
	}
	return &Clustering{Centres: denseOf(b.centres), Labels: b.labels, Inertia: inertia, Iterations: rounds, moving: moving}
}

// refill fills every empty cluster, as [lloyd.refill] does. The point that moves there keeps no
// bound, because its distance to the new centre is zero only after the centres have moved.
func (b *boundedRun) refill() {
	k := len(b.centres)
	var away []float64
	for c := range b.count {
		if b.count[c] > 0 {
			continue
		}
		if away == nil {
			away = make([]float64, len(b.rows)*k)
			b.p.squared(b.centres, away)
		}
		far := -1
		for i, l := range b.labels {
			if b.count[l] > 1 && (far < 0 || away[i*k+l] > away[far*k+b.labels[far]]) {
				far = i
			}
		}
		b.move(far, c)
		away[far*k+c] = 0
		b.upper[far], b.lower[far] = math.Inf(1), 0 // in doubt in the next round
	}
}

// move gives a point to another cluster.
func (b *boundedRun) move(i, to int) {
	from := b.labels[i]
	floats.Sub(b.sums[from], b.rows[i])
	floats.Add(b.sums[to], b.rows[i])
	b.count[from]--
	b.count[to]++
	b.labels[i] = to
}

// moveCentres puts the centres at the means of their points, and widens the
// bounds by how far they moved.
func (b *boundedRun) moveCentres() {
	drift := make([]float64, len(b.centres))
	first, second, most := 0.0, 0.0, 0 // the two largest drifts, and whose the first is
	for c, centre := range b.centres {
		squared := 0.0
		for j, sum := range b.sums[c] {
			mean := sum / float64(b.count[c])
			d := mean - centre[j]
			squared += d * d
			centre[j] = mean
		}
		drift[c] = math.Sqrt(squared)
		if drift[c] > first {
			first, second, most = drift[c], first, c
		} else {
			second = max(second, drift[c])
		}
	}
	for i, c := range b.labels {
		b.upper[i] += drift[c]
		// The own centre's drift does not count in the bound on the others.
		if c == most {
			b.lower[i] -= second
		} else {
			b.lower[i] -= first
		}
	}
}

// assign gives every point to its nearest centre and returns how many moved.
func (b *boundedRun) assign() (moved int) {
	k, d := len(b.centres), len(b.centres[0])
	centres, norms := b.p.moved(b.centres)
	some := blas64.General{Cols: d, Stride: d, Data: make([]float64, gathered*d)}
	someNorms, away := make([]float64, gathered), make([]float64, gathered*k)
	doubted := make([]int, 0, gathered)
	// look computes the distances of the points in doubt, one product for up to 128.
	look := func() {
		some.Rows = len(doubted)
		if some.Rows == 0 {
			return
		}
		for r, i := range doubted {
			copy(some.Data[r*d:(r+1)*d], b.p.points.Data[i*d:(i+1)*d])
			someNorms[r] = b.p.norms[i]
		}
		complete(some, centres, someNorms[:some.Rows], norms, away)
		for r, i := range doubted {
			before := b.labels[i]
			b.bound(i, away[r*k:(r+1)*k])
			if now := b.labels[i]; now != before {
				b.labels[i] = before
				b.move(i, now)
				moved++
			}
		}
		doubted = doubted[:0]
	}
	for i := range b.rows {
		if b.upper[i]*slack < b.lower[i] {
			continue
		}
		if doubted = append(doubted, i); len(doubted) == gathered {
			look()
		}
	}
	look()
	return moved
}
