package regress

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Regression is the cross-validated error of private predictions, Table 1, and the
// release of predictions.
var Regression = experiment.Of(experiment.Declaration[*regressionSettings, regressionMetrics]{
	Name:     "cloaking/regression",
	Version:  7,
	Summary:  "cross-validated error of differentially private predictions: of heights, or of your own data",
	Source:   "Smith, Álvarez and Lawrence 2019, Sections 5.1 and 5.2, Table 1",
	Datasets: func(s *regressionSettings) []string { return s.own().Settings(s.Predict).Datasets() },
	Tables:   func(s *regressionSettings) []experiment.InputTable { return s.own().Settings(s.Predict).Tables() },
	Complete: func(s *regressionSettings, given func(any) bool) error {
		s.CompleteOwn(s.own(), s.Method, given)
		return s.own().Complete(&s.GaussianBudget, given)
	},
	Check:        checkRegression,
	Memory:       memory,
	Run:          runRegression,
	CheckRelease: checkRelease,
	Written:      experiment.FormTable,
	Release:      release.Planned(plan),
})

func checkRegression(s *regressionSettings) error {
	if err := cloak.CheckPredict(s.Predict); err != nil {
		return err
	}
	if err := s.ownData.check(); err != nil {
		return err
	}
	if err := s.CheckOwn(s.own(), s.Method); err != nil {
		return err
	}
	if err := s.own().CheckPerson(&s.Solver); err != nil {
		return err
	}
	if s.own().IsFile() { // how many rows it has is known when it is read
		if s.Method == cloak.Sparse && s.Inducing.Count > maxRows { // the rows of a sample for k-means
			return fmt.Errorf("inducing: at most %d inducing inputs are placed, and not %d", maxRows, s.Inducing.Count)
		}
		return checkPrediction(&s.prediction, s.Method, maxRows, s.noList(nil))
	}
	return s.checkFolds(readers.KungFemales, nil)
}

// checkFolds refuses what a cross-validation of that number of rows cannot have; names
// are the inputs' of a file that was read.
func (s *regressionSettings) checkFolds(rows int, names []string) error {
	folds := s.Folds.Folds
	if folds > rows {
		return cloak.FoldsError(folds, rows)
	}
	return s.checkSizes(rows, (rows+folds-1)/folds, rows/folds, names)
}

// checkSizes refuses settings that the folds do not allow: largest and smallest are their numbers of test rows.
func (s *regressionSettings) checkSizes(rows, largest, smallest int, names []string) error {
	if most := mostPoints(s.Method); largest > most {
		return fmt.Errorf("folds = %d: a fold has %d test rows, and at most %d predictions are released together; use "+
			"more folds, or method=sparse", s.Folds.Folds, largest, most)
	}
	if err := checkPrediction(&s.prediction, s.Method, rows-largest, s.noList(names)); err != nil {
		return err
	}
	if s.Directions() > smallest {
		return fmt.Errorf("rank = %s: a fold has only %d test rows; use 1 to %[2]d or full", s.Rank, smallest)
	}
	return nil
}

// validation is a cross-validation.
type validation struct {
	*predictor
	settings *regressionSettings
	folds    []learn.Fold
	// truth are the outputs that errors are measured against: clipped ones, but with a common fold those that were read,
	// as in every method with common splits.
	truth []float64
}

func newValidation(t *experiment.Trial, s *regressionSettings) (*validation, error) {
	if err := cloak.OnlyForRelease(s.Predict); err != nil {
		return nil, err
	}
	r, err := newOwnPredictor(t, s)
	if err != nil {
		return nil, err
	}
	rows := len(r.data.Output)
	folds, err := s.Folds.Of(t, r.data.People, rows)
	if err != nil {
		return nil, err
	}
	largest, smallest := 0, rows
	for _, f := range folds {
		largest, smallest = max(largest, len(f.Test)), min(smallest, len(f.Test))
	}
	out := &validation{predictor: r, settings: s, folds: folds, truth: r.data.Output}
	if s.FoldScheme == cloak.Common {
		r.data.AsRead = true
		out.truth = slices.Clone(r.data.Raw)
		for i, y := range out.truth {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				out.truth[i] = r.data.Output[i]
			}
		}
	}
	return out, s.checkSizes(rows, largest, smallest, r.data.Names.Inputs)
}

// newOwnPredictor reads the census or a user's file.
func newOwnPredictor(t *experiment.Trial, s *regressionSettings) (*predictor, error) {
	problem, err := s.load(t)
	if err != nil {
		return nil, err
	}
	r, err := newPredictor(t, &s.prediction, s.Method, problem)
	if err != nil {
		return nil, err
	}
	r.own = s.own()
	return r, nil
}

func runRegression(
	ctx context.Context, t *experiment.Trial, s *regressionSettings,
) (*experiment.Outcome[regressionMetrics], error) {
	v, err := newValidation(t, s)
	if err != nil {
		return nil, err
	}
	return v.crossValidate(ctx)
}

