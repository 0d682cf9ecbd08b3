// Package histogram regresses by noisy means of the outputs in the cells of a public partition.
package histogram

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

//go:embed histogram.go
var source string

func init() { experiment.Document[Settings](source) }

// Auto is the word of a number that follows from public ones.
type Auto int

// Choices are the word.
func (Auto) Choices() []string { return []string{"auto"} }

// Settings are those of baseline/histogram.
type Settings struct {
	ground.Data
	method.OutputRange
	// how many of the inputs, the first ones, are cut into cells, a category into its levels: name those first that
	// decide most. auto: at most four, by the number of rows and the noise
	Cut experiment.Or[Auto, int] `name:"cut" default:"auto" min:"0" max:"1000"`
	// equal intervals into which the range of an input is cut; auto: by the number of rows and the noise. There are at
	// most 16384 cells in all
	Cells experiment.Or[Auto, int] `name:"cells" default:"auto" min:"1" max:"16384"`
}

const format = "baseline/histogram/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Regression)

// Definition is baseline/histogram.
var Definition = ground.Regression(ground.Baseline[Settings, Body]{
	Name: "baseline/histogram", Version: 3,
	Summary: "noisy means of the outputs in the cells of a public partition, with protection of rows",
	Source: "Lei, \"Differentially private M-estimators\" (NIPS 2011), with the cells of Wasserman and Zhou, \"A " +
		"statistical framework for differential privacy\" (2010)",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Prepare: prepare,
	Held:    20,
	Format:  format,
	About: "A histogram, made with differential privacy: run predict THIS_FILE --at x.csv gives means. An input u, " +
		"brought to [-1, 1], is in the cell floor(bins (u + 1)/2) of its column, and a category in that of its largest " +
		"level; the last column counts fastest in the means.",
	Advice: method.Advice{Noise: "use a larger epsilon, fewer cells, or more rows",
		Settings: "use more cells, or name the inputs that decide first"},
}, func(s *Settings) *method.OutputRange { return &s.OutputRange })

// algorithm has the noise of one query: for each cell the number of rows, times a weight w ≤ 1, and the sum of their
// outputs y in [−1, 1], and for all cells together the sum of 1 − y², times w.
//
// The vector of a row is w, y and w(1 − y²). With a = y² its Euclidean norm squared is w² + a + w²(1 − a)², which is
// convex in a, so that it is w² + 1 at most, at a = 1. Two rows in one cell have vectors that differ by y − y' = d and
// w(y + y')d, where |y + y'| ≤ 2 − |d|: d² + w²d²(2 − |d|)² ≤ 4, as d²(2 − |d|) ≤ 32/27 < 2 + |d|. Those of rows in
// different cells are 2w² + a + a' + w²(a − a')² apart, squared, which is convex in a and a', and 2w² + 2 at most, at
// a = a' = 1: for w = 1 this is no more than 4 as well.
//
// In the sum of magnitudes, with w ≤ ½, the norm w + |y| + w(1 − y²) grows with |y|, up to w + 1. In one cell it is
// |d|(1 + w|y + y'|) ≤ 2|d| − d²/2 ≤ 2 between two rows, and in different ones 2w + |y| + |y'| + w|y² − y'²|, which
// grows with the smaller of the magnitudes, up to 2w + 2|y| ≤ 2(w + 1).
//
// So the third sum takes no more noise than the others have without it.
type algorithm struct {
	*ground.Problem
	partition
	noise  *ground.Noise
	weight float64
	// output and count are the standard deviations of the noise of a sum and of a number of rows.
	output, count float64
}

func prepare(p *ground.Problem, s *Settings) (ground.Algorithm[Body], error) {
	a := &algorithm{Problem: p}
	if err := a.calibrate(1); err != nil { // the scale of the noise, by which the cells are chosen
		return nil, err
	}
	var err error
	if a.partition, err = a.partitioned(s); err != nil {
		return nil, err
	}
	return a, a.calibrate(a.size())
}

// calibrate takes Gaussian noise, with w = 1, or Laplace noise, with w = ½, for the number of cells: the law whose
// noise adds less to a mean of the typical size. At one μ that is the Gaussian.
func (a *algorithm) calibrate(cells int) error {
	const what = "numbers of rows and sums of outputs in the cells, and of their squares in all"
	gaussian, err := a.Gaussian(ground.Query{What: what, Coordinates: 2*cells + 1, Norm: math.Sqrt2, Diameter: 2,
		Largest: 1, Rows: a.Slots}, 1)
	if err != nil {
		return err
	}
	if a.noise, a.weight, a.output = gaussian, 1, gaussian.Scale(); a.Noiseless() || a.Rows.Composed {
		a.count = a.output
		return nil
	}
	const half = 0.5
	laplace, err := a.Laplace(ground.Query{What: "half " + what, Coordinates: 2*cells + 1, Norm: 1 + half,
		Diameter: 2 + 2*half, Largest: 1, Rows: a.Slots}, a.Epsilon)
	if err != nil {
		return err
	}
	if deviation := math.Sqrt2 * laplace.Scale(); deviation*math.Sqrt(1+typical/(half*half)) <
		a.output*math.Sqrt(1+typical) {
		a.noise, a.weight, a.output = laplace, half, deviation
	}
	a.count = a.output / a.weight
	return nil
}

