package har

// Rate is the number of samples in a second.
const Rate = 50

// median3 replaces each sample by the median of it and its neighbours; beyond the ends
// there are zeros, as SciPy's medfilt has them.
func median3(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		before, after := 0.0, 0.0
		if i > 0 {
			before = x[i-1]
		}
		if i+1 < len(x) {
			after = x[i+1]
		}
		out[i] = max(min(before, v), min(max(before, v), after))
	}
	return out
}

// lowPass is a Butterworth filter of order 3: the coefficients of its transfer function
// Σ b_i z⁻ⁱ / Σ a_i z⁻ⁱ, with a_0 = 1.
type lowPass struct{ b, a [4]float64 }

// Filters at 20 Hz, above which is noise, and at 0.3 Hz, below which are gravity and
// drift. The tangents of π·corner/Rate are written out, since a last bit
// of them counts where poles are near 1.
var (
	noiseFilter   = butterworth(3.0776835371752534025702905760369098240067021435375)
	gravityFilter = butterworth(0.018851788690786586328458957989370830754679745866175)
)

// butterworth is the bilinear transform of the analogue filter
// 1 / ((s + 1)(s² + s + 1)), with its corner kept in place; k is the tangent of π times
// the corner in units of the rate.
func butterworth(k float64) lowPass {
	square := float64(k * k)
	c0, c1 := 1+k, k-1                                 // of the first-order factor
	d0, d1, d2 := 1+k+square, 2*(square-1), 1-k+square // of the second-order one
	scale := c0 * d0
	g := k * square / scale
	return lowPass{
		b: [4]float64{g, 3 * g, 3 * g, g},
		a: [4]float64{1, (float64(c0*d1) + float64(c1*d0)) / scale, (float64(c0*d2) + float64(c1*d1)) / scale,
			c1 * d2 / scale},
	}
}

// apply filters forwards only, from the state that a constant x[0] leaves.
func (f lowPass) apply(x []float64) []float64 {
	if len(x) == 0 {
		return nil
	}
	var z [3]float64
	for i := 2; i >= 0; i-- {
		z[i] = float64((f.b[i+1] - f.a[i+1]) * x[0])
		if i < 2 {
			z[i] += z[i+1]
		}
	}
	out := make([]float64, len(x))
	for t, v := range x {
		y := float64(f.b[0]*v) + z[0]
		z[0] = float64(f.b[1]*v) - float64(f.a[1]*y) + z[1]
		z[1] = float64(f.b[2]*v) - float64(f.a[2]*y) + z[2]
		z[2] = float64(f.b[3]*v) - float64(f.a[3]*y)
		out[t] = y
	}
	return out
}

// without returns x − y.
func without(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - y[i]
	}
	return out
}

// rateOfChange is the difference to the sample before, per second; 0 for the first.
func rateOfChange(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := 1; i < len(x); i++ {
		out[i] = (x[i] - x[i-1]) * Rate
	}
	return out
}
