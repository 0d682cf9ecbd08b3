// Package ridge learns a regression that is linear in features by noisy sufficient statistics.
package ridge

import (
	"context"
	_ "embed"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/features"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed ridge.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of baseline/ridge.
type Settings struct {
	ground.Data
	method.OutputRange
	features.Settings
	// shrinkage of the weights: posterior is their mean under a normal prior, given sums that are known up to their
	// noise; adassp adds a constant to the noisy matrix so that it is safely positive
	Shrinkage Shrinkage `name:"shrinkage" default:"posterior"`
}

// Shrinkage selects the weights that noisy sums stand for.
type Shrinkage int

// The ways.
const (
	Posterior Shrinkage = iota
	AdaSSP
)

// Choices are their words.
func (Shrinkage) Choices() []string { return []string{"posterior", "adassp"} }

const format = "baseline/ridge/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Regression)

// Definition is baseline/ridge.
var Definition = ground.Regression(ground.Baseline[Settings, Body]{
	Name: "baseline/ridge", Version: 4, // 4: the number of rows is that of the noisy matrix
	Summary: "ridge regression on noisy sufficient statistics, linear or on random features, with protection of rows",
	Source:  "adaptive sufficient statistics perturbation (Wang 2018, Algorithm 2)",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Prepare: prepare,
	Held:    220,
	Format:  format,
	About: "Ridge regression, made with differential privacy: run predict THIS_FILE --at x.csv gives means. In units of " +
		"half the range of the output from its centre, the mean at u, the inputs brought to [-1, 1], is the sum of weights " +
		"times features: cos(w.u)/sqrt(m) and sin(w.u)/sqrt(m) of the m frequencies w, one after the other, or without " +
		"frequencies 1 and u over sqrt(1 + radius^2), with u made no longer than radius.",
	Advice: method.Advice{Noise: "use a larger epsilon, fewer inputs or frequencies, or more rows",
		Settings: "use a smaller lengthscale, or more frequencies"},
}, func(s *Settings) *method.OutputRange { return &s.OutputRange })

// algorithm has the noise of one query: the sums over the rows of xxᵀ, of which an entry off the diagonal is there
// once and times √2, of xy, and of y²/2, where x are the p features of a row, with |x| ≤ 1, and y is its output in
// [−1, 1].
//
// The vector of a row has the squared norm |x|⁴ + y²|x|² + y⁴/4 ≤ 9/4. The first two parts of the difference of two
// rows (x, y) and (z, v) have
//
//	‖xxᵀ − zzᵀ‖² + |xy − zv|² = |x|⁴ + |z|⁴ − 2c² + y²|x|² + v²|z|² − 2yvc, c = x·z.
//
// For a given c, this does not fall as |x| and |z| grow to 1, and is then at most 2 + y² + v² + y²v²/2, at c = −yv/2.
// With the third part, (y²−v²)²/4, and s = y², r = v², it is 2 + s + r + (s²+r²)/4 for 0 ≤ s, r ≤ 1: at most 9/2. So
// the third part costs nothing. The bound is reached by opposite outputs with features at an angle of 60 degrees, and
// by equal ones at 120.
type algorithm struct {
	*ground.Problem
	features  features.Map
	shrinkage Shrinkage
	p         int // features
	noise     *ground.Noise
}

func prepare(p *ground.Problem, s *Settings) (ground.Algorithm[Body], error) {
	a := &algorithm{Problem: p, features: s.Map(p.Dims, features.Count(p.Slots, p.Epsilon, 1.5)), shrinkage: s.Shrinkage}
	a.p = a.features.Len(p.Dims)
	var err error
	a.noise, err = p.Gaussian(ground.Query{What: "sums of products of features and outputs",
		Coordinates: a.p*(a.p+1)/2 + a.p + 1, Norm: 1.5, Diameter: 3 / math.Sqrt2, Largest: 1, Rows: p.Slots}, 1)
	return a, err
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(ctx context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	total, err := a.sum(ctx, rows, sums)
	if err != nil {
		return Body{}, err
	}
	triangle := a.p * (a.p + 1) / 2
	n := &normal{matrix: mat.NewSymDense(a.p, nil), vector: total[triangle : triangle+a.p],
		squares: 2 * total[triangle+a.p], noise: sums.Scale(a.noise)}
	k := 0
	for i := range a.p {
		n.matrix.SetSym(i, i, total[k])
		for j := i + 1; j < a.p; j++ {
			n.matrix.SetSym(i, j, total[k+j-i]/math.Sqrt2)
		}
		k += a.p - i
	}
	n.rows = max(1, min(float64(a.Slots), a.features.Rows(n.matrix)))
	out, err := n.solve(a.shrinkage)
	out.Features = a.features
	return out, err
}

// sum computes the query: in the order of the rows of the triangle, then the vector and the number.
func (a *algorithm) sum(ctx context.Context, rows *method.Part, sums *ground.Sums) ([]float64, error) {
	if sums.Released() {
		return sums.Sum(a.noise, func(row int, out []float64) {
			x := make([]float64, a.p)
			a.features.Of(rows.X.RawRowView(row), x)
			for i, v := range x {
				out[0] = v * v
				floats.ScaleTo(out[1:a.p-i], math.Sqrt2*v, x[i+1:])
				out = out[a.p-i:]
			}
			y := rows.Y[row]
			floats.ScaleTo(out[:a.p], y, x)
			out[a.p] = y * y / 2
		})
	}
	matrix, vector, err := a.products(ctx, rows)
	if err != nil {
		return nil, err
	}
	var total []float64
	for i := range a.p {
		total = append(total, matrix.At(i, i))
		for j := i + 1; j < a.p; j++ {
			total = append(total, math.Sqrt2*matrix.At(i, j))
		}
	}
	total = append(total, vector.RawVector().Data...)
	total = append(total, squares(rows)/2)
	sums.Judge(a.noise, total)
	return total, nil
}

// squares is Σy².
func squares(rows *method.Part) float64 {
	sum := 0.0
	for row, y := range rows.Y {
		if !ground.Empty(rows, row) {
			sum += y * y
		}
	}
	return sum
}

// products returns XᵀX and Xᵀy by products of matrices.
func (a *algorithm) products(ctx context.Context, rows *method.Part) (*mat.SymDense, *mat.VecDense, error) {
	n, d := rows.X.Dims()
	return ground.Products(ctx, a.Engine, n, a.p, func(lo, hi int) (*mat.Dense, []float64) {
		x, y := mat.NewDense(hi-lo, a.p, nil), make([]float64, hi-lo)
		for row := lo; row < hi; row++ {
			if !ground.Empty(rows, row) {
				a.features.Of(rows.X.RawRowView(row)[:d], x.RawRowView(row-lo))
				y[row-lo] = rows.Y[row]
			}
		}
		return x, y
	})
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.noise) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return "analytic Gaussian mechanism (Balle and Wang 2018) on the sufficient statistics of least squares together " +
		"(Wang 2018)"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "the features" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	return a.features.Numbers(a.Dims) + a.p + a.p*a.p, len(a.features.Frequencies) + 1 + a.p
}

// Body is a function that is linear in features.
type Body struct {
	Features features.Map `json:"features"`
	Weights  []float64    `json:"weights"` // p
	// Covariance is that of the weights (p×p), and Noise the variance of an output about the function.
	Covariance [][]float64 `json:"covariance"`
	Noise      float64     `json:"noise"`
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, _ int) {
	b.Features.Check(c, inputs)
	p := b.Features.Len(inputs)
	c.Length("parameters.weights", b.Weights, p, "features")
	c.Covariance("parameters.covariance", b.Covariance, p, "features")
	if !c.Failed() {
		c.Semidefinite("parameters.covariance", b.Covariance)
	}
	c.NotNegative("parameters.noise", b.Noise)
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error) {
	m, err := b.Features.Matrix(ctx, e, x)
	if err != nil {
		return nil, err
	}
	n, _ := m.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = floats.Dot(m.RawRowView(i), b.Weights)
	}
	return [][]float64{out}, nil
}

// Variance implements [ground.Spread].
func (b Body) Variance(ctx context.Context, e *engine.Engine, x *mat.Dense) ([]float64, float64, error) {
	m, err := b.Features.Matrix(ctx, e, x)
	if err != nil {
		return nil, 0, err
	}
	n, p := m.Dims()
	covariance := mat.NewDense(p, p, nil)
	for i, row := range b.Covariance {
		covariance.SetRow(i, row)
	}
	var product mat.Dense
	product.Mul(m, covariance)
	out := make([]float64, n)
	for i := range out {
		out[i] = max(0, floats.Dot(product.RawRowView(i), m.RawRowView(i)))
	}
	return out, b.Noise, nil
}
