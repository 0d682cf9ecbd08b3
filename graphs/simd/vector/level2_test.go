package vector

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// problem is a matrix and two vectors at increments.
type problem[T Float] struct {
	m, n, lda, incX, incY int
	a, x, y               []T
}

// newProblem has numbers of one magnitude and a diagonal that lets triangles be solved.
func newProblem[T Float](m, n, incX, incY int) *problem[T] {
	p := &problem[T]{m: m, n: n, lda: n + 3, incX: incX, incY: incY}
	p.a, p.x = numbers[T](1, m*p.lda, 0, false), numbers[T](2, max(m, n)*3, 0, false)
	p.y = numbers[T](3, max(m, n)*3, 0, false)
	for i := range min(m, n) {
		p.a[i*p.lda+i] += T(n)
	}
	return p
}

// each runs the functions on p, those that take square matrices where it is one, and
// gonum's where its float64 problem q is not nil. Both return what they wrote.
func each(p *problem[float64], p32 *problem[float32], reference bool) map[string][]float64 {
	results := map[string][]float64{}
	g := gonum.Implementation{}
	add := func(name string, ours func() []float64, theirs func() []float64) {
		if reference {
			ours = theirs
		}
		results[name] = ours()
	}
	m, n := p.m, p.n
	for _, beta := range []float64{0, 1, -.7} {
		for _, t := range []bool{false, true} {
			trans := map[bool]blas.Transpose{false: blas.NoTrans, true: blas.Trans}[t]
			add(fmt.Sprint("gemv ", t, beta), func() []float64 {
				y := append([]float64(nil), p.y...)
				Gemv(t, m, n, 1.5, p.a, p.lda, p.x, p.incX, beta, y, p.incY)
				return y
			}, func() []float64 {
				y := append([]float64(nil), p.y...)
				last := n // gonum's Go code clears the whole slice where beta is zero.
				if !t {
					last = m
				}
				g.Dgemv(trans, m, n, 1.5, p.a, p.lda, p.x, p.incX, beta, y[:at(last-1, last, max(p.incY, -p.incY))+1], p.incY)
				return y
			})
		}
	}
	add("ger", func() []float64 {
		a := append([]float64(nil), p.a...)
		Ger(m, n, -.5, p.x, p.incX, p.y, p.incY, a, p.lda)
		return a
	}, func() []float64 {
		// gonum's assembly does nothing at negative increments of y.
		a := append([]float64(nil), p.a...)
		for i := range m {
			for j := range n {
				a[i*p.lda+j] -= .5 * p.x[at(i, m, p.incX)] * p.y[at(j, n, p.incY)]
			}
		}
		return a
	})
	if p32 != nil {
		y := append([]float32(nil), p32.y...)
		Gemv(true, m, n, 1.5, p32.a, p32.lda, p32.x, p32.incX, .5, y, p32.incY)
		add("gemv float32", func() []float64 { return widened(y) }, nil)
		Symv(true, min(m, n), 1.5, p32.a, p32.lda, p32.x, p32.incX, .5, y, p32.incY)
		Trsv(true, true, false, min(m, n), p32.a, p32.lda, y, p32.incY)
		Trmv(false, false, true, min(m, n), p32.a, p32.lda, y, p32.incY)
		add("triangles float32", func() []float64 { return widened(y) }, nil)
	}
	if m == n {
		square(p, add)
	}
	return results
}

