package dpgp

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Where inputs are simulated (Sections 6.1 and 6.2).
const inputsLow, inputsHigh = -4.0, 4.0

// sinc is the function of Section 6.1, sin(2x)/(2x).
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(2*x) / (2 * x)
}

// uniformInputs draws n inputs (n×1) on the interval.
func uniformInputs(n int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, inputsLow+(inputsHigh-inputsLow)*rng.Float64())
	}
	return x
}

// observe adds noise of standard deviation sigma to the values of a function.
func observe(f []float64, sigma float64, rng *rand.Rand) []float64 {
	y := make([]float64, len(f))
	for i, v := range f {
		y[i] = v + sigma*rng.NormFloat64()
	}
	return y
}

// leastLengthscale is the shortest one that [gpFunction] can draw with: the
// largest exponent u²/2 must not underflow.
const leastLengthscale = 0.15

// gpFunction draws a function from the GP with the EQ kernel, and returns its
// values at the rows of x (n×1), which must be inside the interval. It is
//
//	f(x) = σ_f Σ_q ξ_q φ_q(x),  φ_q(x) = e^(−u²/2) u^q/√q!,  u = x/l,  ξ_q ~ N(0, 1):
//
// Σ_q φ_q(x)φ_q(x') = σ_f⁻²k(x, x') is the power series of e^(uu'). The rest
// after the last term has a Poisson tail's variance, below rounding.
func gpFunction(x *mat.Dense, lengthscale, variance float64, rng *rand.Rand) []float64 {
	reach := math.Max(-inputsLow, inputsHigh) / lengthscale
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
