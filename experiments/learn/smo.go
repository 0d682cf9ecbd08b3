package learn

import (
	"math"
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
	beta, f   []float64
	low, high []float64 // bounds of β
	active    []int     // in increasing order; the others are shrunk, and their F is not kept up
	tolerance float64
	limit     int // of the iterations

	iterations int
	objective  float64 // of the minimum
	bias       float64 // b of the decision Σβ_t·K(t, x) + b
}

// smallestCurvature stands for a curvature that is not positive.
const smallestCurvature = 1e-12

// shrinkEvery is the largest number of iterations between two shrinkings.
const shrinkEvery = 1000

// newSMO starts at β = 0; y is ±1.
// β_t lies in [0, C] for y_t = 1 and in [−C, 0] for y_t = −1. At β = 0, F = y.
func newSMO(rows *rowCache, y []float64, c, tolerance float64, limit int) *smo {
	n := len(y)
	s := &smo{
		rows: rows, diagonal: make([]float64, n), beta: make([]float64, n), f: make([]float64, n),
		low: make([]float64, n), high: make([]float64, n), tolerance: tolerance, limit: limit,
	}
	for t, v := range y {
		s.f[t], s.diagonal[t] = v, rows.diagonal(t)
		if v > 0 {
			s.high[t] = c
		} else {
			s.low[t] = -c
		}
	}
	s.activateAll()
	return s
}

