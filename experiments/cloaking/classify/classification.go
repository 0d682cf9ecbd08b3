package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Classification is the cross-validated accuracy of private classes, and the release of
// classes.
var Classification = experiment.Of(experiment.Declaration[*classificationSettings, classificationMetrics]{
	Name:         "cloaking/classification",
	Version:      6,
	Summary:      "two classes of your own data predicted with differential privacy",
	Source:       "Smith, Álvarez and Lawrence 2019, Section 3",
	Datasets:     func(s *classificationSettings) []string { return s.own().Settings(s.Predict).Datasets() },
	Tables:       func(s *classificationSettings) []experiment.InputTable { return s.own().Settings(s.Predict).Tables() },
	Complete:     completeClassification,
	Check:        checkClassification,
	Memory:       memory,
	Run:          runClassification,
	CheckRelease: checkRelease,
	Written:      experiment.FormTable,
	Release:      release.Planned(plan),
})

// completeClassification completes the budget of a trial on a file, whose steps compose exactly
// where nothing else is asked for.
func completeClassification(s *classificationSettings, given func(any) bool) error {
	s.CompleteOwn(s.own(), s.Method, given)
	if err := s.own().Complete(&s.GaussianBudget, given); err != nil {
		return err
	}
	if s.own().IsFile() && !s.Noiseless() && s.newtonSteps().Number > 1 && s.Calibration == mechanism.Analytic &&
		!given(&s.Composition) {
		s.Composition = cloak.Gaussian
	}
	return nil
}

func checkClassification(s *classificationSettings) error {
	if err := s.ownData.check(); err != nil {
		return err
	}
	if err := cloak.CheckPredict(s.Predict); err != nil {
		return err
	}
	if err := s.CheckOwn(s.own(), s.Method); err != nil {
		return err
	}
	if err := s.own().CheckPerson(&s.Solver); err != nil {
		return err
	}
	rows := 0 // not known before the file is read
	if !s.Rows.Is(AllRows) {
		if rows = s.Rows.Number; s.Folds.Folds > rows {
			return cloak.FoldsError(s.Folds.Folds, rows)
		}
		rows -= (rows + s.Folds.Folds - 1) / s.Folds.Folds
	}
	return checkClassifier(&s.ClassifierSettings, s.Method, rows)
}

// validation is a cross-validation.
type validation struct {
	*classifier
	data  *problem
	folds []learn.Fold
}

func newValidation(t *experiment.Trial, s *classificationSettings) (*validation, error) {
	if err := cloak.OnlyForRelease(s.Predict); err != nil {
		return nil, err
	}
	d, err := s.load(t, false)
	if err != nil {
		return nil, err
	}
	folds, err := s.Folds.Of(t, d.people, len(d.labels))
	if err != nil {
		return nil, err
	}
	// A release must not say so: whether it fails would depend on a single label.
	if share := positiveShare(d.labels); share == 0 || share == 1 {
		return nil, fmt.Errorf("all %d rows are of one class of %q: there is nothing to tell apart", len(d.labels),
			d.output)
	}
	c, err := newClassifier(t, &s.ClassifierSettings, s.Method)
	return &validation{classifier: c, data: d, folds: folds}, err
}

func runClassification(
	ctx context.Context, t *experiment.Trial, s *classificationSettings,
) (*experiment.Outcome[classificationMetrics], error) {
	v, err := newValidation(t, s)
	if err != nil {
		return nil, err
	}
	fits, err := v.fits(ctx)
	if err != nil {
		return nil, err
	}
	return v.summarise(fits)
}

// fits predict the test rows of all folds, without noise those of several folds together.
func (v *validation) fits(ctx context.Context) ([]*prediction, error) {
	together := 1
	if v.scale == 0 {
		together = v.together(len(v.data.labels))
	}
	var all []*prediction
	for first := 0; first < len(v.folds); first += together {
		some, err := v.fitFolds(ctx, first, min(first+together, len(v.folds)))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		v.t.Progress(len(all), len(v.folds), "folds")
	}
	return all, nil
}

