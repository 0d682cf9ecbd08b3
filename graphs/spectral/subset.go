package spectral

import "math"

const (
	// fewPairs is the ratio n/k from which bisection and inverse iteration are faster than divide
	// and conquer.
	fewPairs = 12
	// inverseSteps limits the inverse iterations for a vector.
	inverseSteps = 5
	// orthogonalSteps limits the orthogonalisations of a vector.
	orthogonalSteps = 5
	// accepted is the largest residual of a vector, in units of roundoff of the norm.
	accepted = 8
)

// tridiagonal is a symmetric tridiagonal matrix whose largest pairs are computed.
type tridiagonal struct {
	d, e, squares []float64 // the diagonal, the off-diagonal elements and their squares
	norm          float64   // the largest sum of absolute values of a row
	tolerance     float64   // of eigenvalues
}

// few computes the k largest pairs: eigenvalues w in ascending order, and eigenvectors as rows of
// z (k×n) in the same order. ok is false for a matrix of zeros, and if a vector has not
// converged.
//
// Eigenvalues are bisected with Sturm sequences (Golub and Van Loan, "Matrix Computations",
// Section 8.4.1). Vectors come from inverse iteration, are orthogonalised against those before,
// and accepted by their residual. Because the eigenvalues are counted and the vectors
// orthonormal, small residuals ensure that these are the largest pairs.
func few(d, e []float64, k int, unit float64) (w, z []float64, ok bool) {
	n := len(d)
	t := &tridiagonal{d: d, e: e, squares: make([]float64, n)}
	for i, x := range d {
		size := math.Abs(x)
		if i > 0 {
			size += math.Abs(e[i-1])
			// At least 2⁻¹⁰⁰⁰, to avoid 0/0.
			t.squares[i] = max(float64(e[i-1]*e[i-1]), 0x1p-1000)
		}
		if i < n-1 {
			size += math.Abs(e[i])
		}
		t.norm = max(t.norm, size)
	}
	if t.norm == 0 {
		return nil, nil, false
	}
	// In single precision, eigenvalues have some digits more than the type.
	t.tolerance = max(0x1p-52, unit*0x1p-12) * t.norm
	w = t.largest(k)
	v := &basis{n: n, ld: padded(n)}
	v.rows = make([]float64, (k+together)*v.ld)
	f := newFactors(n)
	for i := k - 1; i >= 0; i-- {
		if !t.vector(w[i], v, i, k, f, accepted*unit*t.norm) {
			return nil, nil, false
		}
	}
	z = make([]float64, k*n)
	for i := range k {
		copy(z[i*n:(i+1)*n], v.rows[i*v.ld:])
	}
	return w, z, true
}

// basis holds vectors as rows, padded by zero columns and rows.
type basis struct {
	n, ld int
	rows  []float64
}

// orthogonalise subtracts from row i its components along the rows after it, up to row k.
func (b *basis) orthogonalise(i, k int) {
	x := b.rows[i*b.ld : (i+1)*b.ld]
	for j := i + 1; j < k; j += together {
		s := dotRows(b.rows[j*b.ld:], b.ld, x)
		addRows(&[together]float64{-s[0], -s[1], -s[2], -s[3]}, b.rows[j*b.ld:], b.ld, x)
	}
}

// independent makes row i orthogonal to the rows after it, up to row k, and of unit length. It
// orthogonalises again while the length falls much, because a vector in the span of the others
// leaves only rounding errors. It reports false if that does not end.
func (b *basis) independent(i, k int) bool {
	x := b.rows[i*b.ld : i*b.ld+b.n]
	for range orthogonalSteps {
		b.orthogonalise(i, k)
		if length := normalise(x); length == 0 || length > 0.5 {
			return length > 0
		}
	}
	return false
}

// chains is the number of Sturm sequences that are computed at a time, because each division
// depends on the one before it in its sequence.
const chains = 4

// largest computes the k largest eigenvalues in ascending order, by bisection of [−norm, norm],
// which holds all eigenvalues, to the tolerance.
func (t *tridiagonal) largest(k int) []float64 {
	n := len(t.d)
	w := make([]float64, k)
	for first := 0; first < k; first += chains {
		var low, high, mid [chains]float64
		for c := range chains {
			low[c], high[c] = -t.norm*(1+0x1p-40), t.norm*(1+0x1p-40)
		}
		for high[0]-low[0] > t.tolerance || high[1]-low[1] > t.tolerance || high[2]-low[2] > t.tolerance ||
			high[3]-low[3] > t.tolerance {
			for c := range chains {
				mid[c] = low[c] + (high[c]-low[c])/2
			}
			for c, below := range t.below(mid) {
				if below > n-k+first+c {
					high[c] = mid[c]
				} else {
					low[c] = mid[c]
				}
			}
		}
		for c := first; c < min(first+chains, k); c++ {
			w[c] = low[c-first] + (high[c-first]-low[c-first])/2
		}
	}
	return w
}

