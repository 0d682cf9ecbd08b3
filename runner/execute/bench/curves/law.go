package curves

import "math"

// Law is a cost that grows as fixed + scale·(x/at)^exponent with a number x, fitted to measurements. That of a
// flat cost, whose exponent would be that of noise, is linear.
type Law struct {
	Fixed, Scale, At, Exponent float64
	// Error is half the width of the exponent's central 95 % region; NaN where the points are too few for one.
	Error    float64
	From, To float64 // the range of x
	// Refused is the least x beyond the range that was refused; 0 for none.
	Refused float64
}

// noise is the least relative deviation of a measurement that a fit allows for.
const noise = .02

// quantiles are the 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
var quantiles = []float64{12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}

// Fit fits a law to positive costs at increasing x: least squares of the relative residuals, which are those of
// logarithms to first order, with neither part below 0. For each exponent the parts follow from linear equations; the
// exponent is searched. Its error is that of the linearised problem. It needs three points; ok is false for fewer.
func Fit(x, cost []float64) (l Law, ok bool) {
	if len(x) < 3 {
		return l, false
	}
	l = Law{At: x[len(x)-1], From: x[0], To: x[len(x)-1], Error: math.NaN()}
	best := math.Inf(1)
	at := func(exponent float64) {
		if fixed, scale, sum := parts(x, cost, l.At, exponent); sum < best {
			best, l.Fixed, l.Scale, l.Exponent = sum, fixed, scale, exponent
		}
	}
	const step, steps = .01, 500
	for k := 1; k <= steps; k++ {
		at(float64(k) * step)
	}
	for centre, k := l.Exponent, -20; k <= 20; k++ {
		at(max(step/20, centre+float64(k)*step/20))
	}
	if l.Flat() {
		l.Exponent, l.Error = 1, math.NaN()
		l.Fixed, l.Scale, _ = parts(x, cost, l.At, l.Exponent)
		return l, true
	}
	l.Error = l.error(x, cost, best)
	return l, true
}

// parts are the parts of a law with an exponent, and the sum of its squared relative residuals.
func parts(x, cost []float64, at, exponent float64) (fixed, scale, sum float64) {
	var uu, uv, vv, u1, v1 float64
	for i, c := range cost {
		u, v := 1/c, math.Pow(x[i]/at, exponent)/c
		uu, uv, vv, u1, v1 = uu+u*u, uv+u*v, vv+v*v, u1+u, v1+v
	}
	det := uu*vv - uv*uv
	fixed, scale = (u1*vv-v1*uv)/det, (v1*uu-u1*uv)/det
	switch {
	case !(det > 1e-12*uu*vv) || fixed < 0:
		fixed, scale = 0, v1/vv
	case scale < 0:
		fixed, scale = u1/uu, 0
	}
	for i, c := range cost {
		r := (fixed+scale*math.Pow(x[i]/at, exponent))/c - 1
		sum += r * r
	}
	return fixed, scale, sum
}

// error is half the width of the region of the exponent, from the residuals' sum of squares.
func (l Law) error(x, cost []float64, sum float64) float64 {
	// The derivative by the exponent, from which those by the other parameters are projected out.
	columns := [][]float64{{}, {}}
	var slope []float64
	for i, c := range cost {
		z := math.Pow(x[i]/l.At, l.Exponent)
		columns[0], columns[1] = append(columns[0], z/c), append(columns[1], 1/c)
		slope = append(slope, l.Scale*z*math.Log(x[i]/l.At)/c)
	}
	if l.Fixed == 0 { // at its bound
		columns = columns[:1]
	}
	free := len(x) - 1 - len(columns)
	if free < 1 {
		return math.NaN()
	}
	for k, c := range columns {
		for _, before := range columns[:k] {
			subtract(c, before)
		}
		subtract(slope, c)
	}
	variance := max(sum/float64(free), noise*noise)
	return quantiles[min(free, len(quantiles))-1] * math.Sqrt(variance/dot(slope, slope))
}

// subtract takes the part along b off a.
func subtract(a, b []float64) {
	f := dot(a, b) / dot(b, b)
	for i := range a {
		a[i] -= f * b[i]
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Flat reports whether less than a fifth of the cost grows within the range.
func (l Law) Flat() bool {
	return l.Scale*(1-math.Pow(l.From/l.At, l.Exponent)) < .2*(l.Fixed+l.Scale)
}

// Uncertain reports whether nothing follows beyond the range but that the cost grows.
func (l Law) Uncertain() bool { return !(l.Error <= .5) }

// Grown is the part of the cost at x that grows: beyond the range of an uncertain law as x does.
func (l Law) Grown(x float64) float64 {
	if l.Uncertain() && x > l.To {
		return l.Grown(l.To) * x / l.To
	}
	return l.Scale * math.Pow(x/l.At, l.Exponent)
}
