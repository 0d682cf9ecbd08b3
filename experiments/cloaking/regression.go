package cloaking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// kungFemales is the number of rows, known before the data are read.
const kungFemales = 287

func regression() *experiment.Experiment {
	params := []experiment.Param{
		choice("inputs", inputsAge, "what heights are predicted from", inputsAge, inputsAgeWeight),
		choice("method", methodStandard, "GP, sparse GP (FITC), or GP with Gibbs' nonstationary kernel", methodStandard, methodSparse, methodNonstationary),
	}
	params = append(params, mechanismParams()...)
	params = append(params,
		count("folds", 14, 2, "folds of the cross-validation"),
		choice("fold_scheme", "contiguous", "how rows are put into folds", "contiguous", "interleaved", "random"),
	)
	params = append(params, hyperparameters()...)
	params = append(params, count("inducing", 5, 1, "sparse: number of inducing inputs, placed by k-means in every fold"))
	params = append(params, nonstationaryParams()...)
	params = append(params, count("draws", 100, 1, "draws of the noise in every fold"))
	params = append(params, solverParams()...)
	return &experiment.Experiment{
		Name:    "cloaking/regression",
		Version: 1,
		Summary: "cross-validated error of differentially private height predictions",
		Source:  "Smith, Álvarez and Lawrence 2019, Sections 5.1 and 5.2, Table 1",
		Params:  params,
		Metrics: []experiment.Metric{
			{Name: "rmse_cm", Unit: "cm", Doc: "root mean square error on the test rows of a fold, averaged over draws, then over folds"},
			{Name: "rmse_fold_sd_cm", Unit: "cm", Doc: "standard deviation over folds (population) of the draw-averaged error"},
			{Name: "noise_sd_cm", Unit: "cm", Doc: "root mean square, over all test rows, of the noise's standard deviation"},
			{Name: "gap", Unit: "", Doc: "largest certificate over folds: log-determinant of the noise covariance above the optimum, in nats (with noise only)"},
		},
		Datasets: func(experiment.Params) []string { return []string{dataKung} },
		Check:    checkRegression,
		Run:      runRegression,
	}
}

func checkRegression(p experiment.Params) error {
	if _, err := noiseFactor(p); err != nil {
		return err
	}
	folds := p.Int("folds")
	if folds > kungFemales {
		return fmt.Errorf("folds = %d: the data have %d rows, and there cannot be more folds than rows", folds, kungFemales)
	}
	if p.Text("method") == methodSparse {
		if smallest := kungFemales - (kungFemales+folds-1)/folds; p.Int("inducing") > smallest {
			return fmt.Errorf("inducing = %d: a fold has only %d training rows", p.Int("inducing"), smallest)
		}
	}
	if smallest := kungFemales / folds; rankOf(p) > smallest {
		return fmt.Errorf("rank = %d: a fold has only %d test rows; use 1 to %[2]d or full", rankOf(p), smallest)
	}
	return nil
}

// modelOf returns the trial's model without inducing inputs. All inputs are
// public, so that the density estimate uses them all.
func modelOf(p experiment.Params, inputs *mat.Dense) *model {
	m := &model{
		method:         p.Text("method"),
		lengthscale:    p.Float("lengthscale"),
		kernelVariance: p.Float("kernel_variance"),
		noiseVariance:  p.Float("noise_variance"),
	}
	if m.method == methodNonstationary {
		m.lengthscales = &kdeFunction{inputs: inputs, bandwidth: p.Float("kde_bandwidth"), rows: p.Float("kde_rows"), largest: p.Float("max_lengthscale")}
	}
	return m
}

// foldResult is what one fold contributes.
type foldResult struct {
	rmse    float64   // cm, averaged over draws
	mean    []float64 // cm, the released predictions without noise
	noiseSD []float64 // cm, per test row
	gap     float64
}

// regressionRun is a trial at work.
type regressionRun struct {
	t      *experiment.Trial
	e      *engine.Engine
	data   *census
	scale  float64 // cm: sensitivity times the calibration's factor; 0 for no noise
	shared *model
}

