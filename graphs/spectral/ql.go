package spectral

import (
	"math"

	"privkern/graphs/simd/vector"
)

// sweeps limits the iterations of the QL method, per eigenvalue in the mean.
const sweeps = 50

// implicitQL replaces the diagonal d of a tridiagonal matrix by its eigenvalues, in no order, and
// overwrites the off-diagonal elements e[:len(d)-1]. Row i of q, at distance ld, is rotated with
// d[i], so that rows of the identity become eigenvectors. q may be nil. It reports whether the
// iteration converged.
//
// It is the QL method with implicit shifts (Golub and Van Loan, "Matrix Computations",
// Section 8.3.5; Dubrulle, Martin and Wilkinson, "The implicit QL algorithm", 1968).
func implicitQL[T Float](d, e []float64, q []T, ld int) bool {
	n := len(d)
	for l, left := 0, sweeps*n; l < n; {
		m := l
		for m < n-1 && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
			m++
		}
		if m == l {
			l++
			continue
		}
		if left--; left < 0 {
			return false
		}
		sweep(l, m, d, e, q, ld)
	}
	return true
}

// sweep makes one QL iteration on rows l to m. Rotations from row m upwards chase the element that
// the shift introduces outside of the tridiagonal part. The shift is Wilkinson's, the eigenvalue of
//
//	( d_l  e_l     )
//	( e_l  d_(l+1) )
//
// closer to d_l: d_l − e_l/(g + sign(g)·√(g² + 1)) with g = (d_(l+1) − d_l)/(2 e_l).
func sweep[T Float](l, m int, d, e []float64, q []T, ld int) {
	n := len(d)
	g := (d[l+1] - d[l]) / (2 * e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(hypotenuse(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := float64(s*e[i]), float64(c*e[i])
		r := hypotenuse(f, g)
		if i+1 < m {
			e[i+1] = r
		}
		if r == 0 { // the matrix has split into two
			d[i+1] -= p
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + 2*float64(c*b)
		p = float64(s * r)
		d[i+1] = g + p
		g = float64(c*r) - b
		if q != nil {
			rotate(q[(i+1)*ld:(i+1)*ld+n], q[i*ld:i*ld+n], T(c), T(s))
		}
	}
	d[l] -= p
	e[l] = g
	if m < n-1 {
		e[m] = 0
	}
}

// rotate replaces the rows x and y by c x + s y and c y − s x.
func rotate[T Float](x, y []T, c, s T) {
	for j, v := range y {
		u := x[j]
		x[j] = vector.Product(c, u) + vector.Product(s, v)
		y[j] = vector.Product(c, v) - vector.Product(s, u)
	}
}

// hypotenuse returns √(x² + y²) for x and y whose squares do not overflow. Unlike math.Hypot, it
// has the same bits on every processor.
func hypotenuse(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if x == 0 {
		return 0
	}
	t := y / x
	return float64(x * math.Sqrt(1+float64(t*t)))
}
