package classify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/learn"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// maxQueries bounds the points that a classifier's release predicts at.
const maxQueries = 20_000

// columnProbability and columnClass are columns of a release beside the inputs.
const (
	columnProbability = "probability"
	columnClass       = "class"
)

// checkRelease refuses a release that would protect less than it says.
func checkRelease(s *classificationSettings) error {
	if s.Noiseless() {
		return release.ErrNoNoise
	}
	if err := s.CheckGuarantee(); err != nil {
		return err
	}
	if _, err := s.ReleaseFactor(s.newtonSteps()); err != nil {
		return err
	}
	return checkNames(s.own().Columns())
}

// checkNames refuses inputs that are named as a column of the release.
func checkNames(inputs []string) error {
	return cloak.CheckNames(inputs, columnProbability, columnClass)
}

// Plan plans a release of a trial of cloaking/classification, for audits.
func Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return plan(ctx, t, Classification().Settings(t.Params))
}

// plan plans a release: predictions from all rows at public points. What is published
// depends on the labels through the released modes alone, so that any number of points
// may be asked for.
func plan(ctx context.Context, t *experiment.Trial, s *classificationSettings) (*release.Plan, error) {
	if err := checkRelease(s); err != nil {
		return nil, err
	}
	d, err := s.load(t, true)
	if err != nil {
		return nil, err
	}
	if err := checkNames(d.names); err != nil {
		return nil, err
	}
	points, err := cloak.QueryPoints(t, s.Predict, s.Reading.In(s.Dataset), d.inputs, d.names, maxQueries)
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(t, &s.ClassifierSettings, s.Method)
	if err != nil {
		return nil, err
	}
	fit, err := c.prepare(ctx, d.inputs, points, "")
	if err != nil {
		return nil, err
	}
	all := learn.AllRows(len(d.labels))
	fit.units = cloak.UnitsOf(d.people, all, fit.inputs.Of)
	// Steps after the first depend on what is released before them.
	if fit.first, err = c.calibrated(ctx, fit, make([]float64, len(fit.inputs.Count))); err != nil {
		return nil, err
	}
	d.warnings = append(slices.Clip(d.warnings), cloak.Extrapolations(s.Predict, points, d.inputs, d.names)...)
	p := &publication{c, d, fit, points}
	n, _ := points.Dims()
	data := release.Data{Inputs: d.table, Output: d.labels, Account: d.account(), People: d.people}
	return data.Plan(experiment.UnitOutput, experiment.Spending{
		Dataset: s.Dataset, Person: s.Person.Column(),
		Epsilon: s.Epsilon, Delta: s.Delta, Publishes: cloak.Published(),
		Points: cloak.PointsFile(s.Predict),
		Losses: c.steps.Losses(fit.first.Factor),
		Size:   release.SizeOfTable(n, p.columns()),
	}, p.publish), nil
}

// publication has the public inputs of a release of a classifier: all but the labels.
type publication struct {
	*classifier
	data   *problem
	public *publicFit
	points *mat.Dense // P×d
}

// columns are those of the release.
func (p *publication) columns() []string {
	return append(slices.Clone(p.data.names), columnProbability, columnClass)
}

// publish releases the classifier's predictions from the labels (N×1, ±1).
func (p *publication) publish(ctx context.Context, private *mat.Dense,
	source *release.Source) (*experiment.Release, error) {
	c, d := *p.classifier, p.data
	c.source = source
	fit, err := c.fit(ctx, p.public, mat.Col(nil, 0, private), "")
	if err != nil {
		return nil, err
	}
	n, _ := p.points.Dims()
	out := &experiment.Release{
		Columns:  p.columns(),
		Rows:     make([][]float64, n),
		Metrics:  experiment.MetricValues(c.fitMetrics(fit)),
		Privacy:  c.releasePrivacy(d),
		Warnings: slices.Concat(c.warnings(fit), d.notes()),
	}
	probability := fit.probabilities(c.settings.Probability)
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
func (c *classifier) releasePrivacy(d *problem) *experiment.Privacy {
	out := c.guarantee(fmt.Sprintf("values of %q", d.output), d.own)
	out.Notes = append(out.Notes,
		fmt.Sprintf("the probability is that of the positive class; inputs (%s) are taken as public",
			strings.Join(d.names, ", ")),
		d.classNote(),
		"the folds and draws of a cross-validation have no part in a release",
		release.ExactNoise,
		"all predictions follow from one release of the latent function; another release spends another budget",
	)
	out.Notes = append(out.Notes, d.fitted...)
	out.Notes = append(out.Notes, d.own.Notes("a row with no value of the output counts as one of the negative class")...)
	return out
}