func runRegression(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	data, err := loadCensus(t.Dataset(dataKung), t.Params)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	factor, err := noiseFactor(t.Params)
	if err != nil {
		return nil, err
	}
	folds, err := foldsOf(t, len(data.height))
	if err != nil {
		return nil, err
	}
	run := &regressionRun{t: t, e: e, data: data, scale: factor * t.Params.Float("sensitivity_cm"), shared: modelOf(t.Params, data.inputs)}
	results := make([]foldResult, len(folds))
	var mu sync.Mutex
	done := 0
	err = e.ParallelFor(ctx, len(folds), 1, func(i, _ int) error {
		if err := run.fold(ctx, i, folds[i], &results[i]); err != nil {
			return fmt.Errorf("fold %d of %d: %w", i+1, len(folds), err)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		t.Progress(done, len(folds), "folds")
		return nil
	})
	if err != nil {
		return nil, err
	}
	return run.summarise(folds, results), nil
}

func foldsOf(t *experiment.Trial, rows int) ([]learn.Fold, error) {
	k := t.Params.Int("folds")
	switch t.Params.Text("fold_scheme") {
	case "interleaved":
		return learn.InterleavedFolds(rows, k)
	case "random":
		return learn.RandomFolds(rows, k, t.Stream("folds"))
	}
	return learn.ContiguousFolds(rows, k)
}

// fold fits one fold, and draws its noise from a stream of its own, so that
// the order of the folds does not matter.
func (r *regressionRun) fold(ctx context.Context, number int, f learn.Fold, out *foldResult) error {
	p := r.t.Params
	train, test := selectRows(r.data.inputs, f.Train), selectRows(r.data.inputs, f.Test)
	m := *r.shared
	if m.method == methodSparse {
		var err error
		if m.inducing, err = clusterInducing(train, p.Int("inducing"), r.t.Stream(fmt.Sprintf("k-means, fold %d", number))); err != nil {
			return err
		}
	}
	c, err := m.matrix(r.e, train, test)
	if err != nil {
		return err
	}
	out.mean = r.data.predict(c, f.Train)
	out.noiseSD = make([]float64, len(f.Test))
	noise := mat.NewDense(len(f.Test), 1, nil)
	if r.scale > 0 {
		if noise, err = r.release(ctx, c, number, out); err != nil {
			return err
		}
	}
	// One column of noise per draw.
	_, draws := noise.Dims()
	for d := range draws {
		sum := 0.0
		for i, row := range f.Test {
			e := out.mean[i] + noise.At(i, d) - r.data.height[row]
			sum += e * e
		}
		out.rmse += math.Sqrt(sum/float64(len(f.Test))) / float64(draws)
	}
	return nil
}

// release replaces the fold's predictions by their released part and returns
// the draws of the noise (P×draws, cm).
func (r *regressionRun) release(ctx context.Context, c *mat.Dense, number int, out *foldResult) (*mat.Dense, error) {
	rng, d, err := solveDesign(ctx, r.e, c, r.t.Params)
	if err != nil {
		return nil, err
	}
	out.gap = d.Gap
	out.mean = released(rng, out.mean, r.data.prior)
	out.noiseSD = noiseSD(d, r.scale)

	stream := r.t.Stream(fmt.Sprintf("noise, fold %d", number))
	draws := r.t.Params.Int("draws")
	rank := len(rng.Scale)
	z := mat.NewDense(rank, draws, nil)
	for j := range draws {
		for i := range rank {
			z.Set(i, j, stream.NormFloat64())
		}
	}
	noise := new(mat.Dense)
	noise.Mul(d.Factor(), z)
	noise.Scale(r.scale*d.MaxMahalanobis, noise)
	return noise, nil
}

// released is the part of the predictions that the rank-r release shows: the
// projection acts on what depends on the data, not on the prior mean.
func released(r *design.Range, mean []float64, prior float64) []float64 {
	f := make([]float64, len(mean))
	for i, v := range mean {
		f[i] = v - prior
	}
	f = r.Project(f)
	for i := range f {
		f[i] += prior
	}
	return f
}

// noiseSD is the standard deviation of the noise at each test point, scale·Δ
// times the root of the diagonal of M.
func noiseSD(d *design.Design, scale float64) []float64 {
	factor := d.Factor()
	p, _ := factor.Dims()
	sd := make([]float64, p)
	for i := range sd {
		sd[i] = scale * d.MaxMahalanobis * mat.Norm(factor.RowView(i), 2)
	}
	return sd
}

func (r *regressionRun) summarise(folds []learn.Fold, results []foldResult) *experiment.Result {
	rmse := make([]float64, len(results))
	n := len(r.data.height)
	mean, sd := make([]float64, n), make([]float64, n)
	gap, square := 0.0, 0.0
	for i, f := range results {
		rmse[i] = f.rmse
		gap = max(gap, f.gap)
		for j, row := range folds[i].Test {
			mean[row], sd[row] = f.mean[j], f.noiseSD[j]
			square += f.noiseSD[j] * f.noiseSD[j]
		}
	}
	average, variance := stat.PopMeanVariance(rmse, nil)
	out := &experiment.Result{
		Metrics: map[string]float64{
			"rmse_cm":         average,
			"rmse_fold_sd_cm": math.Sqrt(variance),
			"noise_sd_cm":     math.Sqrt(square / float64(n)),
		},
		Series:   map[string]experiment.Series{"predictions": r.predictions(mean, sd)},
		Privacy:  privacyOf(r.t.Params, r.data.clippingNote()),
		Warnings: r.e.Warnings(),
	}
	if r.scale > 0 {
		out.Metrics["gap"] = gap
	}
	return out
}

// predictions lists all rows by age, then by row.
func (r *regressionRun) predictions(mean, sd []float64) experiment.Series {
	age := r.data.kung.Age
	order := make([]int, len(age))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case age[a] < age[b]:
			return -1
		case age[a] > age[b]:
			return 1
		}
		return 0
	})
	column := func(values []float64) []float64 {
		out := make([]float64, len(order))
		for i, row := range order {
			out[i] = values[row]
		}
		return out
	}
	return experiment.Series{
		"x":           column(age),
		"weight_kg":   column(r.data.kung.Weight),
		"height_cm":   column(r.data.height),
		"mean_cm":     column(mean),
		"noise_sd_cm": column(sd),
	}
}