// crossValidate releases and scores the predictions of all folds, as many at a time as have memory.
func (v *validation) crossValidate(ctx context.Context) (*experiment.Outcome[regressionMetrics], error) {
	var releases []predictionSet
	scores := make([]score, len(v.folds))
	counter := experiment.NewCounter(v.t.Progress, len(v.folds), "folds")
	for first := 0; first < len(v.folds); {
		block, err := v.releasesOfFolds(ctx, first, min(first+v.together(), len(v.folds)))
		if err != nil {
			return nil, err
		}
		err = v.e.ParallelFor(ctx, len(block), 1, func(i, _ int) (err error) {
			if scores[first+i], err = v.score(ctx, first+i, &block[i]); err != nil {
				return err
			}
			block[i].design = nil // which is large
			counter.Step()
			return nil
		})
		if err != nil {
			return nil, err
		}
		releases, first = append(releases, block...), first+len(block)
	}
	return v.summarise(releases, scores), nil
}

// together bounds the elements of a matrix of all folds that are in memory at a time.
const together = 1 << 23

// together is how many folds have their maps from outputs in memory at a time: all that are small, and others up to
// 64 MiB of a matrix of theirs.
func (v *validation) together() int {
	rows, columns := len(v.data.Output), len(v.data.Output)/4
	if v.model.Method == cloak.Sparse {
		columns = max(1, v.settings.Inducing.Count, len(v.settings.Inducing.Values))
	}
	if rows <= design.FewColumns {
		return len(v.folds)
	}
	return max(1, together/(rows*columns))
}

// releasesOfFolds finds the noise of the predictions of the folds from first to last, without it.
func (v *validation) releasesOfFolds(ctx context.Context, first, last int) ([]predictionSet, error) {
	sets, train := make([]trainingSet, last-first), make([][]int, last-first)
	for i, f := range v.folds[first:last] {
		train[i] = f.Train
		sets[i] = trainingSet{f.Train, learn.SelectRows(v.data.Inputs, f.Test), fmt.Sprintf("k-means, fold %d", first+i)}
	}
	all, err := v.posteriors(ctx, sets, v.judged())
	if err != nil {
		return nil, cloak.InPart(err, first, len(sets), len(v.folds))
	}
	releases, err := v.predictor.releases(ctx, first, mapsOf(all), train)
	for i := range releases {
		releases[i].observationSD = v.observed(all[i].variance)
	}
	return releases, cloak.InPart(err, first, len(sets), len(v.folds))
}

// score has the errors over the draws of one fold's noise, in the unit of the outputs.
type score struct {
	rmse float64 // over the fold's test rows, averaged over draws
	// absolute and square are sums over the fold's test rows, averaged over draws.
	absolute, square float64
	// coverage is the share of them inside their region of 95 %, averaged over draws; 0 where it
	// is not judged.
	coverage float64
	noisy    []float64 // the predictions at the test rows with the first draw
}

// drawBlock and drawNumbers bound how many draws are held at a time, and their predictions.
const (
	drawBlock   = 256
	drawNumbers = 1 << 20
)

// score draws the noise of a fold from a stream of its own, so that the order
// of the folds does not matter.
func (v *validation) score(ctx context.Context, number int, s *predictionSet) (score, error) {
	f := v.folds[number]
	out := score{noisy: make([]float64, len(f.Test))}
	draws := 1
	if s.design != nil {
		draws = v.settings.Draws
	}
	stream := v.t.Stream(fmt.Sprintf("noise, fold %d", number))
	for done := 0; done < draws; {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		block := min(drawBlock, max(1, drawNumbers/len(f.Test)), draws-done)
		noise := s.noise(stream, block)
		for d := range block {
			sum := 0.0
			for i, row := range f.Test {
				e := s.mean[i] + noise.At(i, d) - v.truth[row]
				sum += e * e
				out.absolute += math.Abs(e) / float64(draws)
				if s.observationSD != nil && math.Abs(e) <= table.Central95*math.Hypot(s.observationSD[i], s.noiseSD[i]) {
					out.coverage += 1 / float64(draws*len(f.Test))
				}
			}
			out.rmse += math.Sqrt(sum/float64(len(f.Test))) / float64(draws)
			out.square += sum / float64(draws)
		}
		if done == 0 {
			for i, mean := range s.mean {
				out.noisy[i] = mean + noise.At(i, 0)
			}
		}
		done += block
	}
	return out, nil
}

