package spectral

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
)

// leaf is the largest order of a tridiagonal problem that is not divided.
const leaf = 32

// conquest is the state of divide and conquer for a symmetric tridiagonal problem.
//
// A problem T is torn into halves at an off-diagonal element β (Cuppen):
//
//	T = diag(T₁, T₂) + |β| u uᵀ,  u = (0, …, 0, 1, sign β, 0, …, 0)ᵀ,
//
// where |β| is subtracted from the two adjacent diagonal elements. With eigenvectors in the rows of
// Q = diag(Q₁, Q₂), so that diag(T₁, T₂) = QᵀDQ,
//
//	T = Qᵀ (D + |β| z zᵀ) Q,  z = Qu,
//
// and z is the last column of Q₁ and sign β times the first column of Q₂. If S holds the
// eigenvectors of D + |β| z zᵀ as rows (see secular), those of T are the rows of SQ.
type conquest[T Float] struct {
	n       int
	d, e    []float64 // the diagonal, replaced by the eigenvalues, and the off-diagonal elements
	q, g, s []T       // n×n: eigenvectors as rows; rows before a product; its left factor
	order   []int     // rows of q of a part by ascending eigenvalue, counted from its first

	// State of the current merge. Rows are counted from the first of the merged part.
	z    []float64 // the vector of the update, by rows of q
	side []side    // the columns where a row of q is not zero
	kept []int     // rows that take part, their eigenvalues ascending
	rest []int     // rows that are eigenvectors already, their eigenvalues ascending
	secular
}

// newConquest returns the state for a problem, whose d and e it overwrites.
func newConquest[T Float](d, e []float64) *conquest[T] {
	n := len(d)
	c := &conquest[T]{n: n, d: d, e: e, q: make([]T, n*n), g: make([]T, n*n), s: make([]T, n*n),
		order: make([]int, n), z: make([]float64, n), side: make([]side, n), kept: make([]int, 0, n),
		rest: make([]int, 0, n)}
	c.secular.init(n, unit[T]())
	return c
}

// solve computes the eigenvalues of the part of rows [from, to), and the eigenvectors of the want
// largest.
func (c *conquest[T]) solve(from, to, want int) bool {
	n := to - from
	if n <= leaf {
		return c.leaf(from, to)
	}
	mid := from + n/2
	beta := c.e[mid-1]
	c.d[mid-1] -= math.Abs(beta)
	c.d[mid] -= math.Abs(beta)
	return c.solve(from, mid, mid-from) && c.solve(mid, to, to-mid) && c.merge(from, mid, to, want, beta)
}

// leaf computes all pairs of a part of order at most leaf by the QL method.
func (c *conquest[T]) leaf(from, to int) bool {
	n := to - from
	q := c.q[from*c.n+from:]
	for i := range n {
		clear(q[i*c.n : i*c.n+n])
		q[i*c.n+i] = 1
		c.order[from+i] = from + i
	}
	if !implicitQL(c.d[from:to], c.e[from:to-1], q, c.n) {
		return false
	}
	c.sort(c.order[from:to], 0)
	return true
}

