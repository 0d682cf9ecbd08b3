package cloaking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Bounds on the different training inputs of a classifier: time grows with
// their cube, and with a full covariance by a large factor.
const (
	maxInputsStandard = 2000
	maxInputsSparse   = 5000
)

// maxQueries bounds the points that a classifier's release predicts at.
const maxQueries = 20_000

// hmeqInputs and hmeqOutput are the columns of HMEQ that defaults are predicted
// from, and the outcome.
const (
	hmeqInputs = "DELINQ"
	hmeqOutput = "BAD"
)

// columnProbability and columnClass are columns of a release beside the inputs.
const (
	columnProbability = "probability"
	columnClass       = "class"
)

func classification() *experiment.Experiment {
	label := func(name, class string) experiment.Param {
		return experiment.Param{Name: name, Kind: experiment.Number, Default: none, Words: []string{none}, Doc: "the output that is the " + class + " class (csv only, where it must be given; both are public)"}
	}
	own := []experiment.Param{
		{Name: "dataset", Kind: experiment.Text, Default: dataHMEQ, Doc: "hmeq, whether home equity loans default, or csv:PATH, your own file: comma-separated values with a header"},
		{Name: "inputs", Kind: experiment.Text, Default: hmeqInputs, Doc: "names of the numeric columns that the class is predicted from, joined by + or commas. All inputs share one lengthscale: bring your columns to one scale"},
		{Name: "output", Kind: experiment.Text, Default: "", Doc: "the column with the class, which is protected (csv only, where it must be given)"},
		label("low", "negative"), label("high", "positive"),
		{Name: "rows", Kind: experiment.Integer, Default: "all", Words: []string{"all"}, Min: experiment.Bound(4), Max: experiment.Bound(1e7), Doc: "how many rows are drawn at random, without looking at the classes"},
		{Name: "predict", Kind: experiment.Text, Default: predictTraining, Doc: "where a release (run trial --release) predicts: at the different training inputs, or at the rows of csv:PATH, a file with the columns of the inputs; all other results come from the cross-validation"},
		count("folds", 5, 2, 1e6, "folds of the cross-validation, at most as many as rows"),
		choice("fold_scheme", "random", "how rows are put into folds", "contiguous", "interleaved", "random"),
	}
	own = experiment.When(own, []string{"output", "low", "high"}, isOwnFile)
	return &experiment.Experiment{
		Name:    "cloaking/classification",
		Version: 2,
		Summary: "two classes of your own data predicted with differential privacy",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 3",
		Params:  append(own, documentOwn(classificationParams(3, "unit of the inputs", 25))...),
		Metrics: []experiment.Metric{
			{Name: "accuracy", Doc: "share of the test rows of a fold whose class is predicted rightly, averaged over draws, then over folds"},
			{Name: "accuracy_fold_sd", Doc: "standard deviation over folds (population) of the draw-averaged accuracy"},
			{Name: "balanced_accuracy", Doc: "mean of the shares of both classes that are predicted rightly, over all test rows, averaged over draws"},
			{Name: "auc", Doc: "area under the ROC curve of the latent mean over all test rows, averaged over draws"},
			{Name: "majority", Doc: "share of the larger class: what is right without looking at the inputs"},
			{Name: "used_rows", Doc: "rows that were used"},
			{Name: "dropped_rows", Doc: "rows left out because an input or the output has no value"},
			{Name: stepsMetric.Name, Doc: "Newton steps of the Laplace approximation that were taken, the most over folds: with noise, " +
				"and where iterations is given, results are those after so many"},
			{Name: "rank", Doc: "number of released directions, the smallest over folds and Newton steps (with noise only)"},
			{Name: "gap", Doc: "largest certificate over folds and Newton steps: " + gapMeaning + " (with noise only)"},
		},
		Datasets:     classificationDatasets,
		Tables:       ownTables,
		Complete:     completeOwn,
		Check:        checkClassificationTrial,
		Run:          runClassification,
		CheckRelease: checkClassificationRelease,
		Release:      release.Planned(PlanClassification),
	}
}

func classificationDatasets(p experiment.Params) []string {
	names := []string{p.Text("dataset")}
	if at := p.Text("predict"); at != predictTraining && at != names[0] {
		names = append(names, at)
	}
	return names
}