// typical is the mean square of the outputs that a choice by public numbers assumes, for the range [−1, 1]: of the
// mean of a cell, and of an output about it.
const typical = 0.15

// parts are the coordinates of the vector of a row that are not 0, see [algorithm].
func parts(weight, y float64) (count, output, square float64) { return weight, y, weight * (1 - y*y) }

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(_ context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	squares := 2 * a.size()
	total, err := sums.SumAt(a.noise, 3, func(row int, places []int, values []float64) {
		cell := a.cell(rows.X.RawRowView(row))
		places[0], places[1], places[2] = 2*cell, 2*cell+1, squares
		values[0], values[1], values[2] = parts(a.weight, rows.Y[row])
	})
	if err != nil {
		return Body{}, err
	}
	output := 0.
	if sums.Scale(a.noise) > 0 {
		output = a.output
	}
	return Body{Partition: a.partition, Means: a.means(total, output)}, nil
}

// means estimates the mean of each cell from noisy sums, of which those of outputs have noise of the standard deviation
// output, as a normal number of a variance v about the mean m of all: for a cell with N rows and the sum S,
// Nv(S − Nm)/(N²v + Nτ² + σ²) is added to m, where σ² is the variance of the noise of S − Nm, and τ² that of an output
// in its cell. v is estimated by the squares of all S − Nm, next to half the variance of all outputs where these are
// hardly more than their noise; the rest of that variance is τ². Without noise, and with many rows in each cell, they
// are the means of the rows.
func (a *algorithm) means(total []float64, output float64) []float64 {
	cells := len(total) / 2
	counts, sums := make([]float64, cells), make([]float64, cells)
	for i := range cells {
		counts[i], sums[i] = max(0, total[2*i]/a.weight), total[2*i+1]
	}
	rows, sum := max(1, floats.Sum(counts)), floats.Sum(sums)
	all := max(-1, min(1, rows*sum/(rows*rows+float64(cells)*output*output/typical)))
	count := output / a.weight
	spread := a.spread(total, all, count)
	noise := output*output + all*all*count*count
	var signal, squares, variances float64
	for i, n := range counts {
		rest, variance := sums[i]-n*all, n*spread+noise
		signal += rest*rest - variance
		squares += n * max(0, n-1)
		variances += variance
	}
	between := 0.
	if squares+variances > 0 {
		between = max(0, min(1, (signal+spread/2*variances)/(squares+variances)))
	}
	means := make([]float64, cells)
	for i, n := range counts {
		means[i] = all
		if of := n*n*between + n*max(0, spread-between) + noise; of > 0 {
			means[i] = max(-1, min(1, all+n*between*(sums[i]-n*all)/of))
		}
	}
	return means
}

// spread estimates the variance of all outputs about their mean, from noisy sums of which the numbers of rows have
// noise of the standard deviation count. It errs upwards by the noise that it has itself, as far as the typical
// variances reach: a mean that is brought too near to that of all is better than one of noise.
func (a *algorithm) spread(total []float64, mean, count float64) float64 {
	squares := len(total) - 1
	rows := 0.
	for i := 0; i < squares; i += 2 {
		rows += total[i] / a.weight
	}
	rows = max(1, rows)
	is := max(0, min(1, 1-total[squares]/a.weight/rows-mean*mean))
	return max(is, min(2*typical, is+math.Sqrt(float64(squares)/2+1)*count/rows))
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.noise) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	if a.weight == 1 {
		return "analytic Gaussian mechanism (Balle and Wang 2018) on the numbers of rows and the sums of outputs in all " +
			"cells, and that of their squares"
	}
	return "Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006) on the numbers of rows and the sums of outputs " +
		"in all cells, and that of their squares"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "the order of the inputs, the settings of the cells" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	if cut := len(a.Columns); cut > 0 {
		return a.size() + 2*cut, 3
	}
	return a.size(), 1
}

// Body is a histogram.
type Body struct {
	Partition partition `json:"partition"`
	Means     []float64 `json:"means"` // of the cells, in units of half the range of the output
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, _ int) {
	b.Partition.check(c, inputs)
	if !c.Failed() {
		c.Length("parameters.means", b.Means, b.Partition.size(), "cells")
	}
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	n, _ := x.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = b.Means[b.Partition.cell(x.RawRowView(i))]
	}
	return [][]float64{out}, nil
}