// activateAll takes all variables back without their F.
func (s *smo) activateAll() {
	s.active = make([]int, len(s.beta))
	for t := range s.active {
		s.active[t] = t
	}
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
			if len(s.active) < len(s.beta) {
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
	if len(s.active) < len(s.beta) {
		s.restore()
	}
	s.finish()
	most, least := s.extremes()
	return most - least
}

// pair returns the variables to change: the one that may grow with the largest
// F, and the one that may fall with which the objective then gains most. j is
// −1 where no pair violates the conditions of optimality by the tolerance.
// For fixed i the gain of a pair is (F_i − F_j)²/(2(K_ii + K_jj − 2K_ij)); all pairs
// together would cost O(n²). Kernels that are not positive semidefinite, or repeated
// samples, have pairs without curvature: a small positive one keeps the step finite, and
// the bounds cut it.
func (s *smo) pair() (i, j int) {
	f, beta, low, high, diagonal := s.f, s.beta, s.low, s.high, s.diagonal
	i, j = -1, -1
	most := math.Inf(-1)
	for _, t := range s.active {
		if f[t] >= most && beta[t] < high[t] {
			most, i = f[t], t
		}
	}
	if i < 0 {
		return -1, -1
	}
	row := s.rows.get(i)
	least, gain := math.Inf(1), 0.0
	for _, t := range s.active {
		if beta[t] <= low[t] {
			continue
		}
		v := f[t]
		if v < least {
			least = v
		}
		if d := most - v; d > 0 {
			curvature := diagonal[i] + diagonal[t] - 2*row[t]
			if curvature <= 0 {
				curvature = smallestCurvature
			}
			// d²/curvature ≥ gain, without the division.
			if d*d >= gain*curvature {
				gain, j = d*d/curvature, t
			}
		}
	}
	if most-least < s.tolerance {
		return -1, -1
	}
	return i, j
}

// step moves β_i up and β_j down by as much.
// Σβ stays zero. Along this direction the objective is a parabola with slope −(F_i −
// F_j) and curvature K_ii + K_jj − 2K_ij, whose minimum is cut at the nearer bound. F of
// all active variables follows, by move·(K_ti − K_tj).
func (s *smo) step(i, j int) {
	a, b := s.rows.get(i), s.rows.get(j)
	curvature := s.diagonal[i] + s.diagonal[j] - 2*a[j]
	if curvature <= 0 {
		curvature = smallestCurvature
	}
	move := (s.f[i] - s.f[j]) / curvature
	up, down := s.high[i]-s.beta[i], s.beta[j]-s.low[j]
	// A variable that reaches its bound is put on it exactly.
	switch {
	case move >= up && up <= down:
		move = up
		s.beta[j] -= move
		s.beta[i] = s.high[i]
		if up == down {
			s.beta[j] = s.low[j]
		}
	case move >= down:
		move = down
		s.beta[i] += move
		s.beta[j] = s.low[j]
	default:
		s.beta[i] += move
		s.beta[j] -= move
	}
	f := s.f
	if len(s.active) == len(f) {
		a, b = a[:len(f)], b[:len(f)]
		for t := range f {
			f[t] -= move * (a[t] - b[t])
		}
		return
	}
	for _, t := range s.active {
		f[t] -= move * (a[t] - b[t])
	}
}

// extremes returns the largest F of the active variables that may grow and the
// smallest of those that may fall.
func (s *smo) extremes() (most, least float64) {
	most, least = math.Inf(-1), math.Inf(1)
	for _, t := range s.active {
		if s.beta[t] < s.high[t] {
			most = max(most, s.f[t])
		}
		if s.beta[t] > s.low[t] {
			least = min(least, s.f[t])
		}
	}
	return most, least
}

// shrink puts aside variables on a bound that they are not about to leave.
//
// Near the optimum, at ten times the tolerance, all variables are looked at once more,
// because one that was put aside early may have come to matter.
func (s *smo) shrink(restored *bool) {
	most, least := s.extremes()
	if !*restored && most-least <= 10*s.tolerance {
		*restored = true
		if len(s.active) < len(s.beta) {
			s.restore()
			most, least = s.extremes()
		}
	}
	kept := s.active[:0]
	for _, t := range s.active {
		aside := s.beta[t] >= s.high[t] && s.f[t] > most || s.beta[t] <= s.low[t] && s.f[t] < least
		if !aside {
			kept = append(kept, t)
		}
	}
	s.active = kept
}

// restore takes all variables back, with their F.
func (s *smo) restore() {
	var aside, used []int
	k := 0
	for t := range s.beta {
		if k < len(s.active) && s.active[k] == t {
			k++
		} else {
			aside = append(aside, t)
			s.f[t] = 1 // y
			if s.high[t] <= 0 {
				s.f[t] = -1
			}
		}
		if s.beta[t] != 0 {
			used = append(used, t)
		}
	}
	// K is symmetric: the fewer rows are read.
	if len(aside) < len(used) {
		for _, t := range aside {
			row := s.rows.get(t)
			for _, u := range used {
				s.f[t] -= s.beta[u] * row[u]
			}
		}
	} else {
		for _, u := range used {
			row := s.rows.get(u)
			for _, t := range aside {
				s.f[t] -= s.beta[u] * row[t]
			}
		}
	}
	s.activateAll()
}

// finish computes the objective and the bias.
//
// The objective uses Kβ = y − F: ½βᵀKβ − yᵀβ = −½Σ(β_t F_t + |β_t|), as y_tβ_t = |β_t|. For a free
// variable F_t is the bias at the optimum, and the mean over all of them is more accurate than one;
// with none it is the middle of the interval that the conditions allow.
func (s *smo) finish() {
	free, sum := 0, 0.0
	for t, b := range s.beta {
		s.objective -= (b*s.f[t] + math.Abs(b)) / 2
		if b > s.low[t] && b < s.high[t] {
			free++
			sum += s.f[t]
		}
	}
	if free > 0 {
		s.bias = sum / float64(free)
		return
	}
	most, least := s.extremes()
	s.bias = (most + least) / 2
}

// rowCache is a cache of recently used rows of a kernel matrix. The least recently used row gives
// its memory to a new one. The cache does not influence the result, because a row that is computed
// again has the same bits.
type rowCache struct {
	n        int
	fill     func(i int, row []float64) // computes row i
	diagonal func(i int) float64
	rows     [][]float64 // by index; nil where not kept
	newer    []int       // a ring through n, from the oldest to the newest
	older    []int
	spare    int // rows that may yet be allocated
}

// newRowCache returns a cache of at most that many bytes, but at least two rows.
func newRowCache(n int, bytes int64, fill func(i int, row []float64), diagonal func(i int) float64) *rowCache {
	c := &rowCache{n: n, fill: fill, diagonal: diagonal, rows: make([][]float64, n), newer: make([]int, n+1),
		older: make([]int, n+1)}
	c.spare = int(min(max(bytes/int64(8*n), 2), int64(n)))
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
		row = make([]float64, c.n)
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
