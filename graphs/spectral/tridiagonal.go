package spectral

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/simd/vector"
)

const (
	panelRows  = 24 // reflections that are applied to the rest of a matrix together
	updateRows = 96 // rows of the triangle that one product updates
	// negligible is the size below which rows and off-diagonal elements are treated as zero, for a
	// matrix with a largest element above 2^smallest, because their squares would lose digits.
	negligible = 0x1p-400
)

// tridiagonalise reduces the symmetric matrix with the lower triangle a to T = QᵀAQ, with the
// diagonal d[:n] and the off-diagonal elements e[:n-1]. Q = H(n−1) … H(1) with H(i) = I − tau[i]
// v vᵀ, where v is stored in a[i][:i], and its last element is one.
//
// Rows of the triangle are reduced from the last to the first. Those of a panel are updated one
// by one, and the triangle before them by products, once per panel: A ← A − VᵀW − WᵀV.
func tridiagonalise[T Float](n int, a []T, lda int, d, e []float64, tau []T) {
	ld := padded(n)
	p := &panel[T]{a: a, lda: lda, ld: ld, pairs: make([]T, 2*panelRows*ld), swapped: make([]T, 2*panelRows*ld)}
	for end := n; end > 0; end -= p.rows {
		p.rows = 0
		for i := end - 1; i >= max(0, end-panelRows); i-- {
			d[i] = p.update(i)
			if i > 0 {
				e[i-1], tau[i] = p.reflect(i)
			}
			p.rows++
		}
		p.updateRest(end - p.rows)
	}
}

// padded returns n rounded up to a multiple of lanes.
func padded(n int) int { return (n + lanes - 1) &^ (lanes - 1) }

// panel holds the reflections since the last update of the triangle: row 2r of pairs is the
// vector v of reflection r, row 2r+1 its w. Both are padded by zeros to a multiple of lanes.
type panel[T Float] struct {
	a              []T
	lda, ld, rows  int
	pairs, swapped []T
	coefficients   [2 * panelRows]T
}

// pair returns the first n elements of the rows of the next reflection.
func (p *panel[T]) pair(n int) (v, w []T) {
	at := 2 * p.rows * p.ld
	return p.pairs[at : at+n], p.pairs[at+p.ld : at+p.ld+n]
}

// update applies the reflections of the panel, A ← A − Σ_r (v_r w_rᵀ + w_r v_rᵀ), to row i,
// copies it to the row of the next vector, and returns its diagonal element.
func (p *panel[T]) update(i int) float64 {
	row, _ := p.pair(padded(i + 1))
	clear(row[copy(row, p.a[i*p.lda:i*p.lda+i+1]):])
	c := &p.coefficients
	for r := range p.rows {
		c[2*r], c[2*r+1] = -p.pairs[(2*r+1)*p.ld+i], -p.pairs[2*r*p.ld+i]
	}
	p.add(row)
	d := row[i]
	clear(row[i:])
	return float64(d)
}

// add adds the rows of the panel times the coefficients to y.
func (p *panel[T]) add(y []T) {
	c := &p.coefficients
	if p.rows%2 == 1 { // later rows have no reflection yet
		c[2*p.rows], c[2*p.rows+1] = 0, 0
	}
	for r := 0; r < 2*p.rows; r += together {
		addRows((*[together]T)(c[r:]), p.pairs[r*p.ld:], p.ld, y)
	}
}

// reflect adds the reflection that makes the updated row i zero up to its off-diagonal element,
// which it returns. With the updated A, w = tau A v − ½ tau² (vᵀAv) v.
func (p *panel[T]) reflect(i int) (last float64, tau T) {
	v, w := p.pair(padded(i))
	last, tau = householder(v[:i])
	copy(p.a[i*p.lda:i*p.lda+i], v)
	clear(w)
	if tau == 0 {
		return last, tau
	}
	symv(i%2 == 0, p.a, p.lda, v[:i], w)
	c := &p.coefficients
	for r := 0; r < 2*p.rows; r += together {
		s := dotRows(p.pairs[r*p.ld:], p.ld, v)
		c[r], c[r+1], c[r+2], c[r+3] = -s[1], -s[0], -s[3], -s[2]
	}
	p.add(w)
	half := tau * tau * dot(v, w) / 2
	for j, x := range v[:i] {
		w[j] = vector.Product(tau, w[j]) - vector.Product(half, x)
	}
	clear(w[i:])
	return last, tau
}

// updateRest subtracts the reflections of the panel from the triangle of the first n rows.
func (p *panel[T]) updateRest(n int) {
	for r := range p.rows {
		copy(p.swapped[2*r*p.ld:2*r*p.ld+n], p.pairs[(2*r+1)*p.ld:])
		copy(p.swapped[(2*r+1)*p.ld:(2*r+1)*p.ld+n], p.pairs[2*r*p.ld:])
	}
	for from := 0; from < n; from += updateRows {
		to := min(from+updateRows, n)
		gemm(blas.Trans, blas.NoTrans, to-from, to, 2*p.rows, -1, p.pairs[from:], p.ld, p.swapped, p.ld,
			1, p.a[from*p.lda:], p.lda)
	}
}

// householder replaces x by the vector v of the reflection H = I − tau v vᵀ, with last element
// one, such that only the last element of Hx is nonzero. It returns that element and tau. With
// the last element α of x,
//
//	last = −sign(α)·‖x‖,  v = x/(α − last) up to its last element,  tau = (last − α)/last.
func householder[T Float](x []T) (last float64, tau T) {
	end := len(x) - 1
	alpha := float64(x[end])
	x[end] = 1
	rest := squares(x[:end])
	if rest < negligible*negligible {
		clear(x[:end])
		if math.Abs(alpha) < negligible {
			alpha = 0
		}
		return alpha, 0
	}
	last = -math.Copysign(math.Sqrt(float64(alpha*alpha)+rest), alpha)
	by := 1 / (alpha - last)
	for j, v := range x[:end] {
		x[j] = T(float64(v) * by)
	}
	return last, T((last - alpha) / last)
}

// squares returns the sum of squares in float64.
func squares[T Float](x []T) float64 {
	var s [4]float64
	for len(x) >= len(s) {
		a, b, c, d := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		s[0] += float64(a * a)
		s[1] += float64(b * b)
		s[2] += float64(c * c)
		s[3] += float64(d * d)
		x = x[4:]
	}
	for j, v := range x {
		a := float64(v)
		s[j] += float64(a * a)
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
