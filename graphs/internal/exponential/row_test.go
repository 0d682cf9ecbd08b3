package exponential

import (
	"fmt"
	"math"
	"testing"
)

// Both forms of the float32 exponential agree with math.Exp, at every position
// within a vector, and treat the ends of the range and NaN alike.
func TestExponentials(t *testing.T) {
	var args []float32
	for x := -90.0; x <= 0; x += .0137 {
		args = append(args, float32(x))
	}
	args = append(args, 0, float32(math.Copysign(0, -1)), -1e-30, -87.2, -87.4, -1e30, float32(math.Inf(-1)),
		float32(math.NaN()))
	for _, c := range []struct {
		name string
		exp  func(row []float32, shift float32)
	}{{"generic", generic}, {"vector", Row}} {
		for _, shift := range []float32{0, 3.5} {
			for _, from := range []int{0, 3} {
				t.Run(fmt.Sprintf("%s/shift=%g/from=%d", c.name, shift, from), func(t *testing.T) {
					row := append([]float32(nil), args[from:]...)
					for i := range row {
						row[i] += shift
					}
					in := append([]float32(nil), row...)
					c.exp(row, shift)
					for i, got := range row {
						checkExponential(t, in[i]-shift, got)
					}
				})
			}
		}
	}
}

func checkExponential(t *testing.T, arg, got float32) {
	t.Helper()
	x := float64(arg)
	want := math.Exp(x)
	switch {
	case math.IsNaN(x):
		if got == got {
			t.Errorf("exp(NaN) is %g", got)
		}
	case x < -87.31:
		if got != 0 {
			t.Errorf("exp(%g) is %g, want 0", x, got)
		}
	case x > -87.29 && math.Abs(float64(got)/want-1) > 2e-7:
		t.Errorf("exp(%g) is %.9g, want %.9g", x, got, want)
	}
}

func BenchmarkExponential(b *testing.B) {
	row := make([]float32, 1000)
	for b.Loop() {
		for i := range row {
			row[i] = -float32(i) / 400
		}
		Row(row, 0)
	}
}

func TestMaxRow(t *testing.T) {
	for n := 1; n < 40; n++ {
		for at := range n {
			row := make([]float32, n)
			for i := range row {
				row[i] = -float32(i) - 2
			}
			row[at] = -1
			if got := Max(row); got != -1 {
				t.Fatalf("the largest of %v is %g", row, got)
			}
		}
	}
}
