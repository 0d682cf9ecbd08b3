package spectral

import "privkern/graphs/simd/vector"

// The kernels below compute with four rows at a time, so that a vector is read once for all four.
// Products and sums are rounded separately. Sums of products have eight partial sums, with
// element j in sum j mod 8, which sumLanes adds: an order for vector instructions of any width up
// to eight elements.
const (
	together = 4
	lanes    = 8
)

// partial holds the partial sums of four rows.
type partial[T Float] [together][lanes]T

// sumLanes adds partial sums, the upper half to the lower half first.
func sumLanes[T Float](s *[lanes]T) T {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// dot returns the inner product of a and x, which have equal lengths.
func dot[T Float](a, x []T) T {
	var s [lanes]T
	dotLanes(a, x, &s)
	return sumLanes(&s)
}

// dotLanes adds the products of a and x to partial sums.
func dotLanes[T Float](a, x []T, s *[lanes]T) {
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for len(a) >= lanes && len(x) >= lanes {
		s0 += vector.Product(a[0], x[0])
		s1 += vector.Product(a[1], x[1])
		s2 += vector.Product(a[2], x[2])
		s3 += vector.Product(a[3], x[3])
		s4 += vector.Product(a[4], x[4])
		s5 += vector.Product(a[5], x[5])
		s6 += vector.Product(a[6], x[6])
		s7 += vector.Product(a[7], x[7])
		a, x = a[lanes:], x[lanes:]
	}
	*s = [lanes]T{s0, s1, s2, s3, s4, s5, s6, s7}
	for j, v := range a {
		s[j] += vector.Product(v, x[j])
	}
}

// addRows adds c[0] a₀ + c[1] a₁ + c[2] a₂ + c[3] a₃ to y, in this order, where row i of the
// matrix a begins at i·lda. The length of y is a multiple of lanes.
func addRows[T Float](c *[together]T, a []T, lda int, y []T) {
	if vectorAddRows(c, a, lda, y) {
		return
	}
	m := len(y)
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	a0, a1, a2, a3 := a[:m], a[lda:lda+m], a[2*lda:2*lda+m], a[3*lda:3*lda+m]
	for j, v := range y {
		y[j] = v + vector.Product(c0, a0[j]) + vector.Product(c1, a1[j]) + vector.Product(c2, a2[j]) +
			vector.Product(c3, a3[j])
	}
}

// dotRows returns the inner products of four rows and x, whose length is a multiple of lanes.
func dotRows[T Float](a []T, lda int, x []T) (s [together]T) {
	var p partial[T]
	if !vectorDotRows(a, lda, x, &p) {
		for i := range p {
			dotLanes(a[i*lda:i*lda+len(x)], x, &p[i])
		}
	}
	for i := range s {
		s[i] = sumLanes(&p[i])
	}
	return s
}

// addDotRows is addRows and dotRows in one pass over the rows.
func addDotRows[T Float](c *[together]T, a []T, lda int, x, y []T) (s [together]T) {
	var p partial[T]
	if !vectorAddDotRows(c, a, lda, x, y, &p) {
		s = dotRows(a, lda, x)
		addRows(c, a, lda, y)
		return s
	}
	for i := range s {
		s[i] = sumLanes(&p[i])
	}
	return s
}

// symv computes y = A x for the symmetric matrix of order len(x) with the lower triangle a, which
// it reads once, from the last row upwards if up is set. Callers alternate the direction, so that
// the rows read last are in the cache.
//
// Blocks of rows end at a diagonal block that begins at a multiple of lanes.
func symv[T Float](up bool, a []T, lda int, x, y []T) {
	n := len(x)
	clear(y[:n])
	for k := 0; k < n; k += lanes {
		i := k
		if up {
			i = (n-1)&^(lanes-1) - k
		}
		end := min(i+lanes, n)
		if i > 0 {
			symvRows(i, end, a, lda, x, y)
		}
		symvTriangle(a[i*lda+i:], lda, x[i:end], y[i:end])
	}
}

// symvRows adds to y the product with the first m columns of rows m to end, at most lanes rows,
// and with their transpose. The kernel takes four rows at a time. For fewer remaining rows it
// takes the rows before them again, or a single row four times, with factors of zero.
func symvRows[T Float](m, end int, a []T, lda int, x, y []T) {
	if end-m == lanes {
		if s, ok := vectorEightRows(x[m:end], a[m*lda:], lda, x[:m], y[:m]); ok {
			for k, v := range s {
				y[m+k] += v
			}
			return
		}
	}
	if end-m < together {
		for i := m; i < end; i++ {
			y[i] += addDotRows(&[together]T{x[i]}, a[i*lda:], 0, x[:m], y[:m])[0]
		}
		return
	}
	for i := m; i < end; i += together {
		from := min(i, end-together)
		var c [together]T
		copy(c[i-from:], x[i:end])
		s := addDotRows(&c, a[from*lda:], lda, x[:m], y[:m])
		for k, v := range s[i-from:] {
			y[i+k] += v
		}
	}
}

// symvTriangle adds the product with a diagonal block.
func symvTriangle[T Float](a []T, lda int, x, y []T) {
	y = y[:len(x)]
	for i, c := range x {
		row := a[i*lda : i*lda+i+1]
		s := y[i] + vector.Product(row[i], c)
		for j, v := range row[:i] {
			s += vector.Product(v, x[j])
			y[j] += vector.Product(v, c)
		}
		y[i] = s
	}
}