func checkClassificationTrial(p experiment.Params) error {
	if name := p.Text("dataset"); name != dataHMEQ || ownFile(p) {
		if !ownFile(p) {
			return fmt.Errorf("dataset = %q: it is %s or csv:PATH, a file of your own%s", name, dataHMEQ, fileHint(name, dataHMEQ))
		}
		if err := checkOwnFile(p, "the two values of %s, such as low=0 high=1: the negative and the positive class"); err != nil {
			return err
		}
	} else {
		for _, only := range []string{"output", "low", "high"} {
			if v := p[only]; v != "" && v != none {
				return fmt.Errorf("%s = %s: it is for dataset=csv:PATH; of %s the column %s is predicted, 0 or 1", only, experiment.FormatValue(v), dataHMEQ, hmeqOutput)
			}
		}
		if slices.Contains(ownInputs(p), hmeqOutput) {
			return fmt.Errorf("inputs = %s: %s is what is predicted", p.Text("inputs"), hmeqOutput)
		}
		if slices.Contains(ownInputs(p), "") {
			return fmt.Errorf("inputs = %q: write the names of one or more columns, joined by + or commas", p.Text("inputs"))
		}
	}
	if err := checkPredict(p.Text("predict")); err != nil {
		return err
	}
	rows := 0
	if p.Text("rows") != "all" {
		if rows = p.Int("rows"); p.Int("folds") > rows {
			return fmt.Errorf("folds = %d: there are %d rows, and there cannot be more folds than rows", p.Int("folds"), rows)
		}
		rows -= (rows + p.Int("folds") - 1) / p.Int("folds")
	}
	return checkClassification(p, rows)
}

// labelled are public inputs and private labels.
type labelled struct {
	table     *dataset.Table // all rows
	inputs    *mat.Dense     // N×d
	labels    []float64      // ±1
	low, high float64        // what they are in the data
	names     []string       // of the inputs
	output    string
	dropped   int
	of        int      // rows with values, of which inputs are drawn
	warnings  []string // what is suspect about the public inputs
}

// loadLabelled reads the data of a trial of cloaking/classification, ordered for a
// release: the order of a file may follow the labels.
func loadLabelled(t *experiment.Trial, ordered bool) (*labelled, error) {
	p := t.Params
	d := &labelled{low: 0, high: 1, output: hmeqOutput}
	name := p.Text("dataset")
	path := t.Dataset(name)
	if ownFile(p) {
		d.output, d.low, d.high = p.Text("output"), p.Float("low"), p.Float("high")
	} else {
		path = dataset.HMEQFile(path)
	}
	table, err := dataset.LoadTable(path, ownInputs(p), d.output)
	if err != nil {
		if !ownFile(p) { // the folder is this machine's
			name = dataset.FileName(filepath.Base(path))
		}
		return nil, dataset.AsWritten(err, name)
	}
	d.table = table
	d.names, d.dropped, d.of, d.warnings = table.InputNames, table.Dropped, len(table.Output), inputWarnings(table)
	rows := make([]int, len(table.Output))
	for i := range rows {
		rows[i] = i
	}
	if ordered {
		rows = dataset.Order(table.Inputs, table.Output)
	}
	if p.Text("rows") != "all" && p.Int("rows") < len(rows) {
		drawn := t.Stream("rows").Perm(len(rows))[:p.Int("rows")]
		for i, place := range drawn {
			drawn[i] = rows[place]
		}
		rows = drawn
	}
	d.inputs, d.labels = learn.SelectRows(table.Inputs, rows), make([]float64, len(rows))
	for i, row := range rows {
		switch table.Output[row] {
		case d.low:
			d.labels[i] = -1
		case d.high:
			d.labels[i] = 1
		default:
			return nil, fmt.Errorf("the column %q has the value %s: it is neither low = %s nor high = %s, and there are two classes only", d.output,
				experiment.FormatNumber(table.Output[row]), experiment.FormatNumber(d.low), experiment.FormatNumber(d.high))
		}
	}
	return d, d.checkSize(p)
}

func (d *labelled) checkSize(p experiment.Params) error {
	n, limit := len(group(d.inputs).count), maxInputsStandard
	if p.Text("method") == methodSparse {
		limit = maxInputsSparse
	}
	if n > limit {
		advice := fmt.Sprintf("draw some of them with rows=%d", limit)
		if p.Text("method") == methodStandard {
			advice += fmt.Sprintf(", or use method=sparse (at most %d)", maxInputsSparse)
		}
		return fmt.Errorf("%d different training inputs; at most %d are taken, since the time grows with their cube: %s", n, limit, advice)
	}
	return nil
}

