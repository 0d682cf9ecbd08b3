// Package logistic classifies by logistic regression with a perturbed objective.
package logistic

import (
	"context"
	_ "embed"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/features"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed logistic.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of baseline/logistic.
type Settings struct {
	ground.Data
	features.Settings
	// weight of half the squared norm of the weights, against sums over rows; auto follows from the public numbers of rows
	// and features and from the budget
	Regularisation experiment.Or[features.Auto, float64] `name:"regularisation" default:"auto" above:"0"`
}

const format = "baseline/logistic/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Classification)

// Definition is baseline/logistic.
var Definition = ground.Classification(ground.Baseline[Settings, Body]{
	Name: "baseline/logistic", Version: 3, // 3: accuracy_largest is that of persons
	Summary: "logistic regression by approximate minima perturbation, linear or on random features, with protection of " +
		"rows",
	Source:  "approximate minima perturbation (Iyengar, Near, Song, Thakkar, Thakurta and Wang 2019, Algorithm 1)",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Prepare: prepare,
	Held:    460,
	Format:  format,
	About: "Logistic regression, made with differential privacy: run predict THIS_FILE --at x.csv gives classes and " +
		"probabilities. The logarithm of the probability of a class at u, the inputs brought to [-1, 1], is up to a " +
		"constant the sum of its weights times features: cos(w.u)/sqrt(m) and sin(w.u)/sqrt(m) of the m frequencies w, one " +
		"after the other, or without frequencies 1 and u over sqrt(1 + radius^2), with u made no longer than radius.",
	Advice: method.Advice{Noise: "use a larger epsilon, fewer inputs or frequencies, or more rows",
		Settings: "use features=fourier, or another regularisation"},
})

// algorithm is approximate minima perturbation. The noise b of the objective is drawn first, for (ε₁, δ₁) of the budget
// (see [perturbation]); then θ is computed with |∇J(θ)| ≤ γ for the objective J that has b, and is given noise
// for the rest (ε₂, δ₂).
//
// The exact minimiser t of J is (ε₁, δ₁)-differentially private. Given t, b follows from the rows, and with it θ. As J
// is λ-strongly convex, |θ − t| ≤ |∇J(θ)|/λ ≤ γ/λ, so that θ of neighbours with the same t is at most 2γ/λ apart: with
// Gaussian noise for this distance it is (ε₂, δ₂)-differentially private for every t, as is what follows from it. Both
// together are (ε₁+ε₂, δ₁+δ₂)-differentially private by the composition of a mechanism with one that sees its output
// (Dwork and Roth 2014, Theorem B.1), and what is published is a part of both. Nothing more than this is booked: the
// mechanism is no composition of those with known losses.
//
// The real-valued b is rounded to a grid. The objective with b as it was before has a gradient that differs by this
// rounding, at most half a step of the grid in each coordinate, and γ includes it. The rows of the objective are the
// features as they are computed, row by row, and their norm is at most one. A θ beyond the bounds of its noise is cut
// to them, which brings no two apart. One whose bound γ is not reached is an error, of which the
// guarantee does not cover that it occurs: the automatic λ is far from it.
type algorithm struct {
	*ground.Problem
	features  features.Map
	p         int     // features
	lambda    float64 // regularisation
	reached   float64 // the gradient's norm at θ, for the objective with b on its grid
	largest   float64 // bounds θ
	objective *ground.Noise
	output    *ground.Noise
}

// outputShare is the share of the noise of the output in ε and in δ.
const outputShare = 1. / 64

// accuracy is the part of each row in γ. It is far above the rounding of a sum over up to a million of them.
const accuracy = 1e-9

func prepare(p *ground.Problem, s *Settings) (ground.Algorithm[Body], error) {
	a := &algorithm{Problem: p, features: s.Map(p.Dims, features.Count(p.Slots, p.Epsilon, 3))}
	a.p = a.features.Len(p.Dims)
	n := float64(p.Slots)
	a.reached = n * (accuracy + n*0x1p-50)
	if p.Noiseless() {
		a.lambda = 1. / priorVariance
		if !s.Regularisation.IsWord {
			a.lambda = s.Regularisation.Number
		}
		a.objective, a.output = &ground.Noise{}, &ground.Noise{}
		return a, nil
	}
	return a, a.calibrate(s)
}

// calibrate finds the noise.
func (a *algorithm) calibrate(s *Settings) error {
	shape := perturbation{classes: a.Classes, rows: s.Person.Rows(), terms: s.Person.Rows()}
	if s.Neighbours == ground.Substitute {
		shape.terms *= 2
	}
	epsilon, delta := a.Epsilon*outputShare, a.Delta*outputShare
	var sigma float64
	var err error
	if s.Regularisation.IsWord {
		a.lambda, sigma, err = shape.regularisation(a.Epsilon-epsilon, a.Delta-delta, float64(a.Slots), float64(a.p))
	} else {
		a.lambda = s.Regularisation.Number
		sigma, err = shape.sigma(a.Epsilon-epsilon, a.Delta-delta, a.lambda)
	}
	if err != nil {
		return err
	}
	change, size := shape.change(), a.Classes*a.p
	a.objective, err = a.Perturbation(release.Query{What: "gradient of the objective", Coordinates: size, Change: change,
		Fine: 20}, release.Up(sigma/change))
	if err != nil {
		return err
	}
	factor, err := mechanism.SafeFactor(mechanism.Analytic, epsilon, delta)
	if err != nil {
		return err
	}
	step := math.Sqrt(float64(size)) * a.objective.Grid()
	a.reached += step // noise that is large against the rows has large rounding errors
	gamma := release.Up(a.reached + step/2)
	apart := release.Up(2 * gamma / a.lambda)
	a.largest = apart * factor * 0x1p40 // 2^50 steps of the grid and more
	a.output, err = a.Perturbation(release.Query{What: "weights, up to the minimum of the objective", Coordinates: size,
		Change: apart, Size: a.largest}, factor)
	return err
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(ctx context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	b, err := sums.Perturb(a.objective, make([]float64, a.Classes*a.p))
	if err != nil {
		return Body{}, err
	}
	o := &objective{engine: a.Engine, c: a.Classes, p: a.p, lambda: a.lambda, b: mat.NewDense(a.Classes, a.p, b)}
	if o.x, o.labels, err = a.rows(ctx, rows); err != nil {
		return Body{}, err
	}
	theta, err := o.minimise(ctx, a.reached)
	if err != nil {
		return Body{}, err
	}
	values := theta.RawMatrix().Data
	if !a.Noiseless() {
		for i, v := range values {
			values[i] = max(-a.largest, min(a.largest, v))
		}
	}
	if values, err = sums.Perturb(a.output, values); err != nil {
		return Body{}, err
	}
	out := Body{Features: a.features}
	for k := range a.Classes {
		out.Weights = append(out.Weights, values[k*a.p:(k+1)*a.p])
	}
	return out, nil
}

// rows are the features of the rows, and their labels. The features of an empty one are 0, and its gradient.
func (a *algorithm) rows(ctx context.Context, rows *method.Part) (*mat.Dense, []int, error) {
	x, err := a.features.Matrix(ctx, a.Engine, rows.X)
	labels := slices.Clone(rows.Labels)
	for row := range labels {
		if err == nil && ground.Empty(rows, row) {
			labels[row] = 0
			clear(x.RawRowView(row))
		}
	}
	return x, labels, err
}

// Losses implements [ground.Algorithm]: the (ε, δ) of the proof is all that is known.
func (a *algorithm) Losses() []experiment.Loss { return nil }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return "approximate minima perturbation (Iyengar et al. 2019, Algorithm 1): Gaussian noise on the objective, whose " +
		"loss is bounded at the vertices of the gradients of a unit, and analytic Gaussian noise (Balle and Wang 2018) on " +
		"a minimum with a certified gradient"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "the features, the regularisation" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	return a.features.Numbers(a.Dims) + a.Classes*a.p, len(a.features.Frequencies) + a.Classes
}

// Body are weights of features for each class.
type Body struct {
	Features features.Map `json:"features"`
	Weights  [][]float64  `json:"weights"` // C×p
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, classes int) {
	b.Features.Check(c, inputs)
	c.Require(len(b.Weights) == classes, "parameters.weights", "there are %d for %d classes", len(b.Weights), classes)
	c.Rows("parameters.weights", b.Weights, b.Features.Len(inputs), "features")
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error) {
	m, err := b.Features.Matrix(ctx, e, x)
	if err != nil {
		return nil, err
	}
	n, p := m.Dims()
	weights := mat.NewDense(p, len(b.Weights), nil)
	for k, row := range b.Weights {
		weights.SetCol(k, row)
	}
	var scores mat.Dense
	scores.Mul(m, weights)
	out := make([][]float64, len(b.Weights))
	for k := range out {
		out[k] = mat.Col(make([]float64, n), k, &scores)
	}
	ground.Softmax(out)
	return out, nil
}
