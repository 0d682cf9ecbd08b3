package cloaking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// predictTraining lets a release predict at the distinct training inputs.
const predictTraining = "training"

// Columns of a release beside the inputs.
const (
	columnPrediction = "prediction"
	columnNoiseSD    = "noise_sd"
)

func checkPredict(at string) error {
	path, own := dataset.FilePath(at)
	switch {
	case at == predictTraining, own && path != "":
		return nil
	case own:
		return errors.New("predict = csv: names no file; write csv:PATH")
	}
	hint := ""
	if near := experiment.Nearest(at, []string{predictTraining}); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("predict = %q: it is %s or csv:PATH, a file of inputs%s", at, predictTraining, hint)
}

// onlyForRelease refuses query points in a cross-validation.
func onlyForRelease(p experiment.Params) error {
	if at := p.Text("predict"); at != predictTraining {
		return fmt.Errorf("predict = %s: a cross-validation predicts the rows of its folds; predict is for a release (run trial --rng secure --release FILE)", at)
	}
	return nil
}

// checkRelease refuses a release that would protect less than it says.
func checkRelease(p experiment.Params) error {
	switch {
	case privacyless(p):
		return release.ErrNoNoise
	case !ownFile(p) && p.Text("normalisation") == normalisationPublished:
		return errors.New("with normalisation=as-published the clipping interval and the prior mean come from the private heights, which the noise does not protect; use normalisation=public")
	}
	if _, err := releaseFactor(context.Background(), p, 1); err != nil {
		return err
	}
	if ownFile(p) {
		return checkInputNames(p, columnPrediction, columnNoiseSD)
	}
	return nil
}

// checkInputNames refuses inputs that are named as a column of the release.
func checkInputNames(p experiment.Params, columns ...string) error {
	for _, name := range ownInputs(p) {
		if slices.Contains(columns, name) {
			return fmt.Errorf("inputs = %s: a release has a column %q of its own; rename the input", p.Text("inputs"), name)
		}
	}
	return nil
}

// PlanRegression plans a release of cloaking/regression: predictions from all rows
// at public points, together and once. What is published depends on the outputs
// through the noisy predictions alone: neither a count of clipped outputs nor an
// error is part of it.
func PlanRegression(ctx context.Context, t *experiment.Trial) (plan *release.Plan, err error) {
	if err := checkRelease(t.Params); err != nil {
		return nil, err
	}
	r, err := newPredictor(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.e.Close()) }()
	r.data.sortRows()
	points, err := queryPoints(t, r.data.inputs, r.data.names.inputs, maxPoints)
	if err != nil {
		return nil, err
	}
	n, _ := points.Dims()
	if rank := rankOf(t.Params); rank > n {
		return nil, fmt.Errorf("rank = %d: predictions are released at only %d points", rank, n)
	}
	rows := len(r.data.output)
	all := make([]int, rows)
	for i := range all {
		all[i] = i
	}
	if err := checkPrediction(t.Params, rows); err != nil {
		return nil, err
	}
	c, _, err := r.matrix(ctx, all, points, "k-means")
	if err != nil {
		return nil, err
	}
	ranges, designs, err := solveDesigns(ctx, r.e, []*mat.Dense{c}, t.Params, func(done, total int) {
		t.Progress(done,
			total, "steps")
	})
	if err != nil {
		return nil, err
	}
	s, err := newCloaked(ctx, ranges[0], designs[0], t.Params, 1, interval{r.data.low, r.data.high, r.data.prior})
	if err != nil {
		return nil, err
	}
	p := &plannedRegression{
		predictor: r, cloaked: s, points: points,
		noiseSD:  noiseSD(designs[0], s.noise.Scale()/designs[0].MaxMahalanobis),
		warnings: r.publicWarnings([]released{{directions: ranges[0], design: designs[0]}}),
	}
	return &release.Plan{
		Private: mat.NewDense(rows, 1, slices.Clone(r.data.raw)),
		Spending: experiment.Spending{
			Data: dataset.Canonical(r.data.inputs, r.data.raw), Units: []string{experiment.UnitOutput}, Rows: rows,
			Epsilon: t.Params.Float("epsilon"), Delta: t.Params.Float("delta"), Mu: 1 / s.factor,
		},
		Publish: p.publish,
	}, nil
}

// plannedRegression is what a release of predictions needs besides the outputs.
type plannedRegression struct {
	*predictor
	*cloaked
	points   *mat.Dense // P×d
	noiseSD  []float64  // P
	warnings []string
}

// publish releases the predictions from the outputs (N×1), which it clips.
//
// All predictions are computed from the noisy coordinates of the range: adding
// noise to predictions instead would leave their rounding errors outside of the
// range without any.
func (p *plannedRegression) publish(ctx context.Context, private *mat.Dense,
	source *release.Source) (*experiment.Release, error) {
	w, err := p.noisy(ctx, mat.Col(nil, 0, private), source)
	if err != nil {
		return nil, err
	}
	predictions := p.directions.Predictions(w)
	out := &experiment.Release{
		Columns:  append(slices.Clone(p.data.names.inputs), columnPrediction, columnNoiseSD),
		Rows:     make([][]float64, len(p.noiseSD)),
		Privacy:  p.releasePrivacy(),
		Warnings: p.warnings,
	}
	square := 0.0
	for i, sd := range p.noiseSD {
		out.Rows[i] = append(slices.Clone(p.points.RawRowView(i)), p.within.prior+predictions.At(i, 0), sd)
		square += sd * sd
	}
	out.Metrics = map[string]float64{
		"noise_sd" + p.data.names.suffix: math.Sqrt(square / float64(len(p.noiseSD))),
		rankMetric.Name:                  float64(len(p.directions.Scale)),
		"gap":                            p.design.Gap,
	}
	return out, nil
}

// queryPoints returns where a release predicts (P×d): at the rows of a file that
// has the named columns, or at the different training inputs.
func queryPoints(t *experiment.Trial, training *mat.Dense, names []string, limit int) (*mat.Dense, error) {
	at := t.Params.Text("predict")
	path, own := dataset.FilePath(at)
	if !own {
		points := group(training).rows
		if n, _ := points.Dims(); n > limit {
			return nil, fmt.Errorf("the training inputs are %d distinct points, and at most %d predictions are released together; give points with predict=csv:PATH", n, limit)
		}
		return points, nil
	}
	points, err := dataset.LoadInputs(t.Dataset(at), names)
	if err != nil {
		return nil, dataset.AsWritten(err, at)
	}
	if n, _ := points.Dims(); n > limit {
		return nil, fmt.Errorf("%s: %d points; at most %d predictions are released together", path, n, limit)
	}
	return points, nil
}

// releasePrivacy says what is protected, to those who get the release.
func (r *predictor) releasePrivacy() *experiment.Privacy {
	out := r.guarantee()
	out.Notes = append(out.Notes,
		fmt.Sprintf("the %s were clipped to [%s, %s]%s before predicting; how many were outside is private",
			r.data.names.outputs, experiment.FormatNumber(r.data.low), experiment.FormatNumber(r.data.high), r.data.names.unit),
		"the folds and draws of a cross-validation have no part in a release",
		"which rows have a value of the output is taken as public; rows without one had no part in it",
		release.ExactNoise,
		"the points of this release are predicted together and spend one budget; another release spends another",
	)
	return out
}