func runClassification(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	if err := onlyForRelease(t.Params); err != nil {
		return nil, err
	}
	d, err := loadLabelled(t, false)
	if err != nil {
		return nil, err
	}
	// A release must not say so: whether it fails would tell of a single label.
	if share := positiveShare(d.labels); share == 0 || share == 1 {
		return nil, fmt.Errorf("all %d rows are of one class of %q: there is nothing to tell apart", len(d.labels), d.output)
	}
	if n := t.Params.Int("folds"); n > len(d.labels) {
		return nil, fmt.Errorf("folds = %d: there are %d rows, and there cannot be more folds than rows", n, len(d.labels))
	}
	folds, err := foldsOf(t, len(d.labels))
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.e.Close()) }()
	fits := make([]*latent, len(folds))
	for i, f := range folds {
		labels := make([]float64, len(f.Train))
		for j, row := range f.Train {
			labels[j] = d.labels[row]
		}
		if share := positiveShare(labels); share == 0 || share == 1 {
			return nil, fmt.Errorf("fold %d of %d: the other folds hold one class only; use fewer folds, or fold_scheme=random", i+1, len(folds))
		}
		if fits[i], err = c.predict(ctx, learn.SelectRows(d.inputs, f.Train), labels, learn.SelectRows(d.inputs, f.Test), fmt.Sprintf("fold %d", i)); err != nil {
			return nil, inFold(err, i, len(folds))
		}
		t.Progress(i+1, len(folds), "folds")
	}
	return c.crossValidated(d, folds, fits)
}

func inFold(err error, i, of int) error { return fmt.Errorf("fold %d of %d: %w", i+1, of, err) }

// crossValidated puts the folds together.
func (c *classifier) crossValidated(d *labelled, folds []learn.Fold, fits []*latent) (*experiment.Result, error) {
	n := len(d.labels)
	all := mat.NewDense(n, c.draws, nil) // latent means at all rows
	probability := mat.NewDense(n, c.draws, nil)
	accuracy, rows := make([]float64, len(folds)), make([]float64, len(folds))
	metrics := map[string]float64{"used_rows": float64(n), "dropped_rows": float64(d.dropped)}
	steps, lowest, widest := 0, 0, 0.0
	for i, f := range folds {
		truth := make([]float64, len(f.Test))
		p := fits[i].probabilities(c.t.Params)
		for j, row := range f.Test {
			truth[j] = d.labels[row]
			all.SetRow(row, fits[i].mean.RawRowView(j))
			probability.SetRow(row, p.RawRowView(j))
		}
		accuracy[i], rows[i] = mean(accuracies(fits[i].mean, truth)), float64(len(f.Test))
		rank, gap := fits[i].rank()
		if i == 0 || rank < lowest {
			lowest = rank
		}
		steps, widest = max(steps, fits[i].steps), max(widest, gap)
	}
	average, variance := stat.PopMeanVariance(accuracy, nil)
	metrics["accuracy"], metrics["accuracy_fold_sd"] = average, math.Sqrt(variance)
	metrics[stepsMetric.Name] = float64(steps)
	if c.scale > 0 {
		metrics["rank"], metrics["gap"] = float64(lowest), widest
	}
	share := positiveShare(d.labels)
	metrics["majority"] = max(share, 1-share)
	if err := rankingMetrics(metrics, all, d.labels); err != nil {
		return nil, err
	}
	return &experiment.Result{
		Metrics: metrics, Series: c.classificationSeries(d, probability, accuracy, rows),
		Privacy:  c.privacy(fmt.Sprintf("values of %q", d.output), "the folds of a cross-validation compose: each trains on most of the labels"),
		Warnings: slices.Concat(c.warnings(fits...), d.notes(), c.suspicions(n, average, metrics["majority"])),
	}, nil
}

// rankingMetrics adds the metrics that are taken over all test rows together,
// averaged over draws, from the latent means (N×D).
func rankingMetrics(metrics map[string]float64, all *mat.Dense, labels []float64) error {
	for _, mean := range columns(all) {
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
		auc, err := learn.AUC(positive, negative)
		if err != nil {
			return err
		}
		_, draws := all.Dims()
		metrics["auc"] += auc / float64(draws)
		metrics["balanced_accuracy"] += (right[true]/float64(len(positive)) + right[false]/float64(len(negative))) / 2 / float64(draws)
	}
	return nil
}

// classificationSeries lists the rows in their order with the predictions of the
// first draw, and the folds. A record that protects has the first draw alone.
func (c *classifier) classificationSeries(d *labelled, probability *mat.Dense, accuracy, rows []float64) map[string]experiment.Series {
	predictions := experiment.Series{}
	for j, name := range d.names {
		column := mat.Col(nil, j, d.inputs)
		if j == 0 {
			predictions["x"] = column
		} else {
			predictions["input_"+name] = column
		}
	}
	predictions[columnProbability] = mat.Col(nil, 0, probability)
	folds := experiment.Series{"x": make([]float64, len(rows)), "rows": rows}
	for i := range rows {
		folds["x"][i] = float64(i)
	}
	if !c.publishes() {
		predictions["label"], folds["accuracy"] = d.labels, accuracy
	}
	return map[string]experiment.Series{"predictions": predictions, "folds": folds}
}

