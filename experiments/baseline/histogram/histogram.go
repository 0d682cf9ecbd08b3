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

var definition = ground.Regression(ground.Baseline[Settings, Body]{
	Name: "baseline/histogram", Version: 2,
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

// Experiment is baseline/histogram.
var Experiment = definition.Experiment

// Plan plans a release of a trial, for audits.
var Plan = definition.Plan

// PlanUnits plans a release of some of the units.
var PlanUnits = definition.PlanUnits

// algorithm has the noise of one query: for each cell the number of rows, times a weight w, and the sum of their
// outputs y in [−1, 1].
//
// The vector of a row has two coordinates that are not 0, w and y. Two rows in one cell have vectors that differ by
// |y − y'| ≤ 2. Those of rows in different cells are √(2w² + y² + y'²) ≤ √2 √(w²+1) apart in the Euclidean norm, which
// for w = 1 is no more than 2, and 2w + |y| + |y'| ≤ 2(w+1) in the sum of magnitudes.
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
// noise adds less to a mean of the typical size.
func (a *algorithm) calibrate(cells int) error {
	gaussian, err := a.Gaussian(ground.Query{What: "numbers of rows and sums of outputs in the cells",
		Coordinates: 2 * cells, Norm: math.Sqrt2, Diameter: 2, Largest: 1, Rows: a.Slots}, 1)
	if err != nil || a.Noiseless() {
		a.noise, a.weight = gaussian, 1
		return err
	}
	const half = 0.5
	laplace, err := a.Laplace(ground.Query{What: "half numbers of rows and sums of outputs in the cells",
		Coordinates: 2 * cells, Norm: 1 + half, Diameter: 2 + 2*half, Largest: 1, Rows: a.Slots}, a.Epsilon)
	if err != nil {
		return err
	}
	a.noise, a.weight, a.output = gaussian, 1, gaussian.Scale()
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

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(_ context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	total, err := sums.SumAt(a.noise, 2, func(row int, places []int, values []float64) {
		cell := a.cell(rows.X.RawRowView(row))
		places[0], places[1] = 2*cell, 2*cell+1
		values[0], values[1] = a.weight, rows.Y[row]
	})
	if err != nil {
		return Body{}, err
	}
	return Body{Partition: a.partition, Means: a.means(total)}, nil
}

// means estimates the mean of each cell from noisy sums, as a normal number of a variance v about the mean m of all,
// which is itself one about 0: for a cell with N rows and the sum S, Nv(S − Nm)/(N²v + Nτ² + σ²) is added to m, where
// σ² is the variance of the noise of S − Nm, and τ² that of an output in its cell. v is estimated by the squares of all
// S − Nm, next to the variance that is assumed where these are hardly more than their noise.
func (a *algorithm) means(total []float64) []float64 {
	cells := len(total) / 2
	counts, sums := make([]float64, cells), make([]float64, cells)
	for i := range cells {
		counts[i], sums[i] = max(0, total[2*i]/a.weight), total[2*i+1]
	}
	rows, sum := max(1, floats.Sum(counts)), floats.Sum(sums)
	all := max(-1, min(1, rows*sum/(rows*rows+rows+float64(cells)*a.output*a.output/typical)))
	noise := a.output*a.output + all*all*a.count*a.count
	var signal, squares, variances float64
	for i, n := range counts {
		rest, variance := sums[i]-n*all, n*typical+noise
		signal += rest*rest - variance
		squares += n * n
		variances += variance
	}
	variance := typical
	if squares+variances > 0 {
		variance = max(smallest, min(1, (signal+typical*variances)/(squares+variances)))
	}
	means := make([]float64, cells)
	for i, n := range counts {
		means[i] = max(-1, min(1, all+n*variance*(sums[i]-n*all)/(n*n*variance+n*typical+noise+smallest)))
	}
	return means
}

// smallest bounds the variance of the means of cells from below.
const smallest = 1e-3

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.noise) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	if a.weight == 1 {
		return "analytic Gaussian mechanism (Balle and Wang 2018) on the numbers of rows and the sums of outputs in all cells"
	}
	return "Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006) on the numbers of rows and the sums of outputs " +
		"in all cells"
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
