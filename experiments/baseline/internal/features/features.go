// Package features maps rows to vectors of Euclidean norm at most one.
package features

import (
	"context"
	_ "embed"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed features.go
var source string

func init() { experiment.Document[Settings](source) }

// Kind selects the features.
type Kind int

// The kinds.
const (
	Linear Kind = iota
	Fourier
)

// Choices are their words.
func (Kind) Choices() []string { return []string{"linear", "fourier"} }

// Auto is the word of a number that follows from public numbers.
type Auto int

// Choices are the word.
func (Auto) Choices() []string { return []string{"auto"} }

// Settings are those of the features.
type Settings struct {
	// features of a row: linear has the inputs and a constant, fourier cosines and sines of public frequencies, of
	// which sums are smooth functions
	Features Kind `name:"features" default:"fourier"`
	// how many frequencies; auto follows from the public numbers of rows and inputs and from epsilon
	Frequencies experiment.Or[Auto, int] `name:"frequencies" default:"auto" min:"1" max:"2000" when:"features is fourier"`
	// lengthscale of the functions, as a share of the public range of every input and times the root of the number of
	// inputs
	Lengthscale float64 `name:"lengthscale" default:"0.2" above:"0" when:"features is fourier"`
}

// Map maps inputs u in [−1, 1]^d to features of norm at most one. Those of m frequencies w are cos(w·u)/√m and
// sin(w·u)/√m, for all w (Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007). Without
// frequencies they are 1 and u, which is made as short as the radius r, over √(1 + r²).
type Map struct {
	Frequencies [][]float64 `json:"frequencies"` // m×d; none of linear features
	Radius      float64     `json:"radius"`      // of linear features
}

// seed is that of the public frequencies.
const seed = 1

// Map returns the features of d inputs; auto is the number of frequencies that is taken by default.
//
// The frequencies are normal, with the inverse of the lengthscale as standard deviation: in every input they are the
// quantiles of m strata, in a random order of their own (McKay, Beckman and Conover, "A comparison of three methods for
// selecting values of input variables in the analysis of output from a computer code", Technometrics 21, 1979).
func (s Settings) Map(inputs, auto int) Map {
	d := float64(inputs)
	if s.Features == Linear {
		// Two standard deviations above the mean of |u|² for u that are uniform.
		return Map{Frequencies: [][]float64{}, Radius: math.Sqrt(min(d, d/3+2*math.Sqrt(4*d/45)))}
	}
	m := auto
	if !s.Frequencies.IsWord {
		m = s.Frequencies.Number
	}
	out := Map{Frequencies: make([][]float64, m)}
	for i := range out.Frequencies {
		out.Frequencies[i] = make([]float64, inputs)
	}
	rng := rand.New(rand.NewPCG(seed, seed))
	width := 2 * s.Lengthscale * math.Sqrt(d) // in [−1, 1]
	for j := range inputs {
		for i, k := range rng.Perm(m) {
			out.Frequencies[i][j] = distuv.UnitNormal.Quantile((float64(k)+.5)/float64(m)) / width
		}
	}
	return out
}

// mostFrequencies bounds their default number.
const mostFrequencies = 100

// Count is the default number of frequencies for n rows: a factor times the cube root of nε. More rows, or less noise,
// can tell more of a function.
func Count(rows int, epsilon, factor float64) int {
	return int(max(2, min(mostFrequencies, math.Round(factor*math.Cbrt(float64(rows)*epsilon)))))
}

// Len is the number of features of d inputs.
func (m Map) Len(inputs int) int {
	if len(m.Frequencies) == 0 {
		return inputs + 1
	}
	return 2 * len(m.Frequencies)
}

// Rows returns how many rows have these sums of products of features (p×p): noisy sums give a noisy number. Every row
// adds one to the trace where its norm is one, that of Fourier features, and 1/(1 + r²) to the square of the constant
// of linear ones, whose norms are less.
func (m Map) Rows(products mat.Symmetric) float64 {
	if len(m.Frequencies) == 0 {
		return products.At(0, 0) * (1 + m.Radius*m.Radius)
	}
	return mat.Trace(products)
}

// Numbers counts the numbers in lists of the map.
func (m Map) Numbers(inputs int) int { return len(m.Frequencies) * inputs }

// Check checks a map of d inputs.
func (m Map) Check(c *model.Checker, inputs int) {
	c.Require(m.Frequencies != nil, "parameters.features.frequencies",
		"a list is required; that of linear features is empty")
	c.Rows("parameters.features.frequencies", m.Frequencies, inputs, "inputs")
	if len(m.Frequencies) == 0 {
		c.Positive("parameters.features.radius", m.Radius)
	}
}

// below is a factor that covers the rounding of a norm of one.
const below = 1 - 0x1p-40

// Of computes the features of one row from it alone. Their exact norm is at most one.
func (m Map) Of(u, out []float64) {
	if len(m.Frequencies) == 0 {
		scale := below / math.Sqrt(1+m.Radius*m.Radius)
		out[0] = scale
		if norm := floats.Norm(u, 2); norm > m.Radius {
			scale *= m.Radius / norm
		}
		floats.ScaleTo(out[1:], scale, u)
		return
	}
	scale := below / math.Sqrt(float64(len(m.Frequencies)))
	for i, w := range m.Frequencies {
		sin, cos := math.Sincos(floats.Dot(w, u))
		out[2*i], out[2*i+1] = scale*cos, scale*sin
	}
}

// tile is the number of rows that one worker maps.
const tile = 256

// Matrix maps the rows of x (n×d) to those of a matrix (n×p).
func (m Map) Matrix(ctx context.Context, e *engine.Engine, x *mat.Dense) (*mat.Dense, error) {
	n, d := x.Dims()
	out := mat.NewDense(n, m.Len(d), nil)
	return out, e.ParallelFor(ctx, n, tile, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			m.Of(x.RawRowView(i), out.RawRowView(i))
		}
		return nil
	})
}
