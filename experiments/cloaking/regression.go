package cloaking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

func regression() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "cloaking/regression",
		Version: 3,
		Summary: "cross-validated error of differentially private height predictions",
		Source:  "Smith, Álvarez and Lawrence 2019, Sections 5.1 and 5.2, Table 1",
		Params: predictionParams([]string{inputsAge, inputsAgeWeight},
			experiment.Param{Name: "folds", Kind: experiment.Integer, Default: 14, Min: experiment.Bound(2), Doc: "folds of the cross-validation, at most as many as rows; inducing inputs that are not given are placed in every fold"},
			choice("fold_scheme", "contiguous", "how rows are put into folds", "contiguous", "interleaved", "random"),
			count("draws", 100, 1, maxDraws, "draws of the noise in every fold"),
		),
		Metrics: []experiment.Metric{
			{Name: "rmse_cm", Unit: "cm", Doc: "root mean square error on the test rows of a fold, measured against the clipped heights, averaged over draws, then over folds"},
			{Name: "rmse_fold_sd_cm", Unit: "cm", Doc: "standard deviation over folds (population) of the draw-averaged error"},
			{Name: "noise_sd_cm", Unit: "cm", Doc: "root mean square, over all test rows, of the noise's standard deviation"},
			clippedMetric,
			rankMetric,
			{Name: "gap", Unit: "", Doc: "largest certificate over folds: log-determinant of the noise covariance above the optimum, in nats (with noise only)"},
		},
		Datasets: func(experiment.Params) []string { return []string{dataKung} },
		Check:    checkRegression,
		Run:      runRegression,
	}
}

func checkRegression(p experiment.Params) error {
	const rows = dataset.KungFemales
	folds := p.Int("folds")
	if folds > rows {
		return fmt.Errorf("folds = %d: the data have %d rows, and there cannot be more folds than rows", folds, rows)
	}
	if err := checkPrediction(p, rows-(rows+folds-1)/folds); err != nil {
		return err
	}
	if smallest := rows / folds; rankOf(p) > smallest {
		return fmt.Errorf("rank = %d: a fold has only %d test rows; use 1 to %[2]d or full", rankOf(p), smallest)
	}
	return nil
}

func runRegression(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	r, err := newPredictor(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.e.Close()) }()
	folds, err := foldsOf(t, len(r.data.height))
	if err != nil {
		return nil, err
	}
	matrices, train := make([]*mat.Dense, len(folds)), make([][]int, len(folds))
	err = r.e.ParallelFor(ctx, len(folds), 1, func(i, _ int) (err error) {
		train[i] = folds[i].Train
		matrices[i], _, err = r.matrix(train[i], learn.SelectRows(r.data.inputs, folds[i].Test), fmt.Sprintf("k-means, fold %d", i))
		return inBatch(err, i, len(folds))
	})
	if err != nil {
		return nil, err
	}
	releases, err := r.releases(ctx, matrices, train)
	if err != nil {
		return nil, err
	}
	scores := make([]score, len(folds))
	var mu sync.Mutex
	done := 0
	err = r.e.ParallelFor(ctx, len(folds), 1, func(i, _ int) (err error) {
		if scores[i], err = r.score(ctx, i, folds[i], &releases[i]); err != nil {
			return err
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
	return r.summarise(folds, releases, scores), nil
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

// score is what the draws of one fold's noise give.
type score struct {
	rmse  float64   // cm, averaged over draws
	noisy []float64 // cm, the predictions with the first draw
}

// drawBlock bounds how many draws are held at a time.
const drawBlock = 256

// score draws the noise of a fold from a stream of its own, so that the order
// of the folds does not matter.
func (r *predictor) score(ctx context.Context, number int, f learn.Fold, s *release) (score, error) {
	out := score{noisy: make([]float64, len(f.Test))}
	draws := 1
	if s.design != nil {
		draws = r.t.Params.Int("draws")
	}
	stream := r.t.Stream(fmt.Sprintf("noise, fold %d", number))
	for done := 0; done < draws; done += drawBlock {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		block := min(drawBlock, draws-done)
		noise := s.noise(stream, block)
		for d := range block {
			sum := 0.0
			for i, row := range f.Test {
				e := s.mean[i] + noise.At(i, d) - r.data.height[row]
				sum += e * e
			}
			out.rmse += math.Sqrt(sum/float64(len(f.Test))) / float64(draws)
		}
		if done == 0 {
			for i, v := range s.mean {
				out.noisy[i] = v + noise.At(i, 0)
			}
		}
	}
	return out, nil
}

func (r *predictor) summarise(folds []learn.Fold, releases []release, scores []score) *experiment.Result {
	n := len(r.data.height)
	rmse, ranks := make([]float64, len(folds)), make([]float64, len(folds))
	mean, sd, noisy := make([]float64, n), make([]float64, n), make([]float64, n)
	gap, square := 0.0, 0.0
	for i, s := range releases {
		rmse[i] = scores[i].rmse
		if s.design != nil {
			gap, ranks[i] = max(gap, s.design.Gap), s.rank()
		}
		for j, row := range folds[i].Test {
			mean[row], sd[row], noisy[row] = s.mean[j], s.noiseSD[j], scores[i].noisy[j]
			square += s.noiseSD[j] * s.noiseSD[j]
		}
	}
	average, variance := stat.PopMeanVariance(rmse, nil)
	out := &experiment.Result{
		Metrics: map[string]float64{
			"rmse_cm":          average,
			"rmse_fold_sd_cm":  math.Sqrt(variance),
			"noise_sd_cm":      math.Sqrt(square / float64(n)),
			clippedMetric.Name: float64(r.data.clipped),
		},
		Series:   r.predictions(mean, sd, noisy),
		Privacy:  r.privacy(),
		Warnings: r.warnings(releases),
	}
	out.Series["folds"] = r.foldSeries(folds, rmse, ranks)
	if r.scale > 0 {
		out.Metrics["gap"], out.Metrics[rankMetric.Name] = gap, slices.Min(ranks)
	}
	return out
}

// foldSeries lists the folds by number: their test rows, their draw-averaged
// errors (cm) and, with noise, their ranks. A fold may be a single row, whose
// error tells its height, so that a record that protects leaves the errors out.
func (r *predictor) foldSeries(folds []learn.Fold, rmse, ranks []float64) experiment.Series {
	number, rows := make([]float64, len(folds)), make([]float64, len(folds))
	for i, f := range folds {
		number[i], rows[i] = float64(i), float64(len(f.Test))
	}
	series := experiment.Series{"x": number, "rows": rows}
	if !r.publishes() {
		series["rmse_cm"] = rmse
	}
	if r.scale > 0 {
		series["rank"] = ranks
	}
	return series
}

// predictions lists all rows by age, then by row.
func (r *predictor) predictions(mean, sd, noisy []float64) map[string]experiment.Series {
	age := r.data.kung.Age
	order := make([]int, len(age))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(age[a], age[b]) })
	column := func(values []float64) []float64 {
		out := make([]float64, len(order))
		for i, row := range order {
			out[i] = values[row]
		}
		return out
	}
	series := experiment.Series{"x": column(age), "weight_kg": column(r.data.kung.Weight), "noise_sd_cm": column(sd)}
	out := map[string]experiment.Series{"predictions": series}
	if r.publishes() {
		out["released"] = experiment.Series{"x": series["x"], "noisy_cm": column(noisy)}
	} else {
		series["height_cm"], series["mean_cm"] = column(r.data.height), column(mean)
	}
	return out
}
