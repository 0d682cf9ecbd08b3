package cloaking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/mechanism"
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
		return mechanism.ErrNoNoise
	case !ownFile(p) && p.Text("normalisation") == normalisationPublished:
		return errors.New("with normalisation=as-published the clipping interval and the prior mean come from the private heights, which the noise does not protect; use normalisation=public")
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

// releaseRegression predicts from all rows at public points, together and once.
// What it returns depends on the outputs through the noisy predictions alone:
// neither a count of clipped outputs nor an error is part of it.
func releaseRegression(ctx context.Context, t *experiment.Trial) (result *experiment.Release, err error) {
	if err := checkRelease(t.Params); err != nil {
		return nil, err
	}
	r, err := newPredictor(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.e.Close()) }()
	points, err := queryPoints(t, r.data.inputs, r.data.names.inputs, maxPoints)
	if err != nil {
		return nil, err
	}
	n, _ := points.Dims()
	if rank := rankOf(t.Params); rank > n {
		return nil, fmt.Errorf("rank = %d: predictions are released at only %d points", rank, n)
	}
	all := make([]int, len(r.data.output))
	for i := range all {
		all[i] = i
	}
	if err := checkPrediction(t.Params, len(all)); err != nil {
		return nil, err
	}
	c, _, err := r.matrix(all, points, "k-means")
	if err != nil {
		return nil, err
	}
	releases, err := r.releases(ctx, []*mat.Dense{c}, [][]int{all})
	if err != nil {
		return nil, err
	}
	s := &releases[0]
	released := r.noisyPredictions(s, t.Stream("noise"))
	out := &experiment.Release{
		Columns:  append(slices.Clone(r.data.names.inputs), columnPrediction, columnNoiseSD),
		Rows:     make([][]float64, n),
		Privacy:  r.releasePrivacy(),
		Warnings: r.publicWarnings(releases),
	}
	square := 0.0
	for i := range n {
		out.Rows[i] = append(slices.Clone(points.RawRowView(i)), released[i], s.noiseSD[i])
		square += s.noiseSD[i] * s.noiseSD[i]
	}
	out.Metrics = map[string]float64{
		"noise_sd" + r.data.names.suffix: math.Sqrt(square / float64(n)),
		rankMetric.Name:                  s.rank(),
		"gap":                            s.design.Gap,
	}
	return out, nil
}

// noisyPredictions are the released predictions from all rows. All of them are
// computed from By + noise, in the whitened coordinates of the range: adding
// noise to predictions instead would leave their rounding errors outside of the
// range without any.
func (r *predictor) noisyPredictions(s *release, stream *rand.Rand) []float64 {
	y := make([]float64, len(r.data.output))
	for i, v := range r.data.output {
		y[i] = v - r.data.prior
	}
	noise := s.design.Coordinates(stream, 1)
	noise.Scale(r.scale, noise)
	out := mat.Col(nil, 0, s.directions.Release(y, noise))
	for i := range out {
		out[i] += r.data.prior
	}
	return out
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
		fmt.Sprintf("the %s were clipped to [%s, %s]%s before predicting; how many were outside is not told, since it depends on them",
			r.data.names.outputs, experiment.FormatNumber(r.data.low), experiment.FormatNumber(r.data.high), r.data.names.unit),
		"the folds and draws of a cross-validation have no part in a release",
		"which rows have a value of the output is taken as public; rows without one had no part in it",
		mechanism.FloatingPoint,
		"the points of this release are predicted together and spend one budget; another release spends another",
	)
	return out
}