// fitFolds predicts the test rows of the folds from first to before last.
func (v *validation) fitFolds(ctx context.Context, first, last int) (fits []*prediction, err error) {
	public, labels := make([]*publicFit, last-first), make([][]float64, last-first)
	defer func() {
		for _, p := range public {
			if p != nil {
				p.cov.model.Close()
			}
		}
	}()
	inFold := func(err error, i int) error {
		if err == nil || i < 0 {
			return err
		}
		return fmt.Errorf("fold %d of %d: %w", first+i+1, len(v.folds), err)
	}
	for i := range public {
		if public[i], labels[i], err = v.prepareFold(ctx, first+i); err != nil {
			return nil, inFold(err, i)
		}
	}
	if v.scale == 0 {
		fits, failed, err := v.fitModes(ctx, public, labels)
		return fits, inFold(err, failed)
	}
	fits = make([]*prediction, len(public))
	for i, p := range public {
		if fits[i], err = v.fit(ctx, p, labels[i], foldPurpose(first+i)); err != nil {
			return nil, inFold(err, i)
		}
	}
	return fits, nil
}

// prepareFold returns the public part of a fold, and the labels of its training rows.
func (v *validation) prepareFold(ctx context.Context, i int) (*publicFit, []float64, error) {
	f := v.folds[i]
	labels := learn.Select(v.data.labels, f.Train)
	if share := positiveShare(labels); share == 0 || share == 1 {
		return nil, nil, errors.New("the other folds hold one class only; use more folds or fold_scheme=random; each class " +
			"needs two rows or more")
	}
	inputs := v.data.inputs
	p, err := v.prepare(ctx, learn.SelectRows(inputs, f.Train), learn.SelectRows(inputs, f.Test), foldPurpose(i))
	if err != nil {
		return nil, nil, err
	}
	p.units = cloak.UnitsOf(v.data.people, f.Train, p.inputs.Of)
	return p, labels, nil
}

// foldPurpose names the random streams of a fold.
func foldPurpose(i int) string { return fmt.Sprintf("fold %d", i) }

// summarise puts the folds together.
func (v *validation) summarise(fits []*prediction) (*experiment.Outcome[classificationMetrics], error) {
	d, n := v.data, len(v.data.labels)
	latent, probability := mat.NewDense(n, v.draws, nil), mat.NewDense(n, v.draws, nil) // at the tested rows of all
	accuracy := make([]float64, len(v.folds))
	for i, f := range v.folds {
		truth := make([]float64, len(f.Test))
		p := fits[i].probabilities(v.settings.Probability)
		for j, row := range f.Test {
			truth[j] = d.labels[row]
			latent.SetRow(row, fits[i].mean.RawRowView(j))
			probability.SetRow(row, p.RawRowView(j))
		}
		accuracy[i] = cloak.Mean(accuracies(fits[i].mean, truth))
	}
	rows := cloak.Tested(v.folds)
	labels := learn.Select(d.labels, rows)
	latent, probability = learn.SelectRows(latent, rows), learn.SelectRows(probability, rows)
	m := classificationMetrics{UsedRows: float64(n), DroppedRows: float64(d.dropped)}
	average, variance := stat.PopMeanVariance(accuracy, nil)
	m.Accuracy, m.FoldSD = average, math.Sqrt(variance)
	share := positiveShare(labels)
	m.Majority = max(share, 1-share)
	v.addFits(&m, fits)
	if err := m.addRanking(latent, labels); err != nil {
		return nil, err
	}
	m.ClassLosses = v.losses(labels, latent, probability)
	return &experiment.Outcome[classificationMetrics]{
		Metrics: m, Series: v.series(rows, probability, accuracy),
		Privacy: v.privacy(fmt.Sprintf("values of %q", d.output), d.own,
			append(slices.Clip(d.fitted), "the folds of a cross-validation compose: each trains on most of the labels")...),
		Warnings: slices.Concat(v.warnings(fits...), d.notes(), d.judged, v.suspicions(&m)),
	}, nil
}

// addFits adds the metrics of the Newton steps, and of their noise.
func (c *classifier) addFits(m *classificationMetrics, fits []*prediction) {
	steps, lowest, widest := 0, 0, 0.0
	for i, fit := range fits {
		rank, gap := fit.rank()
		if i == 0 || rank < lowest {
			lowest = rank
		}
		steps, widest = max(steps, fit.steps), max(widest, gap)
	}
	m.Steps = float64(steps)
	if c.scale > 0 {
		m.Rank, m.Gap = new(float64(lowest)), &widest
	}
}

