// Package means classifies by the nearest of noisy class means.
package means

import (
	"context"
	_ "embed"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed means.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of baseline/class-means.
type Settings struct {
	ground.Data
}

const format = "baseline/class-means/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Classification)

// Definition is baseline/class-means.
var Definition = ground.Classification(ground.Baseline[Settings, Body]{
	// 3: accuracy_largest is that of persons; 4: a variance that follows its noise
	Name: "baseline/class-means", Version: 4,
	Summary: "the nearest of noisy means of the classes, with protection of rows",
	Source:  "noisy sums (Dwork, McSherry, Nissim and Smith 2006); the rule of linear discriminants with one variance",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Prepare: prepare,
	Held:    10,
	Format:  format,
	About: "Class means, made with differential privacy: run predict THIS_FILE --at x.csv gives classes and " +
		"probabilities. The score of a class at u, the inputs brought to [-1, 1], is log(share) - |u - mean|^2/(2 variance).",
	Advice: method.Advice{Noise: "use a larger epsilon, fewer inputs, or more rows",
		Settings: "use a method whose classes are not separated by planes"},
})

// algorithm has the noise of one query: for each class the sums over its rows of u (d), √d and |u|²/√d.
//
// The vector of a row has the squared norm |u|² + d + |u|⁴/d ≤ 3d for u in [−1, 1]^d. Two rows of different classes
// have vectors in different coordinates, at most √(6d) apart. Two of one class differ by |u−u'|² + (|u|²−|u'|²)²/d,
// which for norms a ≥ b is largest for opposite ones, (a+b)² (1 + (a−b)²/d). With a = s√d and b = ts, t ≤ 1, this grows
// with s ≤ 1 and is d(1+t)²(1 + (1−t)²) there, at most 4d: the second factor is at most 1 + 1 − t, and
// (1+t)²(2−t) ≤ 4.
type algorithm struct {
	*ground.Problem
	noise *ground.Noise
}

func prepare(p *ground.Problem, _ *Settings) (ground.Algorithm[Body], error) {
	d := float64(p.Dims)
	noise, err := p.Gaussian(ground.Query{What: "sums of the classes", Coordinates: p.Classes * (p.Dims + 2),
		Norm: math.Sqrt(3 * d), Diameter: math.Sqrt(6 * d), Largest: math.Sqrt(d), Rows: p.Slots}, 1)
	return &algorithm{p, noise}, err
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(_ context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	d, root := a.Dims, math.Sqrt(float64(a.Dims))
	total, err := sums.Sum(a.noise, func(row int, out []float64) {
		block, u := out[rows.Labels[row]*(d+2):], rows.X.RawRowView(row)
		copy(block, u)
		block[d], block[d+1] = root, floats.Dot(u, u)/root
	})
	if err != nil {
		return Body{}, err
	}
	return a.body(total, sums.Scale(a.noise)), nil
}

// body computes means, shares and variance from sums with noise of a standard deviation s. A count below that of its
// noise, or below one row, counts as that.
//
// The variance is at least half of the share of the noise of the squares, s√(dC), in it: one below cannot be told from
// 0, and would make wrong classes certain. That of the noise of a mean is added, of a class of the average size. Both
// were chosen by log loss and accuracy, among others such as a prior of 1/3, on 27 tables and ranges of two to eight
// classes at ε from 0.3 to 10.
func (a *algorithm) body(total []float64, s float64) Body {
	d, root, classes := a.Dims, math.Sqrt(float64(a.Dims)), float64(a.Classes)
	var out Body
	rows, squares := 0.0, 0.0
	for c := range a.Classes {
		block := total[c*(d+2) : (c+1)*(d+2)]
		count := max(block[d]/root, s/root, 1)
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = max(-1, min(1, block[j]/count))
		}
		rows += count
		squares += block[d+1]*root - count*floats.Dot(mean, mean)
		out.Means, out.Shares = append(out.Means, mean), append(out.Shares, count)
	}
	floats.Scale(1/rows, out.Shares)
	squares = max(squares, s*root*math.Sqrt(classes)/2)
	ofMean := s * classes / rows
	out.Variance = max(smallestVariance, min(1, squares/rows/float64(d))) + ofMean*ofMean
	return out
}

// smallestVariance bounds the variance, for inputs in [−1, 1], from below: rounding leaves less.
const smallestVariance = 1e-9

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.noise) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return "analytic Gaussian mechanism (Balle and Wang 2018) on counts, sums and squares of the classes together"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) { return a.Classes * (a.Dims + 1), a.Classes + 1 }

// Body are class means.
type Body struct {
	Means    [][]float64 `json:"means"`    // C×d, in [-1, 1]
	Shares   []float64   `json:"shares"`   // C, of the rows
	Variance float64     `json:"variance"` // of an input in its class
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, classes int) {
	c.Require(len(b.Means) == classes, "parameters.means", "there are %d for %d classes", len(b.Means), classes)
	c.Rows("parameters.means", b.Means, inputs, "inputs")
	c.Length("parameters.shares", b.Shares, classes, "classes")
	for _, share := range b.Shares {
		c.Positive("parameters.shares", share)
	}
	c.Positive("parameters.variance", b.Variance)
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	n, _ := x.Dims()
	out := make([][]float64, len(b.Means))
	for c := range out {
		out[c] = make([]float64, n)
		for i := range n {
			far := floats.Distance(x.RawRowView(i), b.Means[c], 2)
			out[c][i] = math.Log(b.Shares[c]) - far*far/(2*b.Variance)
		}
	}
	ground.Softmax(out)
	return out, nil
}