func square(p *problem[float64], add func(name string, ours, theirs func() []float64)) {
	g, n := gonum.Implementation{}, p.n
	for c := range 8 {
		upper, transpose, unit := c&1 > 0, c&2 > 0, c&4 > 0
		uplo := map[bool]blas.Uplo{true: blas.Upper, false: blas.Lower}[upper]
		trans := map[bool]blas.Transpose{false: blas.NoTrans, true: blas.Trans}[transpose]
		diag := map[bool]blas.Diag{false: blas.NonUnit, true: blas.Unit}[unit]
		on := func(v []float64, f func(v []float64)) func() []float64 {
			return func() []float64 {
				w := append([]float64(nil), v...)
				f(w)
				return w
			}
		}
		add(fmt.Sprint("symv ", c), on(p.y, func(y []float64) {
			Symv(upper, n, 2, p.a, p.lda, p.x, p.incX, .5, y, p.incY)
		}), on(p.y, func(y []float64) { g.Dsymv(uplo, n, 2, p.a, p.lda, p.x, p.incX, .5, y, p.incY) }))
		add(fmt.Sprint("trmv ", c), on(p.x, func(x []float64) {
			Trmv(upper, transpose, unit, n, p.a, p.lda, x, p.incX)
		}), on(p.x, func(x []float64) { g.Dtrmv(uplo, trans, diag, n, p.a, p.lda, x, p.incX) }))
		if !unit || n < 10 { // A unit diagonal beside numbers of its size makes a solution grow with n.
			add(fmt.Sprint("trsv ", c), on(p.x, func(x []float64) {
				Trsv(upper, transpose, unit, n, p.a, p.lda, x, p.incX)
			}), on(p.x, func(x []float64) { g.Dtrsv(uplo, trans, diag, n, p.a, p.lda, x, p.incX) }))
		}
	}
	add("level 1", func() []float64 {
		y := append([]float64(nil), p.y...)
		AxpyInc(n, 3, p.x, p.incX, y, p.incY)
		ScalInc(n, .5, y, max(p.incY, 1))
		return append(y, DotInc(n, p.x, p.incX, p.y, p.incY), NormInc(n, p.x, max(p.incX, 1)),
			AbsSumInc(n, p.x, max(p.incX, 1)))
	}, func() []float64 {
		y := append([]float64(nil), p.y...)
		g.Daxpy(n, 3, p.x, p.incX, y, p.incY)
		g.Dscal(n, .5, y, max(p.incY, 1))
		return append(y, g.Ddot(n, p.x, p.incX, p.y, p.incY), g.Dnrm2(n, p.x, max(p.incX, 1)),
			g.Dasum(n, p.x, max(p.incX, 1)))
	})
}

func widened(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// Levels 1 and 2 are gonum's but for rounding, and the same bits at all levels.
func TestMatrixVector(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {5, 5}, {3, 40}, {40, 3}, {70, 70}, {33, 129}} {
		for _, inc := range [][2]int{{1, 1}, {2, 3}, {-2, 1}, {1, -3}} {
			m, n := size[0], size[1]
			p, p32 := newProblem[float64](m, n, inc[0], inc[1]), newProblem[float32](m, n, inc[0], inc[1])
			want := each(p, nil, true)
			names := slices.Sorted(maps.Keys(want))
			what := fmt.Sprint(size, " at ", inc)
			got := alike(t, what, func() []float64 {
				var all []float64
				results := each(p, p32, false)
				for _, name := range append(names, "gemv float32", "triangles float32") {
					all = append(all, results[name]...)
				}
				return all
			})
			for _, name := range names {
				for i, w := range want[name] {
					if !(math.Abs(got[i]-w) <= 1e-12*(1+math.Abs(w))) {
						t.Fatalf("%s of %s: element %d is %v, want %v", name, what, i, got[i], w)
					}
				}
				got = got[len(want[name]):]
			}
		}
	}
}

// The results have the bits that they had when this sum was taken, on all processors.
func TestGoldenBitsOfMatrixVector(t *testing.T) {
	h := fnv.New64a()
	for _, size := range [][2]int{{70, 70}, {33, 129}} {
		p, p32 := newProblem[float64](size[0], size[1], 2, 1), newProblem[float32](size[0], size[1], 2, 1)
		results := each(p, p32, false)
		for _, name := range slices.Sorted(maps.Keys(results)) {
			fmt.Fprintln(h, name, bits(results[name]))
		}
	}
	const want = 0x1e710262349a4620
	if got := h.Sum64(); got != want {
		t.Errorf("bits are %#x, want %#x", got, uint64(want))
	}
}

// A result overwrites NaN where beta is zero; a norm neither overflows nor underflows.
func TestLevelsOneAndTwoAtTheEdges(t *testing.T) {
	y := []float64{math.NaN(), math.NaN()}
	Gemv(false, 2, 1, 1, []float64{3, 4}, 1, []float64{2}, 1, 0, y, 1)
	if y[0] != 6 || y[1] != 8 {
		t.Errorf("beta = 0 leaves %v", y)
	}
	for _, c := range []struct{ x, norm float64 }{{1e300, 5e300}, {1e-310, 5e-310}, {0, 0}, {math.Inf(1), math.Inf(1)}} {
		got := Norm([]float64{3 * c.x, -4 * c.x})
		if got != c.norm && !(math.Abs(got/c.norm-1) < 1e-10) {
			t.Errorf("norm of 3 and 4 times %g is %g", c.x, got)
		}
	}
	if got := Norm([]float32{3e30, 4e30}); math.Abs(float64(got)/5e30-1) > 1e-6 {
		t.Errorf("norm is %g in float32", got)
	}
	if got := Norm([]float64{1e300, math.NaN()}); got == got {
		t.Errorf("norm with NaN is %g", got)
	}
}
