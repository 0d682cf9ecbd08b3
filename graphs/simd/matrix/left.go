package matrix

import "gonum.org/v1/gonum/blas"

// Left is an m×k matrix, packed once for the kernels, that multiplies many matrices from the
// left. These are stored as consecutive panels of Width columns, each row-major, as are the
// products, which can be factors of further products. Products have the bits of [Gemm]. A Left
// belongs to the level at which it was made.
type Left[T Float] struct {
	ks   *kernels[T]
	m, k int
	d    []T
}

// NewLeft packs op(A), m×k, for m, k > 0.
func NewLeft[T Float](t blas.Transpose, m, k int, a []T, lda int) *Left[T] {
	ks, v := use[T](), operand(a, lda, t)
	checkRange(v, m, k)
	l := &Left[T]{ks, m, k, aligned[T](roundUp(m, ks.mr) * k)}
	for p := 0; p < k; p += blockK {
		ks.pack(l.d[p*l.Rows():], v.from(0, p), m, min(blockK, k-p), ks.mr)
	}
	return l
}

// Width returns the number of columns of a panel.
func (l *Left[T]) Width() int { return l.ks.nr }

// Rows returns the number of rows of a panel of products: m rounded up to the kernels' tiles. The
// additional rows are products with zeros.
func (l *Left[T]) Rows() int { return roundUp(l.m, l.ks.mr) }

// Multiply computes C = A B for a number of panels. Panels of B have k rows and begin distance
// elements apart; panels of C have Rows rows.
func (l *Left[T]) Multiply(panels int, b []T, distance int, c []T) {
	ks, rows, width := l.ks, l.Rows(), l.ks.nr
	if panels == 0 {
		return
	}
	_, _ = b[(panels-1)*distance+l.k*width-1], c[panels*rows*width-1]
	for p := 0; p < l.k; p += blockK { // whose packed block stays in the second-level cache
		kb := min(blockK, l.k-p)
		for j := range panels {
			right := &b[j*distance+p*width]
			for i := 0; i < rows; i += ks.mr {
				ks.gemm(kb, &l.d[p*rows+i*kb], right, &c[(j*rows+i)*width], width, flag(p > 0), 1)
			}
		}
	}
}

// Largest writes the largest element of each column of the first n > 0 rows of a panel to to,
// Width elements. It is undefined for columns with NaN.
func (l *Left[T]) Largest(n int, panel, to []T) {
	width := l.ks.nr
	_, _ = panel[n*width-1], to[width-1]
	if l.ks.largest != nil {
		l.ks.largest(n, &panel[0], &to[0])
		return
	}
	to = to[:width]
	copy(to, panel)
	for i := 1; i < n; i++ {
		for j, v := range panel[i*width : (i+1)*width] {
			to[j] = max(to[j], v)
		}
	}
}

// Transpose copies the transpose of A (m×n) to B (n×m), for m, n > 0.
func Transpose[T Float](m, n int, a []T, lda int, b []T, ldb int) {
	use[T]().move(view[T]{b, 0, 1, ldb}, view[T]{a, 0, lda, 1}, m, n)
}
