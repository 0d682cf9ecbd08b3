package learn

import (
	"math"
	"slices"

	"privkern/graphs/simd/vector"
)

// smo solves the dual of a two-class support vector machine by sequential
// minimal optimisation, the pair of variables chosen by second-order
// information (Fan, Chen and Lin, "Working set selection using second order
// information for training support vector machines", JMLR 6, 2005), with the
// shrinking of Chang and Lin (LIBSVM). In β_t = y_t·α_t it is
//
//	min ½βᵀKβ − yᵀβ,  Σβ = 0,  0 ≤ y_t·β_t ≤ C,
//
// and F = y − Kβ decides which β may grow (F large) and which may fall.
//
// β is optimal where no i that may grow has a larger F than a j that may fall: max F_i −
// min F_j ≤ 0 (the Karush-Kuhn-Tucker conditions). The violation, this difference, ends
// the search below the tolerance. Memory is O(n) and the row cache; an iteration reads
// two rows of K, O(n) operations.
type smo struct {
	rows      *rowCache
	diagonal  []float64 // K_tt
	beta      []float64
	low, high []float64 // bounds of β
	tolerance float64
	limit     int // of the iterations

	active     working
	iterations int
	objective  float64 // of the minimum
	bias       float64 // b of the decision Σβ_t·K(t, x) + b
}

// working holds the variables that are not shrunk, in increasing order. Those that are not here
// keep their β, and have no F.
type working struct {
	of       []int     // their variables
	f        []float64 // F
	diagonal []float64 // K_tt
	up, down []float64 // 0 where β may grow or fall, otherwise −∞ and +∞, added to F
	rows     *rowCache // of the kernel among them
	largest  int       // the place with the largest F that may grow; −1 where none may
	most     float64   // this F
}

// shrinkEvery is the largest number of iterations between two shrinkings.
const shrinkEvery = 1000

// newSMO starts at β = 0; y is ±1.
// β_t lies in [0, C] for y_t = 1 and in [−C, 0] for y_t = −1. At β = 0, F = y.
func newSMO(rows *rowCache, y []float64, c, tolerance float64, limit int) *smo {
	n := len(y)
	s := &smo{rows: rows, diagonal: make([]float64, n), beta: make([]float64, n), low: make([]float64, n),
		high: make([]float64, n), tolerance: tolerance, limit: limit}
	for t, v := range y {
		s.diagonal[t] = rows.diagonal(t)
		if v > 0 {
			s.high[t] = c
		} else {
			s.low[t] = -c
		}
	}
	s.activate(slices.Clone(y))
	return s
}

// activate takes all variables back, with the F of each.
func (s *smo) activate(f []float64) {
	s.active = working{of: make([]int, len(f)), f: f, diagonal: slices.Clone(s.diagonal), up: make([]float64, len(f)),
		down: make([]float64, len(f)), rows: s.rows}
	for t := range f {
		s.active.of[t] = t
		s.bound(t)
	}
	s.rank()
}

// bound looks which ways the variable at a place may go.
func (s *smo) bound(place int) {
	w, t := &s.active, s.active.of[place]
	w.up[place], w.down[place] = 0, 0
	if s.beta[t] >= s.high[t] {
		w.up[place] = math.Inf(-1)
	}
	if s.beta[t] <= s.low[t] {
		w.down[place] = math.Inf(1)
	}
}

// rank finds the largest F that may grow.
func (s *smo) rank() {
	w := &s.active
	w.largest, w.most = vector.Descend(w.f, w.up, w.diagonal, w.diagonal, 0)
}

// solve searches until no pair violates the conditions of optimality by the
// tolerance, or to the limit, and returns the largest violation.
func (s *smo) solve() (violation float64) {
	next := min(len(s.beta), shrinkEvery)
	restored := false // near the optimum all variables were taken back once
	for s.iterations < s.limit {
		if next--; next == 0 {
			next = min(len(s.beta), shrinkEvery)
			s.shrink(&restored)
		}
		i, j := s.pair()
		if j < 0 {
			// The optimum of the active variables: is it that of all?
			if len(s.active.of) < len(s.beta) {
				s.restore()
				i, j = s.pair()
			}
			if j < 0 {
				break
			}
			next = 1
		}
		s.step(i, j)
		s.iterations++
	}
	if len(s.active.of) < len(s.beta) {
		s.restore()
	}
	s.finish()
	return s.active.most - s.active.least()
}

