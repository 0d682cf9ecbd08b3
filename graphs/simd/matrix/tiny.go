package matrix

import (
	"math"

	"privkern/graphs/simd/internal/fma"
)

// Numbers of multiplications and orders up to which copies cost more than the arithmetic.
const (
	tinySolve    = 50
	tinyCholesky = 4
)

// tiny solves A X = B, or computes A X, for A of order n, in place of X (n×m).
func (t triangle[T]) tiny(solve bool, n, m int, x view[T]) {
	a := t.view
	if !t.lower {
		a, x = a.reversed(n).t().reversed(n).t(), x.reversed(n)
	}
	for j := range m {
		for r := range n {
			i := r
			if !solve { // the rows before it still hold X
				i = n - 1 - r
			}
			var s T
			if solve {
				s = x.d[x.off+i*x.rs+j*x.cs]
			}
			for k := range i {
				f := a.d[a.off+i*a.rs+k*a.cs]
				if solve {
					f = -f
				}
				s = fma.FMA(f, x.d[x.off+k*x.rs+j*x.cs], s)
			}
			d := T(1)
			if !t.unit {
				d = a.d[a.off+i*(a.rs+a.cs)]
			}
			to := &x.d[x.off+i*x.rs+j*x.cs]
			if solve {
				*to = s * (1 / d)
			} else {
				*to = fma.FMA(d, *to, s)
			}
		}
	}
}

// tinyFactor computes the Cholesky factor of the lower triangle of v in place.
func tinyFactor[T Float](n int, v view[T]) (order int) {
	at := func(i, j int) *T { return &v.d[v.off+i*v.rs+j*v.cs] }
	for j := range n {
		d := *at(j, j)
		for k := range j {
			d = fma.FMA(-*at(j, k), *at(j, k), d)
		}
		if !isPivot(d) {
			return j + 1
		}
		d = T(math.Sqrt(float64(d)))
		*at(j, j) = d
		inv := 1 / d
		for i := j + 1; i < n; i++ {
			s := *at(i, j)
			for k := range j {
				s = fma.FMA(-*at(i, k), *at(j, k), s)
			}
			*at(i, j) = s * inv
		}
	}
	return 0
}
