package hull

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestImagesNeedASafeSum: the image of a sample is the quotient of two sums that round like 1/λ.
// Below the safe sum, and for a negative sum or NaN, the image is the sample and the modelling
// error is infinite.
func TestImagesNeedASafeSum(t *testing.T) {
	const lambda = .25
	for _, c := range []struct {
		name   string
		single bool
		sum    float64
		unsafe bool
	}{
		{"above", false, 1.001 * memberships64 / (1 + lambda), false},
		{"below", false, .999 * memberships64 / (1 + lambda), true},
		{"above in float32", true, 1.001 * memberships32 / (1 + lambda), false},
		{"below in float32", true, .999 * memberships32 / (1 + lambda), true},
		{"negative", false, -.5, true},
		{"no number", false, math.NaN(), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fit{n: 1, p: 2, samples: mat.NewDense(1, 2, []float64{5, 6}), mean: []float64{1, 2}}
			// K B' is 2 and 3 times the sum, so that the image is at (2, 3) from the mean.
			m := f.modelOf(&fixedPoint{single: c.single, at: lambda}, func(_ int, to []float64) {
				to[0], to[1], to[2] = 2*c.sum, 3*c.sum, c.sum
			})
			at, apart, unsafe := []float64{3, 5}, math.Sqrt(5), 0
			if c.unsafe {
				at, apart, unsafe = []float64{5, 6}, math.Inf(1), 1
			}
			if !mat.EqualApprox(m.Images, mat.NewDense(1, 2, at), 1e-12) || m.Unsafe != unsafe ||
				!(math.Abs(m.Error-apart) < 1e-12 || m.Error == apart) {
				t.Errorf("image %v, error %g, %d unsafe; want %v, %g, %d", m.Images.RawMatrix().Data, m.Error, m.Unsafe,
					at, apart, unsafe)
			}
			want := []float64{3 * c.sum, 5 * c.sum}
			if got := m.Smoothed.RawRowView(0); !(math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1]) < 1e-12) &&
				!math.IsNaN(c.sum) {
				t.Errorf("smoothed %v, want %v", got, want)
			}
		})
	}
}