// notes says what of the data has no part in the problem, and what is suspect
// about the inputs. Missing values and inputs are public.
func (d *labelled) notes() []string {
	if d.dropped == 0 {
		return d.warnings
	}
	return append(slices.Clone(d.warnings), fmt.Sprintf("%d of %d rows have no value in an input or the output and were left out", d.dropped, d.dropped+d.of))
}

func checkClassificationRelease(p experiment.Params) error {
	if privacyless(p) {
		return release.ErrNoNoise
	}
	if _, err := releaseFactor(context.Background(), p, newtonSteps(p)); err != nil {
		return err
	}
	return checkInputNames(p, columnProbability, columnClass)
}

// PlanClassification plans a release of cloaking/classification: predictions from
// all rows at public points. What is published depends on the labels through the
// released modes alone, so that any number of points may be asked for.
func PlanClassification(ctx context.Context, t *experiment.Trial) (plan *release.Plan, err error) {
	if err := checkClassificationRelease(t.Params); err != nil {
		return nil, err
	}
	d, err := loadLabelled(t, true)
	if err != nil {
		return nil, err
	}
	points, err := queryPoints(t, d.inputs, d.names, maxQueries)
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(t)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.e.Close())
		}
	}()
	c.draws = 1 // one release, one budget
	fit, err := c.prepare(ctx, d.inputs, points, "")
	if err != nil {
		return nil, err
	}
	// Steps after the first depend on what is released before them.
	if fit.first, err = c.calibrated(ctx, fit, make([]float64, len(fit.inputs.count))); err != nil {
		return nil, err
	}
	p := &plannedClassification{c, d, fit, points}
	return &release.Plan{
		Private: mat.NewDense(len(d.labels), 1, slices.Clone(d.labels)),
		Spending: experiment.Spending{
			Data: dataset.Canonical(d.table.Inputs,
				d.table.Output), Units: []string{experiment.UnitOutput}, Rows: len(d.table.Output),
			Epsilon: t.Params.Float("epsilon"), Delta: t.Params.Float("delta"),
			Mu: math.Sqrt(float64(c.steps)) / fit.first.factor, // the steps compose
		},
		Publish: p.publish,
		Close:   c.e.Close,
	}, nil
}

// plannedClassification is what a release of a classifier needs besides the labels.
type plannedClassification struct {
	*classifier
	data   *labelled
	fitted *prepared
	points *mat.Dense // P×d
}

// publish releases the classifier's predictions from the labels (N×1, ±1).
func (p *plannedClassification) publish(ctx context.Context, private *mat.Dense,
	source *release.Source) (*experiment.Release, error) {
	c, d := *p.classifier, p.data
	c.source = source
	fit, err := c.fit(ctx, p.fitted, mat.Col(nil, 0, private), "")
	if err != nil {
		return nil, err
	}
	n, _ := p.points.Dims()
	rank, gap := fit.rank()
	out := &experiment.Release{
		Columns:  append(slices.Clone(d.names), columnProbability, columnClass),
		Rows:     make([][]float64, n),
		Metrics:  map[string]float64{"rank": float64(rank), "gap": gap, stepsMetric.Name: float64(fit.steps)},
		Privacy:  c.releasePrivacy(d),
		Warnings: slices.Concat(c.warnings(fit), d.notes()),
	}
	probability := fit.probabilities(c.t.Params)
	for i := range n {
		class := d.low
		if fit.mean.At(i, 0) > 0 {
			class = d.high
		}
		out.Rows[i] = append(slices.Clone(p.points.RawRowView(i)), probability.At(i, 0), class)
	}
	return out, nil
}

// releasePrivacy says what is protected, to those who get the release.
func (c *classifier) releasePrivacy(d *labelled) *experiment.Privacy {
	out := c.guarantee(fmt.Sprintf("values of %q", d.output))
	out.Notes = append(out.Notes,
		fmt.Sprintf("the probability is that of the positive class; inputs (%s) are taken as public", strings.Join(d.names, ", ")),
		"which rows have a value of the output is taken as public; rows without one had no part in it",
		"that every row has one of the two values low and high is taken as public: other values are refused",
		"the folds and draws of a cross-validation have no part in a release",
		release.ExactNoise,
		"all predictions follow from one release of the latent function; another release spends another budget",
	)
	return out
}
