package vector

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"privkern/graphs/simd"
)

// numbers returns n elements of all magnitudes up to 2^spread, the same on every machine. If
// special is set, some are NaN, infinite, zero or denormal.
func numbers[T Float](seed uint64, n, spread int, special bool) []T {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]T, n)
	for i := range v {
		x := math.Ldexp(float64(r.Int64N(1<<30)-1<<29)/(1<<29), r.IntN(2*spread+1)-spread)
		if special && r.IntN(6) == 0 {
			denormal := 0x1p-1060
			if size[T]() == 4 {
				denormal = 0x1p-140
			}
			x = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), denormal}[r.IntN(6)]
		}
		v[i] = T(x)
	}
	return v
}

// bits returns the bits of elements, with the same bits for all NaN.
func bits[T Float](v []T) []uint64 {
	b := make([]uint64, len(v))
	for i, x := range v {
		switch {
		case x != x:
			b[i] = 1<<63 - 1
		case size[T]() == 8:
			b[i] = math.Float64bits(float64(x))
		default:
			b[i] = uint64(math.Float32bits(float32(x)))
		}
	}
	return b
}

// alike checks that f has the same bits at all levels of the processor, and returns them.
func alike[T Float](t *testing.T, name string, f func() []T) []T {
	t.Helper()
	var want []T
	for _, l := range simd.Levels() {
		restore := simd.Use(l)
		got := f()
		restore()
		if want == nil {
			want = got
			continue
		}
		b, w := bits(got), bits(want)
		for i := range w {
			if b[i] != w[i] {
				t.Fatalf("%s: element %d of %d at level %v is %x (%v), the portable one %x (%v)", name, i, len(w), l,
					b[i], got[i], w[i], want[i])
			}
		}
	}
	return want
}

// kernels runs each function of the package on a and b, of equal lengths and any alignment, and
// returns the results.
func kernels[T Float]() map[string]func(a, b []T) []T {
	to := func(f func(dst []T)) func(n int) []T {
		return func(n int) []T {
			whole := make([]T, n+2)
			whole[0], whole[n+1] = 12345, 54321
			f(whole[1 : n+1])
			return whole
		}
	}
	return map[string]func(a, b []T) []T{
		"Exp":       func(a, _ []T) []T { return to(func(d []T) { Exp(d, a) })(len(a)) },
		"ScaledExp": func(a, _ []T) []T { return to(func(d []T) { ScaledExp(d, a, 1.5, -.75, .3) })(len(a)) },
		"RootExp": func(a, _ []T) []T {
			return to(func(d []T) { RootExp(d, a, -1.75, 1.25, -1.25, 1.25/3.) })(len(a))
		},
		"Dot":             func(a, b []T) []T { return []T{Dot(a, b)} },
		"SquaredDistance": func(a, b []T) []T { return []T{SquaredDistance(a, b)} },
		"Tanh":            func(a, _ []T) []T { return to(func(d []T) { Tanh(d, a) })(len(a)) },
		"Max": func(a, _ []T) []T {
			if len(a) == 0 {
				return a
			}
			return []T{Max(a)}
		},
		"Scal": func(a, _ []T) []T { return to(func(d []T) { Scal(d, .7, a) })(len(a)) },
		"Add":  func(a, b []T) []T { return to(func(d []T) { Add(d, a, b) })(len(a)) },
		"Sub":  func(a, b []T) []T { return to(func(d []T) { Sub(d, a, b) })(len(a)) },
		"Mul":  func(a, b []T) []T { return to(func(d []T) { copy(d, b); Mul(d, a, d) })(len(a)) },
		"AddNorms": func(a, b []T) []T {
			hit := false
			v := to(func(d []T) { copy(d, b); hit = AddNorms(d, a, 2, .25) })(len(a))
			if hit {
				return append(v, 1)
			}
			return v
		},
	}
}

// Every function has the same bits at all levels, for every length and alignment of its slices,
// with and without NaN, and writes nothing outside of them.
func TestLevelsAgree(t *testing.T) {
	t.Run("float64", levelsAgree[float64])
	t.Run("float32", levelsAgree[float32])
}

