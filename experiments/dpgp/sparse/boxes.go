package sparse

import (
	"container/heap"
	"math"
	"slices"
)

const (
	// boxTolerance is how far the bound of [Model.search] may be above the largest value
	// found, relative to it.
	boxTolerance = 1e-6
	// boxTerms bounds the number of kernel values that a search computes, each a fraction of a
	// microsecond; [Model.search] documents the result at the bound.
	boxTerms = 1 << 26
	// maxSearched is the most dimensions in which there is a search: the number of boxes
	// grows exponentially with them.
	maxSearched = 6
	// outward covers the rounding in float64: sums of at most MaxInducing positive terms, each with
	// an error of some 2^−50.
	outward = 1 + 0x1p-38
	// apart is the distance, in lengthscales, beyond which no x is within apart/2 of two
	// points, and a point at apart/2 adds e^−36.
	apart = 12
)

// search returns an upper bound on max_x s(x), s(x) = Σ_j exp(−‖x − w_j‖²), w_j the inducing inputs
// in units of the lengthscale, by branch and bound, and whether it is within boxTolerance of the
// largest value. A search that stops at boxTerms returns a bound all the same: the largest of those
// on the remaining boxes.
//
// Every x has a place in some box, and every box a bound that holds throughout: a box is put aside
// only where its bound is at most (1 + boxTolerance) times a value that an input has. Nothing rests
// on the ascents that find such values; a maximum that they miss costs work, not validity. It costs
// nothing to leave the outside of the points out: where s is largest, x = Σ_j w_j e_j/Σ_j e_j is a
// mean of points with weights e_j = exp(−‖x − w_j‖²).
//
// The errors of float64 are part of the result: the places of points are differences to one of
// their cluster over the lengthscale, with a relative error below 2^−51, and the slope of a term is
// at most √(2/e) < 0.86; points outside a box's cluster add e^−36 each; outward covers the rest.
func (m *Model) search() (bound float64, complete bool) {
	number, dims := m.Inducing.Z.Dims()
	s, shift := &searcher{}, 0.0
	for _, points := range m.clusters() {
		for i := 0; i < len(points); i += dims {
			shift += 0.86 * norm(points[i:i+dims]) * 0x1p-51
		}
		s.add(newCloud(points, dims))
	}
	bound, complete = s.run()
	bound = bound*outward + shift + float64(number)*math.Exp(-apart*apart/4)
	return min(bound, float64(number)), complete
}

// clusters returns the inducing inputs in clusters, row by row, in units of the
// lengthscale and with the first one of a cluster at 0: two of a cluster are joined by
// inputs at most apart from each other.
func (m *Model) clusters() [][]float64 {
	n, dims := m.Inducing.Z.Dims()
	done := make([]bool, n)
	var out [][]float64
	for first := range n {
		if done[first] {
			continue
		}
		done[first] = true
		open := []int{first}
		var points []float64
		for len(open) > 0 {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			for d := range dims {
				points = append(points, (m.Inducing.Z.At(at, d)-m.Inducing.Z.At(first, d))/m.Lengthscale)
			}
			for j := range n {
				if !done[j] && m.scaledDistance(at, j) <= apart {
					done[j] = true
					open = append(open, j)
				}
			}
		}
		out = append(out, points)
	}
	return out
}

// scaledDistance is that of two inducing inputs, in lengthscales.
func (m *Model) scaledDistance(i, j int) float64 {
	sum, a, b := 0.0, m.Inducing.Z.RawRowView(i), m.Inducing.Z.RawRowView(j)
	for d, v := range a {
		u := (v - b[d]) / m.Lengthscale
		sum += u * u
	}
	return math.Sqrt(sum)
}

func squareDistance(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}

// box is a set of inputs, with a bound on s in it.
type box struct {
	*cloud
	centre, half []float64
	bound        float64
	climbs       int // ascents from here and from the parent
}

// searcher is a branch and bound over the boxes of all clusters.
type searcher struct {
	open   []*box  // a heap, the largest bound first
	found  float64 // the largest value of an input
	closed float64 // the largest bound of a box that was put aside
	terms  int     // kernel values that were taken
}

// Len, Less, Swap, Push and Pop implement [heap.Interface]. Boxes of one bound come in an
// order that the points fix.
func (s *searcher) Len() int           { return len(s.open) }
func (s *searcher) Less(i, j int) bool { return s.open[i].bound > s.open[j].bound }
func (s *searcher) Swap(i, j int)      { s.open[i], s.open[j] = s.open[j], s.open[i] }
func (s *searcher) Push(x any)         { s.open = append(s.open, x.(*box)) }
func (s *searcher) Pop() any {
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	return last
}

