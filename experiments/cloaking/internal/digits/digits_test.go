package digits

import (
	"math"
	"testing"
)

// Area averages: A·image·Aᵀ with A the 15×28 matrix of shares, in NumPy.
func TestDownSample(t *testing.T) {
	pixels := make([]byte, 784)
	for i := range 28 {
		for j := range 28 {
			pixels[i*28+j] = byte((7*i + 11*j + i*j) % 256)
		}
	}
	out := make([]float64, side*side)
	downSample(pixels, 28, 28, out)
	for at, want := range map[[2]int]float64{
		{0, 0}: 8.572704081632653, {3, 11}: 143.39158163265284, {14, 14}: 157.78698979591843, {7, 7}: 169.25000000000006,
	} {
		if got := out[at[0]*side+at[1]]; math.Abs(got-want) > 1e-10 {
			t.Errorf("%v: %.13g, want %.13g", at, got, want)
		}
	}
	for i := range pixels {
		pixels[i] = 200
	}
	downSample(pixels, 28, 28, out)
	for i, v := range out {
		if math.Abs(v-200) > 1e-10 {
			t.Errorf("pixel %d of an even picture is %.13g", i, v)
		}
	}
}
