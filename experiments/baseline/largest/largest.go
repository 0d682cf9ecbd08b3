// Package largest always predicts the class with the largest noisy count: what a budget buys without inputs.
//
// Its counterpart of regressions, the middle of the public range of the output, needs no method: it uses no rows, so
// that there is nothing to protect and no loss to book, and every record has its error (rmse_centre).
package largest

import (
	"context"
	_ "embed"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed largest.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of baseline/largest-class.
type Settings struct {
	ground.Data
}

const format = "baseline/largest-class/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Classification)

// Definition is baseline/largest-class.
var Definition = ground.Classification(ground.Baseline[Settings, Body]{
	Name: "baseline/largest-class", Version: 2, // 2: accuracy_largest is that of persons
	Summary: "always the largest class, from noisy counts, with protection of rows",
	Source:  "noisy counts (Dwork, McSherry, Nissim and Smith 2006)",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Prepare: prepare,
	Held:    10,
	Format:  format,
	About: "The shares of the classes, made with differential privacy: run predict THIS_FILE --at x.csv gives every row " +
		"the class of the largest share, and the shares as probabilities. The inputs have no part in it.",
})

// algorithm has the noise of one query, the counts of the classes. The vector of a row is one in the place of its
// class, and two of these are 2 apart in the sum of magnitudes: Laplace noise of scale 2/ε protects a substituted row,
// with δ = 0. A choice by the exponential mechanism, of ε as well and with utilities that move by 1, is as good (the
// odds of two classes with counts k apart are of the order of exp(εk/2) with either), and would have no shares.
type algorithm struct {
	*ground.Problem
	noise *ground.Noise
}

func prepare(p *ground.Problem, _ *Settings) (ground.Algorithm[Body], error) {
	noise, err := p.Laplace(ground.Query{What: "counts of the classes", Coordinates: p.Classes, Norm: 1, Diameter: 2,
		Largest: 1, Rows: p.Slots}, p.Epsilon)
	return &algorithm{p, noise}, err
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(_ context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	counts, err := sums.Sum(a.noise, func(row int, out []float64) { out[rows.Labels[row]] = 1 })
	if err != nil {
		return Body{}, err
	}
	return body(counts, max(1, sums.Scale(a.noise))), nil
}

// body makes shares of noisy counts. One below least counts as that, but for the largest, which stays so.
func body(counts []float64, least float64) Body {
	largest := floats.MaxIdx(counts)
	shares := slices.Clone(counts)
	for c, n := range shares {
		shares[c] = max(n, least)
	}
	if slices.Max(counts) <= least { // all would be equal
		shares[largest] = 2 * least
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return Body{Shares: shares}
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.noise) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return "Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006) on the counts of the classes together"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) { return a.Classes, 1 }

// Body are the shares of the classes.
type Body struct {
	Shares []float64 `json:"shares"` // C
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, _, classes int) {
	c.Length("parameters.shares", b.Shares, classes, "classes")
	for _, share := range b.Shares {
		c.Positive("parameters.shares", share)
	}
	sum := floats.Sum(b.Shares)
	c.Require(math.Abs(sum-1) <= 1e-9, "parameters.shares", "their sum is %g instead of 1", sum)
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	n, _ := x.Dims()
	out := make([][]float64, len(b.Shares))
	for c, share := range b.Shares {
		out[c] = slices.Repeat([]float64{share}, n)
	}
	return out, nil
}
