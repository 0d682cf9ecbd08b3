package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/graphs/simd"
)

func TestExpBelow(t *testing.T) {
	t.Run("float64", expBelow[float64])
	t.Run("float32", expBelow[float32])
}

// ExpBelow has the bits of its definition at every level, for widths with and without a kernel, and
// writes nothing after its rows.
func expBelow[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	inf := T(math.Inf(1))
	for _, width := range []int{1, 12, 16, 24, 32, 40, 600} {
		for _, rows := range []int{0, 1, 2, 7, 300} {
			top, x := make([]T, width), make([]T, rows*width+1)
			for j := range top {
				top[j] = T(10 * r.NormFloat64())
			}
			for i := range rows * width {
				x[i] = top[i%width] - T(math.Ldexp(r.Float64(), r.IntN(14)-3))
				switch r.IntN(40) {
				case 0: // around the least normal exponential
					x[i] = top[i%width] - 87.3365 + T(r.IntN(9)-4)*0x1p-17
				case 1:
					x[i] = -inf
				case 2:
					x[i] = top[i%width]
				}
			}
			x[len(x)-1] = 12345
			want := slices.Clone(x)
			for i := range rows * width {
				want[i] = x[i] - top[i%width]
			}
			ScaledExp(want[:rows*width], want[:rows*width], 0, 1, 1)
			got := alike(t, fmt.Sprint("ExpBelow of ", rows, "×", width), func() []T {
				got := slices.Clone(x)
				ExpBelow(got[:rows*width], top)
				return got
			})
			if !slices.Equal(bits(got), bits(want)) {
				t.Errorf("%d×%d: other bits than those of its definition", rows, width)
			}
		}
	}
}

// An incomplete row panics at every level, before anything is written.
func TestExpBelowOfIncompleteRows(t *testing.T) {
	for _, l := range simd.Levels() {
		restore := simd.Use(l)
		for _, size := range [][2]int{{33, 32}, {25, 24}, {3, 2}, {3, 16}, {1, 0}} {
			x := make([]float32, size[0])
			func() {
				defer func() {
					got, want := fmt.Sprint(recover()), fmt.Sprintf("%d elements are no rows of %d", size[0], size[1])
					if !strings.Contains(got, want) || x[0] != 0 {
						t.Errorf("level %v: %q, want %q; the first element becomes %g", l, got, want, x[0])
					}
				}()
				ExpBelow(x, make([]float32, size[1]))
			}()
		}
		restore()
	}
}

// Numbers of float32 from the largest to the least negative one have the exponential of ScaledExp, and NaN stays.
func TestExpBelowOfManyNumbers(t *testing.T) {
	nan := float32(math.NaN())
	for _, l := range simd.Levels() {
		restore := simd.Use(l)
		for _, width := range []int{24, 32} {
			top, x := make([]float32, width), make([]float32, 8192*width)
			for from := uint32(0); from < 0x7f800001; {
				for i := range x {
					x[i] = -math.Float32frombits(min(from, 0x7f800000))
					from += 4999
				}
				want := make([]float32, len(x))
				ScaledExp(want, x, 0, 1, 1)
				ExpBelow(x, top)
				if !slices.Equal(bits(x), bits(want)) {
					t.Fatalf("level %v, width %d: other bits than ScaledExp", l, width)
				}
			}
			x[5] = nan
			if ExpBelow(x[:width], top); x[5] == x[5] {
				t.Errorf("level %v, width %d: NaN becomes %v", l, width, x[5])
			}
			for j := range top {
				top[j], x[j] = nan, 1
			}
			if ExpBelow(x[:width], top); !math.IsNaN(float64(x[0])) {
				t.Errorf("level %v, width %d: a top of NaN gives %v", l, width, x[0])
			}
		}
		restore()
	}
}