func levelsAgree[T Float](t *testing.T) {
	for name, f := range kernels[T]() {
		for _, n := range append(lengths(71), 127, 128, 129, 200, 1000) {
			for _, special := range []bool{false, true} {
				for from := range 4 {
					a, b := numbers[T](uint64(n), n+4, 9, special), numbers[T](uint64(n)+1000, n+4, 9, special)
					alike(t, fmt.Sprint(name, " of ", n), func() []T { return f(a[from:from+n], b[from:from+n]) })
				}
			}
		}
	}
	for name, f := range kernels[T]() {
		if name == "Dot" || name == "SquaredDistance" || name == "Max" {
			continue
		}
		v := f(numbers[T](1, 37, 3, false), numbers[T](2, 37, 3, false))
		if v[0] != 12345 || v[38] != 54321 {
			t.Errorf("%s writes beyond its slice", name)
		}
	}
}

func lengths(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// The bits of results are those of the recorded digests, on all processors.
func TestGoldenBits(t *testing.T) {
	sum64, sum32 := golden[float64](), golden[float32]()
	const want64, want32 = 0x6660a4aaf0d200e7, 0x6a6f3ba8cb0b4a25
	if sum64 != want64 || sum32 != want32 {
		t.Errorf("bits are %#x and %#x, want %#x and %#x", sum64, sum32, uint64(want64), uint64(want32))
	}
}

func golden[T Float]() uint64 {
	h := fnv.New64a()
	all := kernels[T]()
	for _, name := range []string{"Exp", "ScaledExp", "RootExp", "Dot", "SquaredDistance", "Max", "Tanh", "Scal",
		"AddNorms"} {
		for _, n := range []int{3, 1000} {
			for _, spread := range []int{2, 9} {
				a, b := numbers[T](uint64(n), n, spread, false), numbers[T](uint64(n)+1, n, spread, true)
				for _, v := range bits(append(all[name](a, b), all[name](b, a)...)) {
					fmt.Fprintln(h, v)
				}
			}
		}
	}
	x, y, c := numbers[T](1, 7*100, 2, false), numbers[T](2, 40*100, 2, false), make([]T, 7*40)
	for _, m := range []Metric{Manhattan, SquaredEuclidean} {
		Distances(m, 7, 40, 100, x, 100, y, 100, c, 40)
		for _, v := range bits(c) {
			fmt.Fprintln(h, v)
		}
	}
	return h.Sum64()
}

// Distances have the same bits at all levels for any numbers of points and coordinates and any
// distances of rows. They write nothing between rows, and agree with a loop in float64 up to
// rounding.
func TestDistances(t *testing.T) {
	t.Run("float64", func(t *testing.T) { distances[float64](t, 1e-14) })
	t.Run("float32", func(t *testing.T) { distances[float32](t, 3e-6) })
}

func distances[T Float](t *testing.T, tolerance float64) {
	for _, n := range []int{1, 3, 4, 9} {
		for _, rows := range []int{1, 15, 16, 33, 65} {
			for _, d := range []int{1, 2, 63, 64, 65, 200} {
				x, y := numbers[T](3, n*(d+2), 2, false), numbers[T](4, rows*(d+1), 2, false)
				for _, m := range []Metric{Manhattan, SquaredEuclidean} {
					c := alike(t, fmt.Sprint(m, n, rows, d), func() []T {
						c := make([]T, n*(rows+3))
						for i := range c {
							c[i] = T(math.NaN())
						}
						Distances(m, n, rows, d, x, d+2, y, d+1, c, rows+3)
						return c
					})
					checkDistances(t, m, n, rows, d, x, y, c, tolerance)
				}
			}
		}
	}
}

func checkDistances[T Float](t *testing.T, m Metric, n, rows, d int, x, y, c []T, tolerance float64) {
	t.Helper()
	for i := range n {
		for j := range rows + 3 {
			got, want := float64(c[i*(rows+3)+j]), 0.0
			if j >= rows {
				if got == got {
					t.Fatalf("a distance beyond the last point of %d", rows)
				}
				continue
			}
			for k := range d {
				diff := math.Abs(float64(x[i*(d+2)+k]) - float64(y[j*(d+1)+k]))
				if m == SquaredEuclidean {
					diff *= diff
				}
				want += diff
			}
			if !(math.Abs(got-want) <= tolerance*want) {
				t.Fatalf("distance %v of %d and %d, %d coordinates, is %v, want %v", m, i, j, d, got, want)
			}
		}
	}
}
