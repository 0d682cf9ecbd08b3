package regress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/table"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Columns of a release beside the inputs.
const (
	columnPrediction = "prediction"
	columnNoiseSD    = "noise_sd"
	columnGPSD       = "predictive_sd" // of an observation, Eq. (3)
	// The ends of the interval that holds an observation with a probability of 95 %, if the model holds:
	// the variances of the privacy noise and of an observation, both public, add up.
	columnLow95  = "low95"
	columnHigh95 = "high95"
)

// checkRelease refuses a release that would protect less than it says.
func checkRelease(s *regressionSettings) error {
	switch {
	case s.Noiseless():
		return release.ErrNoNoise
	case !s.own().IsFile() && s.Normalisation == cloak.AsPublished:
		return errors.New("with normalisation=as-published the clipping interval and the prior mean come from the " +
			"private heights, which the noise does not protect; use normalisation=public")
	}
	if err := s.CheckGuarantee(); err != nil {
		return err
	}
	if _, err := s.ReleaseFactor(cloak.OneStep); err != nil {
		return err
	}
	if s.own().IsFile() {
		return checkNames(s.own().Columns())
	}
	return nil
}

// checkNames refuses inputs that are named as a column of the release.
func checkNames(inputs []string) error {
	return cloak.CheckNames(inputs, columnPrediction, columnNoiseSD, columnGPSD, columnLow95, columnHigh95)
}

// Plan plans a release of a trial of cloaking/regression, for audits.
func Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return plan(ctx, t, Regression().Settings(t.Params))
}

// plan plans a release: predictions from all rows at public points, together and once.
// What is published depends on the outputs through the noisy predictions alone:
// neither a count of clipped outputs nor an error is part of it.
func plan(ctx context.Context, t *experiment.Trial, s *regressionSettings) (*release.Plan, error) {
	if err := checkRelease(s); err != nil {
		return nil, err
	}
	r, err := newOwnPredictor(t, s)
	if err != nil {
		return nil, err
	}
	if err := checkNames(r.data.Names.Inputs); err != nil {
		return nil, err
	}
	r.data.SortRows()
	points, err := cloak.QueryPoints(t, s.Predict, s.Reading.In(s.Dataset), r.data.Inputs, r.data.Names.Inputs,
		mostPoints(s.Method))
	if err != nil {
		return nil, err
	}
	n, _ := points.Dims()
	if rank := s.Directions(); rank > n {
		return nil, fmt.Errorf("rank = %d: predictions are released at only %d points", rank, n)
	}
	rows := len(r.data.Output)
	if err := checkPrediction(&s.prediction, s.Method, rows, s.noList(r.data.Names.Inputs)); err != nil {
		return nil, err
	}
	all, err := r.posteriors(ctx, []trainingSet{{r.allRows(), points, "k-means"}}, true)
	if err != nil {
		return nil, err
	}
	work := r.work()
	work.OnHost = true
	ranges, designs, err := cloak.SolveLinear(ctx, work, mapsOf(all))
	if err != nil {
		return nil, err
	}
	m, err := cloak.NewMechanism(ranges[0], designs[0], &s.GaussianBudget,
		cloak.Interval{Low: r.data.Low, High: r.data.High, Prior: r.data.Prior},
		cloak.UnitsOf(r.data.People, r.allRows(), nil))
	if err != nil {
		return nil, err
	}
	p := &publication{
		predictor: r, Mechanism: m, points: points, predictiveSD: r.predictiveSD(all[0].variance),
		noiseSD: cloak.NoiseSD(designs[0], m.Noise.Scale()/designs[0].NoiseScale),
		warnings: append(r.publicWarnings([]predictionSet{{quality: new(cloak.QualityOf(ranges[0], designs[0]))}}),
			cloak.Extrapolations(s.Predict, points, r.data.Inputs, r.data.Names.Inputs)...),
	}
	data := release.Data{Inputs: r.data.Inputs, Output: r.data.Raw, People: r.data.People}
	return data.Plan(experiment.UnitOutput, experiment.Spending{
		Dataset: s.Dataset, Person: s.Person.Column(),
		Epsilon: s.Epsilon, Delta: s.Delta, Publishes: cloak.Published(),
		Points: cloak.PointsFile(s.Predict),
		Losses: cloak.OneStep.Losses(m.Factor), Size: release.SizeOfTable(n, p.columns()),
	}, p.publish), nil
}

// publication has the public inputs of a release of predictions: all but the outputs.
type publication struct {
	*predictor
	*cloak.Mechanism
	points  *mat.Dense // P×d
	noiseSD []float64  // P
	// predictiveSD is the GP's own for an observation (P), Eq. (3), without the privacy noise.
	predictiveSD []float64
	warnings     []string
}

// columns are those of the release.
func (p *publication) columns() []string {
	return append(slices.Clone(p.data.Names.Inputs), columnPrediction, columnNoiseSD, columnGPSD, columnLow95,
		columnHigh95)
}

// publish releases the predictions from the outputs (N×1), which it clips.
//
// All predictions are computed from the noisy coordinates of the range: adding
// noise to predictions instead would leave their rounding errors outside of the
// range without any.
func (p *publication) publish(_ context.Context, private *mat.Dense,
	source *release.Source) (*experiment.Release, error) {
	w, err := p.Noisy(mat.Col(nil, 0, private), source)
	if err != nil {
		return nil, err
	}
	predictions := p.Directions.Predictions(w)
	out := &experiment.Release{
		Columns:  p.columns(),
		Rows:     make([][]float64, len(p.noiseSD)),
		Privacy:  p.releasePrivacy(),
		Warnings: p.warnings,
	}
	square := 0.0
	for i, sd := range p.noiseSD {
		mean, half := p.Within.Prior+predictions.At(i, 0), table.Central95*math.Hypot(sd, p.predictiveSD[i])
		out.Rows[i] = append(slices.Clone(p.points.RawRowView(i)), mean, sd, p.predictiveSD[i], mean-half, mean+half)
		square += sd * sd
	}
	sd := math.Sqrt(square / float64(len(p.noiseSD)))
	m := regressionMetrics{rankMetric: rankMetric{new(float64(len(p.Directions.Scale)))}, Gap: &p.Design.Gap}
	if p.data.Kung != nil {
		m.NoiseSDHeights = &sd
	} else {
		m.NoiseSD = &sd
	}
	out.Metrics = experiment.MetricValues(m)
	return out, nil
}

// predictiveSD are the standard deviations of an observation, Eq. (3), in the unit of the outputs, from the variances
// of the latent function, which it overwrites: functions of the public inputs and of the public interval.
func (r *predictor) predictiveSD(variances []float64) []float64 {
	for i, v := range variances {
		variances[i] = math.Hypot(r.data.Unit*math.Sqrt(v), r.data.Unit*math.Sqrt(r.settings.NoiseVariance))
	}
	return variances
}

// releasePrivacy says what is protected, to those who get the release.
func (r *predictor) releasePrivacy() *experiment.Privacy {
	out := r.guarantee()
	out.Notes = append(out.Notes,
		fmt.Sprintf("the %s were clipped to [%s, %s]%s before predicting; how many were outside is private",
			r.data.Names.Outputs, experiment.FormatNumber(r.data.Low), experiment.FormatNumber(r.data.High),
			r.data.Names.Unit),
		"the folds and draws of a cross-validation have no part in a release",
		release.ExactNoise,
		"the points of this release are predicted together and spend one budget; another release spends another",
	)
	out.Notes = append(out.Notes,
		r.own.Notes("an output that is missing or not finite counts as the middle of the range")...)
	return out
}
