package sparse

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Where inputs are simulated (Sections 6.1 and 6.2).
const (
	InputsLow  = -4.0
	InputsHigh = 4.0
)

// Sinc is the function of Section 6.1, sin(2x)/(2x).
func Sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(2*x) / (2 * x)
}

// UniformInputs draws n inputs (n×1) on the interval.
func UniformInputs(n int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, InputsLow+(InputsHigh-InputsLow)*rng.Float64())
	}
	return x
}

// GridPoints is the number of points of the grids of Fig. 1.
const GridPoints = 121

// Grid returns points (GridPoints×1) from low to high.
func Grid(low, high float64) *mat.Dense {
	x := mat.NewDense(GridPoints, 1, nil)
	for i := range GridPoints {
		x.Set(i, 0, low+(high-low)*float64(i)/(GridPoints-1))
	}
	return x
}

// Values are those of a function at the rows of x (n×1).
func Values(f func(float64) float64, x *mat.Dense) []float64 {
	out := mat.Col(nil, 0, x)
	for i, v := range out {
		out[i] = f(v)
	}
	return out
}

// Observe adds noise of standard deviation sigma to the values of a function.
func Observe(f []float64, sigma float64, rng *rand.Rand) []float64 {
	y := make([]float64, len(f))
	for i, v := range f {
		y[i] = v + sigma*rng.NormFloat64()
	}
	return y
}

// LeastLengthscale is the shortest one that [GPFunction] can draw with: the
// largest exponent u²/2 must not underflow.
const LeastLengthscale = 0.15

// GPFunction draws a function from the GP with the EQ kernel, and returns its
// values at the rows of x (n×1), which must be inside the interval. It is
//
//	f(x) = σ_f Σ_q ξ_q φ_q(x),  φ_q(x) = e^(−u²/2) u^q/√q!,  u = x/l,  ξ_q ~ N(0, 1):
//
// Σ_q φ_q(x)φ_q(x') = σ_f⁻²k(x, x') is the power series of e^(uu'). The rest
// after the last term has a Poisson tail's variance, below rounding.
func GPFunction(x *mat.Dense, lengthscale, variance float64, rng *rand.Rand) []float64 {
	reach := math.Max(-InputsLow, InputsHigh) / lengthscale
	mean := reach * reach
	terms := int(mean + 12*math.Sqrt(mean) + 40)
	xi := make([]float64, terms)
	for q := range xi {
		xi[q] = math.Sqrt(variance) * rng.NormFloat64()
	}
	roots := make([]float64, terms)
	for q := range roots {
		roots[q] = 1 / math.Sqrt(float64(q+1))
	}
	n, _ := x.Dims()
	f := make([]float64, n)
	for i := range f {
		u := x.At(i, 0) / lengthscale
		phi := math.Exp(-u * u / 2)
		for q, v := range xi {
			f[i] += v * phi
			phi *= u * roots[q]
		}
	}
	return f
}

// SimulatedNote is the note on a record with secure noise.
const SimulatedNote = "this record itself is not private: its metrics are computed from the data, or from the " +
	"function that they were simulated with, without noise; noise covers the released series alone"

// Clip moves predicted means of a scaled output into its public range, [−1, 1], in place: no output is beyond it, and
// an interval around a mean then holds no fewer of them.
func Clip(mean []float64) []float64 {
	for i, v := range mean {
		mean[i] = max(-1, min(1, v))
	}
	return mean
}