// sort orders rows by eigenvalue, and rows of equal eigenvalues by index.
func (c *conquest[T]) sort(rows []int, first int) {
	slices.SortFunc(rows, func(i, j int) int {
		switch a, b := c.d[first+i], c.d[first+j]; {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return i - j
	})
}

// merge computes the pairs of the part [from, to) from those of its halves, by deflation and the
// rank-one update D + |β| z zᵀ.
func (c *conquest[T]) merge(from, mid, to, want int, beta float64) bool {
	n, half := to-from, mid-from
	order := c.order[from:to]
	for i := range order {
		order[i] -= from
	}
	for i := range n {
		z, s := float64(c.q[(from+i)*c.n+mid-1]), upper
		if i >= half {
			z, s = math.Copysign(1, beta)*float64(c.q[(from+i)*c.n+mid]), lower
		}
		c.z[i], c.side[i] = z, s
	}
	c.mergeOrder(from, half, order)
	c.deflate(from, half, order, math.Abs(beta))
	k := len(c.kept)
	for j, i := range c.kept {
		c.poles[j], c.weights[j] = c.d[from+i], c.z[i]
	}
	if !c.roots(k, math.Abs(beta)) {
		return false
	}
	first := c.arrange(from, order, want)
	c.vectors(from, half, n, first)
	for i := range order {
		order[i] += from
	}
	return true
}

// mergeOrder merges the ascending orders of both halves.
func (c *conquest[T]) mergeOrder(from, half int, order []int) {
	merged := c.rest[:0]
	i, j := 0, half
	for i < half && j < len(order) {
		if c.d[from+order[i]] <= c.d[from+order[j]] {
			merged = append(merged, order[i])
			i++
		} else {
			merged = append(merged, order[j])
			j++
		}
	}
	merged = append(append(merged, order[i:half]...), order[j:]...)
	copy(order, merged)
}

// arrange writes the eigenvalues of the merged part and their order. Kept row i becomes row i,
// and the rest follows. It returns the first root whose eigenvector is wanted.
func (c *conquest[T]) arrange(from int, order []int, want int) (first int) {
	k, n := len(c.kept), len(order)
	c.sort(c.rest, from)
	old := c.z[:n-k]
	for t, i := range c.rest {
		old[t] = c.d[from+i]
	}
	for i := range k {
		c.d[from+i] = c.poles[c.origin[i]] + c.offset[i]
	}
	copy(c.d[from+k:], old)
	i, t := 0, k
	first = k
	for at := range order {
		if i < k && (t == n || c.d[from+i] <= c.d[from+t]) {
			order[at] = i
			if at >= n-want {
				first = min(first, i)
			}
			i++
		} else {
			order[at] = t
			t++
		}
	}
	return first
}

// vectors writes the eigenvectors of the merged part as rows, from root first on: the
// eigenvectors of the rank-one update times the kept rows, then the rest.
//
// Rows of one half are zero in the columns of the other. The kept rows are sorted by the columns
// where they are nonzero, so that two products skip most zeros.
func (c *conquest[T]) vectors(from, half, n, first int) {
	k := len(c.kept)
	var count [3]int
	for _, i := range c.kept {
		count[c.side[i]]++
	}
	next := [3]int{upper: 0, both: count[upper], lower: count[upper] + count[both]}
	top, low := count[upper]+count[both], count[both]+count[lower]
	g := c.g[:top*half]
	h := c.g[len(g) : len(g)+low*(n-half)]
	left := c.g[len(g)+len(h):]
	for j, i := range c.kept {
		s := c.side[i]
		at, row := next[s], c.q[(from+i)*c.n+from:]
		next[s]++
		c.column[j] = at
		if s != lower {
			copy(g[at*half:(at+1)*half], row)
		}
		if s != upper {
			at -= count[upper]
			copy(h[at*(n-half):(at+1)*(n-half)], row[half:n])
		}
	}
	for t, i := range c.rest {
		copy(left[t*n:(t+1)*n], c.q[(from+i)*c.n+from:])
	}
	for i := first; i < k; i++ {
		secularVector(&c.secular, i, k, c.s[(i-first)*k:(i-first+1)*k])
	}
	if q := c.q[(from+first)*c.n+from:]; first < k {
		product(k-first, half, top, c.s, k, g, q, c.n)
		product(k-first, n-half, low, c.s[count[upper]:], k, h, q[half:], c.n)
	}
	for t := range c.rest {
		copy(c.q[(from+k+t)*c.n+from:], left[t*n:(t+1)*n])
	}
}

// product computes the m×n product Q of S (m×k) and the contiguous G (k×n), which is zero for k = 0.
func product[T Float](m, n, k int, s []T, lds int, g, q []T, ld int) {
	if k == 0 {
		for i := range m {
			clear(q[i*ld : i*ld+n])
		}
		return
	}
	gemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, s, lds, g, n, 0, q, ld)
}