// summarise puts the folds together: errors are averaged over folds as the paper does,
// the noise over all rows, since each is a test row of one fold.
func (v *validation) summarise(releases []predictionSet, scores []score) *experiment.Outcome[regressionMetrics] {
	n, folds, rows := len(v.data.Output), v.folds, cloak.Tested(v.folds)
	rmse, ranks := make([]float64, len(folds)), make([]float64, len(folds))
	mean, sd, noisy := make([]float64, n), make([]float64, n), make([]float64, n)
	gap, square := 0.0, 0.0
	for i, s := range releases {
		rmse[i] = scores[i].rmse
		if s.quality != nil {
			gap, ranks[i] = max(gap, s.quality.Gap), s.rank()
		}
		for j, row := range folds[i].Test {
			mean[row], sd[row], noisy[row] = s.mean[j], s.noiseSD[j], scores[i].noisy[j]
			square += s.noiseSD[j] * s.noiseSD[j]
		}
	}
	average, variance := stat.PopMeanVariance(rmse, nil)
	noiseSD := math.Sqrt(square / float64(len(rows)))
	out := &experiment.Outcome[regressionMetrics]{
		Metrics:  v.errors(average, math.Sqrt(variance), noiseSD),
		Series:   v.predictions(rows, mean, sd, noisy),
		Privacy:  v.privacy(),
		Warnings: append(v.warnings(releases), v.suspicions(average, noiseSD, scores)...),
	}
	out.Series["folds"] = v.foldSeries(rmse, ranks)
	if v.judged() {
		v.measure(&out.Metrics, scores)
	}
	if v.scale > 0 {
		out.Metrics.Gap, out.Metrics.Rank = &gap, new(slices.Min(ranks))
	}
	return out
}

// measure sets the measures over the test rows of all folds, and those of the middle of the range.
func (v *validation) measure(m *regressionMetrics, scores []score) {
	outputs := learn.Select(v.truth, cloak.Tested(v.folds))
	n, absolute, square := float64(len(outputs)), 0.0, 0.0
	for _, s := range scores {
		absolute, square = absolute+s.absolute, square+s.square
	}
	middle, centre, centreSquare := v.data.Low+(v.data.High-v.data.Low)/2, 0.0, 0.0
	for _, y := range outputs {
		centre, centreSquare = centre+math.Abs(y-middle)/n, centreSquare+(y-middle)*(y-middle)
	}
	m.RegressionMeasures = method.RegressionMeasures{R2: method.Explained(square, outputs),
		R2Centre: method.Explained(centreSquare, outputs), MAE: new(absolute / n), MAECentre: &centre}
	m.RMSECentre, m.Coverage95 = new(v.middleError()), new(v.coverage(scores))
}

// errors are the metrics in the unit of the outputs.
func (v *validation) errors(rmse, foldSD, noiseSD float64) regressionMetrics {
	clipped := float64(v.data.Clipped)
	if v.data.Kung == nil {
		return regressionMetrics{RMSE: &rmse, RMSEFoldSD: &foldSD, NoiseSD: &noiseSD, ClippedOutputs: &clipped,
			DroppedRows: new(float64(v.data.Dropped))}
	}
	return regressionMetrics{RMSEHeights: &rmse, RMSEHeightsFoldSD: &foldSD, NoiseSDHeights: &noiseSD,
		ClippedHeights: cloak.ClippedHeights{ClippedHeights: &clipped}}
}

// foldSeries lists the folds by number: their test rows, their draw-averaged
// errors and, with noise, their ranks. A fold may be a single row, whose error
// shows its output, so that a record that protects leaves the errors out.
func (v *validation) foldSeries(rmse, ranks []float64) experiment.Series {
	number, rows := make([]float64, len(v.folds)), make([]float64, len(v.folds))
	for i, f := range v.folds {
		number[i], rows[i] = float64(i), float64(len(f.Test))
	}
	series := experiment.Series{"x": number, "rows": rows}
	if !v.publishes() {
		series["rmse"+v.data.Names.Suffix] = rmse
	}
	if v.scale > 0 {
		series["rank"] = ranks
	}
	return series
}

// listedRows is the most rows that a record lists the predictions of.
const listedRows = 10_000

// predictions lists rows by age, or by the first input, then by row: as many as a record has room for, evenly.
func (r *predictor) predictions(rows []int, mean, sd, noisy []float64) map[string]experiment.Series {
	x, names := r.data.Columns["x"], r.data.Names
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	if all := len(order); all > listedRows {
		for i := range listedRows {
			order[i] = order[i*all/listedRows]
		}
		order = order[:listedRows]
	}
	series := experiment.Series{"noise_sd" + names.Suffix: learn.Select(sd, order)}
	for name, values := range r.data.Columns {
		series[name] = learn.Select(values, order)
	}
	out := map[string]experiment.Series{"predictions": series}
	if r.publishes() {
		out["released"] = experiment.Series{"x": series["x"], "noisy" + names.Suffix: learn.Select(noisy, order)}
	} else {
		series[names.Output], series["mean"+names.Suffix] = learn.Select(r.data.Output, order), learn.Select(mean, order)
	}
	return out
}
