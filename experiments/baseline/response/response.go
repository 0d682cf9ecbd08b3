// Package response classifies by a smooth function that is fitted to randomised responses: classes that were answered
// at random before anything else, at inputs that are public.
package response

import (
	"context"
	_ "embed"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed response.go
var source string

func init() { experiment.Document[Settings](source) }

// Auto is the word of a number that follows from inputs and answers.
type Auto int

// Choices are the word.
func (Auto) Choices() []string { return []string{"auto"} }

// Settings are those of baseline/randomised-response.
type Settings struct {
	ground.OutputData
	// random Fourier features of the inputs
	Features int `name:"features" default:"256" min:"1" max:"4096"`
	// lengthscale of the kernel that the features stand for, in standard deviations of the inputs and units of the root of
	// their number; auto: that of 0.5, 1 and 2 whose error is least where an answer is left out
	Lengthscale experiment.Or[Auto, float64] `name:"lengthscale" default:"auto" above:"0"`
	// regularisation of the least squares, in rows; auto: that of 0.01 to 10000 whose error is least where an answer is
	// left out
	Ridge experiment.Or[Auto, float64] `name:"ridge" default:"auto" min:"1e-6"`
}

const format = "baseline/randomised-response/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Classification)

// Definition is baseline/randomised-response.
var Definition = ground.Classification(ground.Baseline[Settings, Body]{
	Name: "baseline/randomised-response", Version: 3, // 3: accuracy_largest is that of persons
	Summary: "least squares on classes that are answered at random, with protection of the classes alone",
	Source: "randomised response (Warner 1965; Kairouz, Bonawitz and Ramage 2016), random features (Rahimi and Recht " +
		"2007)",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Unit:    experiment.UnitOutput,
	Prepare: prepare,
	Held:    1400,
	Format:  format,
	About: "A function that was fitted to randomised responses: run predict THIS_FILE --at x.csv gives classes and " +
		"probabilities. The share of class c at u, the inputs brought to [-1, 1], is intercepts[c] + sum over j of " +
		"weights[c][j] cos(frequencies[j] u + phases[j]), cut to [0.001, 1]; probabilities are shares over their sum.",
	Advice: method.Advice{Noise: "use a larger epsilon, fewer classes, or more rows",
		Settings: "use more features, or other inputs"},
})

// algorithm answers the class of each row at random, once. All else is computed from the answers and from inputs, which
// are public, and so is post-processing: lengthscale and regularisation are chosen by the answers.
//
// An answer A to the class y, one of k, is y with probability p and each other class with q, so that the vector with
// (1{A=c} − q)/(p − q) in its place c has the mean 1{y=c}, and a function that is fitted to it by least squares
// estimates the probabilities of the classes.
type algorithm struct {
	*ground.Problem
	*Settings
	answers *ground.Answers
	// waves (d×F) are standard normal, and phases (F) uniform on a circle.
	waves  *mat.Dense
	phases []float64
}

func prepare(p *ground.Problem, s *Settings) (ground.Algorithm[Body], error) {
	a := &algorithm{Problem: p, Settings: s, waves: mat.NewDense(p.Dims, s.Features, nil)}
	rng := p.Trial.Stream("random features")
	for j := range s.Features {
		for i := range p.Dims {
			a.waves.Set(i, j, rng.NormFloat64())
		}
		a.phases = append(a.phases, 2*math.Pi*rng.Float64())
	}
	var err error
	a.answers, err = p.Answers()
	return a, err
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(_ context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	answers, own, other, err := sums.Answers(a.answers)
	if err != nil {
		return Body{}, err
	}
	y := mat.NewDense(len(answers), a.Classes, nil)
	for i, answer := range answers {
		for c := range a.Classes {
			y.Set(i, c, -other/(own-other))
		}
		y.Set(i, answer, (1-other)/(own-other))
	}
	return a.fit(rows.X, y)
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return a.answers.Losses() }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return "randomised response (Warner 1965; Kairouz, Bonawitz and Ramage 2016) on the class of each row, (epsilon, 0)-" +
		"differentially private for one; all else follows from the answers and public inputs"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	return a.Features*(a.Dims+1+a.Classes) + a.Classes, a.Features + a.Classes + 2
}

// Body is a function for each class.
type Body struct {
	Frequencies [][]float64 `json:"frequencies"` // F×d
	Phases      []float64   `json:"phases"`      // F
	Weights     [][]float64 `json:"weights"`     // C×F
	Intercepts  []float64   `json:"intercepts"`  // C
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, classes int) {
	features := len(b.Frequencies)
	c.Some("parameters.frequencies", features)
	c.Rows("parameters.frequencies", b.Frequencies, inputs, "inputs")
	c.Length("parameters.phases", b.Phases, features, "features")
	c.Require(len(b.Weights) == classes, "parameters.weights", "there are %d for %d classes", len(b.Weights), classes)
	c.Rows("parameters.weights", b.Weights, features, "features")
	c.Length("parameters.intercepts", b.Intercepts, classes, "classes")
}

// least bounds the share of a class from below.
const least = 1e-3

// Evaluate implements [ground.Body].
func (b Body) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	waves := model.Dense(b.Frequencies)
	phi := cosines(x, waves.T(), b.Phases)
	var scores mat.Dense
	scores.Mul(model.Dense(b.Weights), phi.T())
	n, _ := x.Dims()
	out := make([][]float64, len(b.Weights))
	for c := range out {
		out[c] = scores.RawRowView(c)
	}
	for i := range n {
		sum := 0.0
		for c := range out {
			out[c][i] = min(1, max(least, out[c][i]+b.Intercepts[c]))
			sum += out[c][i]
		}
		for c := range out {
			out[c][i] /= sum
		}
	}
	return out, nil
}