// below counts the eigenvalues below each x, the negative pivots of T − xI (Sylvester's law of
// inertia):
//
//	q_1 = d_1 − x,  q_i = d_i − x − e²_(i−1)/q_(i−1).
func (t *tridiagonal) below(x [chains]float64) (count [chains]int) {
	p, q, r, s := 1.0, 1.0, 1.0, 1.0
	for i, d := range t.d {
		e := t.squares[i]
		p, q, r, s = (d-x[0])-e/p, (d-x[1])-e/q, (d-x[2])-e/r, (d-x[3])-e/s
		count[0] += int(math.Float64bits(p) >> 63)
		count[1] += int(math.Float64bits(q) >> 63)
		count[2] += int(math.Float64bits(r) >> 63)
		count[3] += int(math.Float64bits(s) >> 63)
	}
	return count
}

// vector computes the eigenvector of the eigenvalue w as row i of a basis, orthogonal to the rows
// after it. It reports whether the residual is at most the bound.
func (t *tridiagonal) vector(w float64, v *basis, i, k int, f *factors, bound float64) bool {
	x := v.rows[i*v.ld : i*v.ld+v.n]
	f.factor(t, w)
	start(x, i)
	for range inverseSteps {
		f.solve(x)
		normalise(x)
		if !v.independent(i, k) {
			return false
		}
		if t.residual(w, x) <= bound {
			return true
		}
	}
	return false
}

// start fills x with pseudo-random numbers between −1 and 1 that differ for every i, because
// within an eigenspace inverse iteration hardly changes the direction of its start.
func start(x []float64, i int) {
	state := uint64(len(x)) + uint64(i)<<32
	for j := range x {
		state = state*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
		x[j] = float64(int64(state)>>11) * 0x1p-52
	}
}

// normalise scales x to unit length, and returns its length before. For x = 0 and for elements
// that are not finite it returns zero, and does not change x.
func normalise(x []float64) (length float64) {
	size := 0.0
	for _, v := range x {
		size = max(size, math.Abs(v))
	}
	if !(size > 0) || math.IsInf(size, 1) {
		return 0
	}
	by := 1 / size
	for j := range x {
		x[j] *= by
	}
	root := math.Sqrt(dot(x, x))
	by = 1 / root
	for j := range x {
		x[j] *= by
	}
	return float64(size * root)
}

// residual returns ‖Tx − wx‖.
func (t *tridiagonal) residual(w float64, x []float64) float64 {
	n, sum := len(x), 0.0
	for i, v := range x {
		r := float64((t.d[i] - w) * v)
		if i > 0 {
			r += float64(t.e[i-1] * x[i-1])
		}
		if i < n-1 {
			r += float64(t.e[i] * x[i+1])
		}
		sum += float64(r * r)
	}
	return math.Sqrt(sum)
}

// factors holds the factors of T − wI with row exchanges, P(T − wI) = LU, where U has two
// superdiagonals.
type factors struct {
	u, u1, u2, l []float64
	exchanged    []bool
}

// newFactors allocates the factors of a matrix of order n.
func newFactors(n int) *factors {
	return &factors{u: make([]float64, n), u1: make([]float64, n), u2: make([]float64, n), l: make([]float64, n),
		exchanged: make([]bool, n)}
}

// factor computes the factors by elimination with partial pivoting. Pivots below a rounding error of
// the norm are replaced by it, so that solve is defined if w is an eigenvalue.
func (f *factors) factor(t *tridiagonal, w float64) {
	n := len(t.d)
	least := 0x1p-53 * t.norm
	pivot, above := t.d[0]-w, t.e[0]
	for i := range n - 1 {
		below, next, after := t.e[i], t.d[i+1]-w, 0.0
		if i < n-2 {
			after = t.e[i+1]
		}
		f.exchanged[i] = math.Abs(below) > math.Abs(pivot)
		if f.exchanged[i] {
			m := pivot / below
			f.u[i], f.u1[i], f.u2[i], f.l[i] = below, next, after, m
			pivot, above = above-float64(m*next), -float64(m*after)
			continue
		}
		if math.Abs(pivot) < least {
			pivot = least
		}
		m := below / pivot
		f.u[i], f.u1[i], f.u2[i], f.l[i] = pivot, above, 0, m
		pivot, above = next-float64(m*above), after
	}
	if math.Abs(pivot) < least {
		pivot = least
	}
	f.u[n-1] = pivot
}

// solve overwrites x by (T − wI)⁻¹ x.
func (f *factors) solve(x []float64) {
	n := len(x)
	for i := range n - 1 {
		if f.exchanged[i] {
			x[i], x[i+1] = x[i+1], x[i]
		}
		x[i+1] -= float64(f.l[i] * x[i])
	}
	for i := n - 1; i >= 0; i-- {
		s := x[i]
		if i < n-1 {
			s -= float64(f.u1[i] * x[i+1])
		}
		if i < n-2 {
			s -= float64(f.u2[i] * x[i+2])
		}
		x[i] = s / f.u[i]
	}
}