// pair returns the places of the variables to change: the one that may grow with the largest
// F, and the one that may fall with which the objective then gains most. j is
// −1 where no pair violates the conditions of optimality by the tolerance.
// For fixed i the gain of a pair is (F_i − F_j)²/(2(K_ii + K_jj − 2K_ij)); all pairs
// together would cost O(n²). Kernels that are not positive semidefinite, or repeated
// samples, have pairs without curvature: a small positive one keeps the step finite, and
// the bounds cut it.
func (s *smo) pair() (i, j int) {
	w := &s.active
	if i = w.largest; i < 0 {
		return -1, -1
	}
	j, least := vector.Gain(w.f, w.down, w.diagonal, w.rows.get(i), w.most, w.diagonal[i])
	if w.most-least < s.tolerance {
		return -1, -1
	}
	return i, j
}

// step moves β up at place i and down at place j by as much.
// Σβ stays zero. Along this direction the objective is a parabola with slope −(F_i −
// F_j) and curvature K_ii + K_jj − 2K_ij, whose minimum is cut at the nearer bound. F of
// all active variables follows, by move·(K_ti − K_tj).
func (s *smo) step(i, j int) {
	w := &s.active
	a, b := w.rows.get(i), w.rows.get(j)
	curvature := w.diagonal[i] + w.diagonal[j] - 2*a[j]
	if curvature <= 0 {
		curvature = vector.Flat
	}
	move := (w.f[i] - w.f[j]) / curvature
	grows, falls := w.of[i], w.of[j]
	up, down := s.high[grows]-s.beta[grows], s.beta[falls]-s.low[falls]
	// A variable that reaches its bound is put on it exactly.
	switch {
	case move >= up && up <= down:
		move = up
		s.beta[falls] -= move
		s.beta[grows] = s.high[grows]
		if up == down {
			s.beta[falls] = s.low[falls]
		}
	case move >= down:
		move = down
		s.beta[grows] += move
		s.beta[falls] = s.low[falls]
	default:
		s.beta[grows] += move
		s.beta[falls] -= move
	}
	s.bound(i)
	s.bound(j)
	w.largest, w.most = vector.Descend(w.f, w.up, a, b, move)
}

// least returns the smallest F of the active variables that may fall.
func (w *working) least() float64 {
	least := math.Inf(1)
	for k, v := range w.f {
		least = min(least, v+w.down[k])
	}
	return least
}

// shrink puts aside variables on a bound that they are not about to leave.
//
// Near the optimum, at ten times the tolerance, all variables are looked at once more,
// because one that was put aside early may have come to matter.
func (s *smo) shrink(restored *bool) {
	if !*restored && s.active.most-s.active.least() <= 10*s.tolerance {
		*restored = true
		if len(s.active.of) < len(s.beta) {
			s.restore()
		}
	}
	w := &s.active
	most, least := w.most, w.least()
	places := make([]int, 0, len(w.of)) // of those that stay
	for k, v := range w.f {
		if aside := w.up[k] < 0 && v > most || w.down[k] > 0 && v < least; !aside {
			places = append(places, k)
		}
	}
	if len(places) == len(w.of) {
		return
	}
	for k, place := range places {
		w.of[k], w.f[k], w.diagonal[k], w.up[k], w.down[k] =
			w.of[place], w.f[place], w.diagonal[place], w.up[place], w.down[place]
	}
	n := len(places)
	w.of, w.f, w.diagonal, w.up, w.down = w.of[:n], w.f[:n], w.diagonal[:n], w.up[:n], w.down[:n]
	// Rows of a smaller kernel lie closer together than parts of the rows of the larger one.
	s.rows.part.giveBack()
	w.rows = newRowCache(n, s.rows.bytes/4, func(i int, row []float64) {
		whole := s.rows.get(w.of[i])
		for k, t := range w.of {
			row[k] = whole[t]
		}
	}, nil)
	w.rows.memory = s.rows.part
	s.rank()
}

// restoreCost is the time for an element of a row that is read for one variable, in times that of an element of all.
const restoreCost = 4

// restorePart is the number of elements of a row that are taken off together, as fit the nearest cache.
const restorePart = 512

// restore takes all variables back, with their F.
func (s *smo) restore() {
	var aside, used []int
	f := make([]float64, len(s.beta))
	k := 0
	for t, b := range s.beta {
		if k < len(s.active.of) && s.active.of[k] == t {
			f[t] = s.active.f[k]
			k++
		} else {
			aside = append(aside, t)
			f[t] = 1 // y
			if s.high[t] <= 0 {
				f[t] = -1
			}
		}
		if b != 0 {
			used = append(used, t)
		}
	}
	// K is symmetric. Of many rows all elements are taken off, faster than those of the variables aside.
	if len(aside) < len(used)/restoreCost {
		for _, t := range aside {
			row := s.rows.get(t)
			for _, u := range used {
				f[t] -= vector.Product(s.beta[u], row[u])
			}
		}
	} else {
		all, part := slices.Clone(f), make([]float64, restorePart)
		for _, u := range used {
			row := s.rows.get(u)
			for lo := 0; lo < len(all); lo += restorePart {
				hi := min(lo+restorePart, len(all))
				vector.Scal(part, s.beta[u], row[lo:hi])
				vector.Sub(all[lo:hi], all[lo:hi], part)
			}
		}
		for _, t := range aside {
			f[t] = all[t]
		}
	}
	s.activate(f)
}