// addRanking adds the metrics that are taken over all test rows together, averaged over
// draws, from the latent means (N×D). Of test rows of one class there is no area, and the
// balanced accuracy is that of this class.
func (m *classificationMetrics) addRanking(latent *mat.Dense, labels []float64) error {
	_, draws := latent.Dims()
	area := 0.0
	for _, mean := range columns(latent) {
		var positive, negative []float64
		right := map[bool]float64{}
		for i, y := range labels {
			if y > 0 {
				positive = append(positive, mean[i])
			} else {
				negative = append(negative, mean[i])
			}
			if (mean[i] > 0) == (y > 0) {
				right[y > 0]++
			}
		}
		if len(positive) == 0 || len(negative) == 0 {
			m.Balanced += (right[true] + right[false]) / float64(len(labels)) / float64(draws)
			continue
		}
		auc, err := learn.AUC(positive, negative)
		if err != nil {
			return err
		}
		area += auc / float64(draws)
		m.AUC = &area
		m.Balanced += (right[true]/float64(len(positive)) + right[false]/float64(len(negative))) / 2 / float64(draws)
	}
	return nil
}

// losses returns the measures of the predictions of all test rows, mean over draws, from their labels (P), latent
// means and probabilities (P×D). Confusion counts the rows of all folds. The trivial rule has the
// shares of all rows, which those that train a fold nearly have.
func (v *validation) losses(labels []float64, latent, probability *mat.Dense) method.ClassLosses {
	d := v.data
	truth, trained := classesOf(labels), []int{0, 0}
	for _, class := range classesOf(d.labels) {
		trained[class]++
	}
	_, draws := latent.Dims()
	parts := make([]*method.ClassLosses, draws)
	for k := range draws {
		positive := mat.Col(nil, k, probability)
		negative := make([]float64, len(positive))
		for i, p := range positive {
			negative[i] = 1 - p
		}
		c := method.Classified{Classes: d.classNames(), Truth: truth, Predicted: classesOf(mat.Col(nil, k, latent)),
			Probabilities: [][]float64{negative, positive}, Trained: trained}
		parts[k] = &c.Measures().ClassLosses
	}
	return *method.MeanOf(parts)
}

// classesOf returns 1 for positive values and 0 for others.
func classesOf(values []float64) []int {
	out := make([]int, len(values))
	for i, v := range values {
		if v > 0 {
			out[i] = 1
		}
	}
	return out
}

// classNames are the names of the negative and the positive class.
func (d *problem) classNames() []string {
	if d.classes != nil {
		return d.classes
	}
	return []string{experiment.FormatNumber(d.low), experiment.FormatNumber(d.high)}
}

// series lists the tested rows in their order with the predictions of the first draw, and the
// folds. A record that protects has the first draw alone.
func (v *validation) series(rows []int, probability *mat.Dense, accuracy []float64) map[string]experiment.Series {
	d := v.data
	predictions := experiment.Series{}
	for j, name := range d.names {
		column := learn.Select(mat.Col(nil, j, d.inputs), rows)
		if j == 0 {
			predictions["x"] = column
		} else {
			predictions["input_"+name] = column
		}
	}
	predictions[columnProbability] = mat.Col(nil, 0, probability)
	number, sizes := make([]float64, len(v.folds)), make([]float64, len(v.folds))
	for i, f := range v.folds {
		number[i], sizes[i] = float64(i), float64(len(f.Test))
	}
	folds := experiment.Series{"x": number, "rows": sizes}
	if !v.publishes() {
		predictions["label"], folds["accuracy"] = learn.Select(d.labels, rows), accuracy
	}
	return map[string]experiment.Series{"predictions": predictions, "folds": folds}
}

// suspicions returns warnings about the results on a user's file, for judging and no
// part of a release. Labels have no range for noise to be compared with.
func (v *validation) suspicions(m *classificationMetrics) []string {
	if !v.data.file {
		return nil
	}
	var out []string
	if m.Accuracy < m.Majority {
		advice := "choose lengthscale and kernel_variance anew, without looking at the classes"
		if v.scale > 0 {
			advice = "epsilon=inf shows how much of it is noise: if most, use a larger epsilon, method=sparse, or " +
				"more rows; otherwise " + advice
		}
		out = append(out, table.AccuracyWarning(m.Accuracy, m.Majority, "the share of the larger class", advice))
	}
	if warning := m.ClassLosses.Warning(); warning != "" {
		out = append(out, warning)
	}
	if v.scale > 0 {
		out = append(out, v.settings.Suspicions(v.data.people.Units(len(v.data.labels)))...)
	}
	return out
}
