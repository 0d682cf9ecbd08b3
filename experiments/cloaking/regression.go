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
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

func regression() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "cloaking/regression",
		Version: 4,
		Summary: "cross-validated error of differentially private predictions: of heights, or of your own data",
		Source:  "Smith, Álvarez and Lawrence 2019, Sections 5.1 and 5.2, Table 1",
		Params: withOwnData(predictionParams([]string{inputsAge, inputsAgeWeight},
			experiment.Param{Name: "folds", Kind: experiment.Integer, Default: 14, Min: experiment.Bound(2), Doc: "folds of the cross-validation, at most as many as rows; inducing inputs that are not given are placed in every fold"},
			choice("fold_scheme", "contiguous", "how rows are put into folds", "contiguous", "interleaved", "random"),
			count("draws", 100, 1, maxDraws, "draws of the noise in every fold").Where(noisy),
			experiment.Param{Name: "predict", Kind: experiment.Text, Default: predictTraining, Doc: "where a release (run trial --release) predicts: at the distinct training inputs, which are public, or at the rows of csv:PATH, a file with a column for every input"},
		)),
		Metrics: []experiment.Metric{
			{Name: "rmse_cm", Unit: "cm", Doc: "root mean square error on the test rows of a fold, measured against the clipped heights, averaged over draws, then over folds"},
			{Name: "rmse_fold_sd_cm", Unit: "cm", Doc: "standard deviation over folds (population) of the draw-averaged error"},
			{Name: "noise_sd_cm", Unit: "cm", Doc: "root mean square, over all test rows, of the noise's standard deviation"},
			clippedMetric,
			{Name: "rmse", Doc: "csv: what rmse_cm is, in the unit of the output"},
			{Name: "rmse_fold_sd", Doc: "csv: what rmse_fold_sd_cm is"},
			{Name: "noise_sd", Doc: "csv: what noise_sd_cm is"},
			clippedOutputs,
			{Name: "dropped_rows", Doc: "csv: number of rows left out because an input or the output has no value"},
			rankMetric,
			{Name: "gap", Unit: "", Doc: "largest certificate over folds: " + gapMeaning + " (with noise only)"},
		},
		Datasets:     regressionData,
		Tables:       ownTables,
		Complete:     completeOwn,
		Check:        checkRegression,
		Run:          runRegression,
		Release:      release.Planned(PlanRegression),
		CheckRelease: checkRelease,
	}
}

func regressionData(p experiment.Params) []string {
	names := []string{p.Text("dataset")}
	if _, own := dataset.FilePath(p.Text("predict")); own && p.Text("predict") != names[0] {
		names = append(names, p.Text("predict"))
	}
	return names
}

func checkRegression(p experiment.Params) error {
	if err := checkPredict(p.Text("predict")); err != nil {
		return err
	}
	if err := checkOwnData(p); err != nil {
		return err
	}
	if ownFile(p) { // how many rows it has is known when it is read
		return checkPrediction(p, maxRows)
	}
	return checkFolds(p, dataset.KungFemales)
}

// checkFolds refuses what a cross-validation of so many rows cannot have.
func checkFolds(p experiment.Params, rows int) error {
	folds := p.Int("folds")
	if folds > rows {
		return fmt.Errorf("folds = %d: the data have %d rows, and there cannot be more folds than rows", folds, rows)
	}
	largest := (rows + folds - 1) / folds
	if largest > maxPoints {
		return fmt.Errorf("folds = %d: a fold has %d test rows, and at most %d predictions are released together; use more folds", folds, largest, maxPoints)
	}
	if err := checkPrediction(p, rows-largest); err != nil {
		return err
	}
	if smallest := rows / folds; rankOf(p) > smallest {
		return fmt.Errorf("rank = %d: a fold has only %d test rows; use 1 to %[2]d or full", rankOf(p), smallest)
	}
	return nil
}

func runRegression(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	if err := onlyForRelease(t.Params); err != nil {
		return nil, err
	}
	r, err := newPredictor(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.e.Close()) }()
	if err := checkFolds(t.Params, len(r.data.output)); err != nil {
		return nil, err
	}
	folds, err := foldsOf(t, len(r.data.output))
	if err != nil {
		return nil, err
	}
	matrices, train := make([]*mat.Dense, len(folds)), make([][]int, len(folds))
	err = r.e.ParallelFor(ctx, len(folds), 1, func(i, _ int) (err error) {
		train[i] = folds[i].Train
		matrices[i], _, err = r.matrix(ctx, train[i], learn.SelectRows(r.data.inputs, folds[i].Test),
			fmt.Sprintf("k-means, fold %d", i))
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
	rmse  float64   // averaged over draws
	noisy []float64 // the predictions with the first draw
}

// drawBlock bounds how many draws are held at a time.
const drawBlock = 256

// score draws the noise of a fold from a stream of its own, so that the order
// of the folds does not matter.
func (r *predictor) score(ctx context.Context, number int, f learn.Fold, s *released) (score, error) {
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
				e := s.mean[i] + noise.At(i, d) - r.data.output[row]
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

func (r *predictor) summarise(folds []learn.Fold, releases []released, scores []score) *experiment.Result {
	n := len(r.data.output)
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
	names, noiseSD := r.data.names, math.Sqrt(square/float64(n))
	out := &experiment.Result{
		Metrics: map[string]float64{
			"rmse" + names.suffix:         average,
			"rmse_fold_sd" + names.suffix: math.Sqrt(variance),
			"noise_sd" + names.suffix:     noiseSD,
			names.clipped:                 float64(r.data.clipped),
		},
		Series:   r.predictions(mean, sd, noisy),
		Privacy:  r.privacy(),
		Warnings: append(r.warnings(releases), r.suspicions(folds, average, noiseSD)...),
	}
	if r.data.kung == nil {
		out.Metrics["dropped_rows"] = float64(r.data.dropped)
	}
	out.Series["folds"] = r.foldSeries(folds, rmse, ranks)
	if r.scale > 0 {
		out.Metrics["gap"], out.Metrics[rankMetric.Name] = gap, slices.Min(ranks)
	}
	return out
}

// foldSeries lists the folds by number: their test rows, their draw-averaged
// errors and, with noise, their ranks. A fold may be a single row, whose error
// tells its output, so that a record that protects leaves the errors out.
func (r *predictor) foldSeries(folds []learn.Fold, rmse, ranks []float64) experiment.Series {
	number, rows := make([]float64, len(folds)), make([]float64, len(folds))
	for i, f := range folds {
		number[i], rows[i] = float64(i), float64(len(f.Test))
	}
	series := experiment.Series{"x": number, "rows": rows}
	if !r.publishes() {
		series["rmse"+r.data.names.suffix] = rmse
	}
	if r.scale > 0 {
		series["rank"] = ranks
	}
	return series
}

// predictions lists all rows by age, or by the first input, then by row.
func (r *predictor) predictions(mean, sd, noisy []float64) map[string]experiment.Series {
	x, names := r.data.columns["x"], r.data.names
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	column := func(values []float64) []float64 {
		out := make([]float64, len(order))
		for i, row := range order {
			out[i] = values[row]
		}
		return out
	}
	series := experiment.Series{"noise_sd" + names.suffix: column(sd)}
	for name, values := range r.data.columns {
		series[name] = column(values)
	}
	out := map[string]experiment.Series{"predictions": series}
	if r.publishes() {
		out["released"] = experiment.Series{"x": series["x"], "noisy" + names.suffix: column(noisy)}
	} else {
		series[names.output], series["mean"+names.suffix] = column(r.data.output), column(mean)
	}
	return out
}