// add opens the box of a cluster, after ascents from some of its points.
func (s *searcher) add(c *cloud) {
	for _, start := range c.starts(&s.terms) {
		s.climb(c, start)
	}
	b := &box{cloud: c, centre: make([]float64, c.dims), half: make([]float64, c.dims), bound: float64(c.number)}
	for d := range c.dims {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range c.number {
			low, high = min(low, c.points[i*c.dims+d]), max(high, c.points[i*c.dims+d])
		}
		b.centre[d] = low + (high-low)/2
		b.half[d] = math.Nextafter(max(high-b.centre[d], b.centre[d]-low), math.Inf(1))
	}
	heap.Push(s, b)
}

// climb ascends from an input, and keeps the peak where it is new and high.
func (s *searcher) climb(c *cloud, start []float64) {
	p := c.ascend(start, &s.terms)
	s.found = max(s.found, p.value)
	const kept, high, same = 64, 1 - 1e-3, 1e-6
	if p.value < high*s.found || len(c.peaks) >= kept ||
		slices.ContainsFunc(c.peaks, func(q peak) bool { return squareDistance(p.at, q.at) < same*same }) {
		return
	}
	c.peaks = append(c.peaks, p)
}

// run halves boxes until the remaining ones are bounded.
func (s *searcher) run() (bound float64, complete bool) {
	heap.Init(s)
	for len(s.open) > 0 {
		b := heap.Pop(s).(*box)
		if b.bound <= s.found*(1+boxTolerance) {
			return max(b.bound, s.found, s.closed), true
		}
		if s.terms > boxTerms {
			return max(b.bound, s.found, s.closed), false
		}
		for _, h := range b.halves() {
			s.measure(h)
		}
	}
	return max(s.found, s.closed), true
}

// measure bounds s in a box, and puts it aside where the bound is low enough.
func (s *searcher) measure(b *box) {
	t := b.taylor(b.centre, b.half, &s.terms)
	s.found = max(s.found, t.value)
	b.bound = min(b.bound, t.bound(b.half))
	enough := s.found * (1 + boxTolerance)
	if b.bound > enough {
		b.bound = min(b.bound, s.below(b))
		enough = s.found * (1 + boxTolerance)
	}
	if b.bound <= enough {
		s.closed = max(s.closed, b.bound)
		return
	}
	heap.Push(s, b)
}

// below is the bound that concavity gives: where s is concave on a convex set that holds
// the box and a peak p, s(x) ≤ s(p) + ∇s(p)·(x − p) in the box. It is infinite where that
// does not apply. Near its maxima s is nearly as large in many boxes, which this spares.
func (s *searcher) below(b *box) float64 {
	// In lengthscales: s is concave no further than about that, and eight times nearer another
	// ascent may find a maximum that the first one missed.
	const near, nearer = 0.5, 8
	widest := slices.Max(b.half)
	if widest > near {
		return math.Inf(1)
	}
	v := s.belowPeaks(b)
	if v > s.found*(1+boxTolerance) && widest <= near/math.Pow(nearer, float64(b.climbs)) {
		b.climbs++
		s.climb(b.cloud, b.centre)
		v = min(v, s.belowPeaks(b))
	}
	return v
}

// belowPeaks is the least bound by one of the peaks.
func (s *searcher) belowPeaks(b *box) float64 {
	const furthest = 1.0 // a peak further away is not tried
	least := math.Inf(1)
	centre, half := make([]float64, b.dims), make([]float64, b.dims)
	for _, p := range b.peaks {
		rise, radius := 0.0, 0.0
		for d, v := range p.at {
			low, high := min(v, b.centre[d]-b.half[d]), max(v, b.centre[d]+b.half[d])
			centre[d], half[d] = low+(high-low)/2, (high-low)/2*outward
			radius = max(radius, half[d])
			rise += math.Abs(p.slope[d]) * (high - low)
		}
		if radius <= furthest && p.value+rise < least && b.taylor(centre, half, &s.terms).concave(half) {
			least = p.value + rise
		}
	}
	return least
}

// halves are those of a box, across its widest dimension.
func (b *box) halves() [2]*box {
	widest := 0
	for d, h := range b.half {
		if h > b.half[widest] {
			widest = d
		}
	}
	var out [2]*box
	for i, sign := range []float64{-1, 1} {
		h := *b
		h.centre, h.half = slices.Clone(b.centre), slices.Clone(b.half)
		h.half[widest] = math.Nextafter(b.half[widest]/2, math.Inf(1))
		h.centre[widest] += sign * b.half[widest] / 2
		out[i] = &h
	}
	return out
}
