package matrix

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
)

func TestLeftBits(t *testing.T) { atLevels(t, testLeft[float64], testLeft[float32]) }

// Left has the bits of Gemm.
func testLeft[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 3))
	for range 60 {
		m, n, k := pick(rng, edges), pick(rng, edges), pick(rng, append(slices.Clone(edges), 256, 257, 600))
		trans := pick(rng, transs)
		a, b, c := newGuarded[T](rng, m, k), newGuarded[T](rng, k, n), newGuarded[T](rng, m, n)
		if trans == blas.Trans {
			a = newGuarded[T](rng, k, m)
		}
		left := NewLeft(trans, m, k, a.d, a.ld)
		width, rows := left.Width(), left.Rows()
		panels := (n + width - 1) / width
		distance := (k + 3) * width
		right, out := make([]T, panels*distance), make([]T, panels*rows*width)
		for j := range n {
			at := j / width
			for i := range k {
				right[at*distance+i*width+j%width] = b.d[i*b.ld+j]
			}
		}
		left.Multiply(panels, right, distance, out)
		Gemm(trans, blas.NoTrans, m, n, k, 1, a.d, a.ld, b.d, b.ld, 0, c.d, c.ld)
		for j := range n {
			for i := range m {
				got, want := out[(j/width*rows+i)*width+j%width], c.d[i*c.ld+j]
				if bits(got) != bits(want) {
					t.Fatalf("%d×%d×%d, %c: element (%d, %d) is %g, not %g", m, n, k, trans, i, j, got, want)
				}
			}
		}
	}
}

func TestLargestBits(t *testing.T) { atLevels(t, testLargest[float64], testLargest[float32]) }

func testLargest[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	left := NewLeft(blas.NoTrans, 1, 1, []T{1}, 1)
	width := left.Width()
	for _, n := range edges {
		panel, got := make([]T, (n+1)*width), make([]T, width)
		for i := range panel {
			panel[i] = T(rng.NormFloat64()) - 5
		}
		for i := range width { // elements after the rows are ignored
			panel[n*width+i] = 100
		}
		left.Largest(n, panel, got)
		for j, v := range got {
			want := panel[j]
			for i := range n {
				want = max(want, panel[i*width+j])
			}
			if v != want {
				t.Fatalf("%d rows: column %d has %g, not %g", n, j, v, want)
			}
		}
	}
}

func TestTranspose(t *testing.T) { atLevels(t, testTranspose[float64], testTranspose[float32]) }

func testTranspose[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for range 40 {
		m, n := pick(rng, edges), pick(rng, edges)
		a, b := newGuarded[T](rng, m, n), newGuarded[T](rng, n, m)
		want := b.clone()
		for i := range m {
			for j := range n {
				want.d[j*want.ld+i] = a.d[i*a.ld+j]
			}
		}
		Transpose(m, n, a.d, a.ld, b.d, b.ld)
		sameBits(t, "transpose", b, want)
	}
}