// finish computes the objective and the bias.
//
// The objective uses Kβ = y − F: ½βᵀKβ − yᵀβ = −½Σ(β_t F_t + |β_t|), as y_tβ_t = |β_t|. For a free
// variable F_t is the bias at the optimum, and the mean over all of them is more accurate than one;
// with none it is the middle of the interval that the conditions allow.
func (s *smo) finish() {
	free, sum := 0, 0.0
	for t, b := range s.beta {
		s.objective -= (b*s.active.f[t] + math.Abs(b)) / 2
		if b > s.low[t] && b < s.high[t] {
			free++
			sum += s.active.f[t]
		}
	}
	if free > 0 {
		s.bias = sum / float64(free)
		return
	}
	s.bias = (s.active.most + s.active.least()) / 2
}

// rowCache is a cache of recently used rows of a kernel matrix. The least recently used row gives
// its memory to a new one. The cache does not influence the result, because a row that is computed
// again has the same bits.
type rowCache struct {
	n        int
	bytes    int64
	fill     func(i int, row []float64) // computes row i
	diagonal func(i int) float64
	rows     [][]float64 // by index; nil where not kept
	newer    []int       // a ring through n, from the oldest to the newest
	older    []int
	spare    int // rows that may yet be allocated
	// memory of the rows, and of those among a part of the variables; nil for memory of their own
	memory, part *rowMemory
}

// lendTo takes the memory that the rows lie in from now on, and that of the rows among a part of the variables. Nobody
// else uses it until the cache has served.
func (c *rowCache) lendTo(memory, part *rowMemory) {
	c.memory, c.part = memory, part
	memory.giveBack()
}

// rowMemory lends rows of numbers, which are given back together. One search after another works in it, as fresh memory
// costs more than the numbers of a row.
type rowMemory struct {
	chunks    [][]float64
	at, taken int // the chunk in use, and how much of it is lent
}

// rowChunk is the number of elements of a chunk, which holds whole rows, at least one.
const rowChunk = 1 << 17

// row lends n numbers, of any value.
func (m *rowMemory) row(n int) []float64 {
	if m == nil {
		return make([]float64, n)
	}
	for m.at < len(m.chunks) {
		if chunk := m.chunks[m.at]; m.taken+n <= len(chunk) {
			m.taken += n
			return chunk[m.taken-n : m.taken : m.taken]
		}
		if m.taken == 0 { // too short for a row of this search
			m.chunks = slices.Delete(m.chunks, m.at, m.at+1)
			continue
		}
		m.at, m.taken = m.at+1, 0
	}
	m.chunks, m.taken = append(m.chunks, make([]float64, max(1, rowChunk/n)*n)), n
	return m.chunks[m.at][:n:n]
}

// giveBack takes all rows back.
func (m *rowMemory) giveBack() {
	if m != nil {
		m.at, m.taken = 0, 0
	}
}

// newRowCache returns a cache of at most that many bytes, but at least two rows.
func newRowCache(n int, bytes int64, fill func(i int, row []float64), diagonal func(i int) float64) *rowCache {
	c := &rowCache{n: n, bytes: bytes, fill: fill, diagonal: diagonal, rows: make([][]float64, n), newer: make([]int, n+1),
		older: make([]int, n+1)}
	c.spare = int(min(max(bytes/int64(8*max(n, 1)), 2), int64(n)))
	c.newer[n], c.older[n] = n, n
	return c
}

// get returns row i, which stays valid until the row after the next one is
// asked for.
func (c *rowCache) get(i int) []float64 {
	row := c.rows[i]
	switch {
	case row != nil:
		c.unlink(i)
	case c.spare > 0:
		c.spare--
		row = c.memory.row(c.n)
		c.fill(i, row)
	default:
		oldest := c.newer[c.n]
		c.unlink(oldest)
		row, c.rows[oldest] = c.rows[oldest], nil
		c.fill(i, row)
	}
	c.rows[i] = row
	newest := c.older[c.n]
	c.newer[newest], c.older[i] = i, newest
	c.newer[i], c.older[c.n] = c.n, i
	return row
}

// unlink takes row i out of the ring.
func (c *rowCache) unlink(i int) {
	c.newer[c.older[i]] = c.newer[i]
	c.older[c.newer[i]] = c.older[i]
}
