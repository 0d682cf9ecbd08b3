package dpgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privkern/experiments/dpgp/classmodel"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// PlanClasses plans a release of a trial of dpgp/classification, for audits.
func PlanClasses(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return classifiers.Plan(ctx, t)
}

// PlanUnitsOfClasses plans a release of dpgp/classification of some of the units.
var PlanUnitsOfClasses = classifiers.PlanUnits

// Publication plans models of all classes from all rows, which depend on them through noisy sums
// alone.
func (c *ownClassifier) Publication(context.Context) (*method.Publication, error) {
	s := c.settings
	if err := c.inducing.CheckApart(c.Trial, s.Dataset, c.z, c.rows); err != nil {
		return nil, err
	}
	d := c.classifier.labels
	blocks := sparse.Blocks{Number: len(c.rows.Classes)}
	for i := range d.w {
		blocks.Largest.Product = max(blocks.Largest.Product, math.Abs(d.w[i]*d.y[i]))
		blocks.Largest.Weight = max(blocks.Largest.Weight, d.w[i])
	}
	sums, err := sparse.NewExactBlocks(c.Model, c.rows.Slots, s.method().Person.Rows(), s.Epsilon, s.Delta,
		c.Noise.Sensitivity, s.Ratio, blocks)
	if err != nil {
		return nil, err
	}
	// The update allows for the noise that is drawn.
	c.Noise.SigmaA, c.Noise.SigmaB = sums.Scales()
	return &method.Publication{
		Losses: sums.Losses(), Size: c.size(), Publish: (&classRelease{c, sums}).publish,
		Notes: []string{"predictions from a released model cost nothing more, at any inputs and in any number; another " +
			"release spends another budget"},
	}, nil
}

// size is that of the file of the models: inducing inputs, lengthscales, and a mean and a
// covariance for each class.
func (c *ownClassifier) size() experiment.Size {
	m, d := c.z.Dims()
	classes := len(c.rows.Classes)
	return experiment.Size{
		Numbers: m*d + d + classes*(m+m*m), Lists: m + 1 + classes*(1+m),
		Names: release.LengthOf(c.rows.Inputs) + release.LengthOf(c.rows.Classes) + len(c.settings.Output),
	}
}

// classRelease is a release whose noise is calibrated.
type classRelease struct {
	*ownClassifier
	sums *sparse.ExactSums
}

// publish releases models of the rows.
func (r *classRelease) publish(
	ctx context.Context, rows *method.Part, privacy *experiment.Privacy, source *release.Source,
) (*experiment.Release, error) {
	d := r.classifier.labels
	sharesOf := func(row int, shares []sparse.Share) {
		for class := range shares {
			is := 0
			if rows.Labels[row] == class {
				is = 1
			}
			shares[class] = sparse.Share{Product: d.w[is] * d.y[is], Weight: d.w[is]}
		}
	}
	noisy, err := r.sums.NoisyBlocks(r.scaling.Apply(rows.X), sharesOf, r.Trial.Workers, source)
	if err != nil {
		return nil, err
	}
	file, raised := r.file(privacy), []string(nil)
	for class, s := range noisy {
		p, err := r.Model.Infer(ctx, r.Engine, s, r.Noise, r.Update)
		if err != nil {
			return nil, fmt.Errorf("class %s: %w", r.rows.Classes[class], err)
		}
		file.Means, file.Covariances = append(file.Means, p.Mean), append(file.Covariances, model.Rows(p.Cov))
		file.Mechanism.Lambda = max(file.Mechanism.Lambda, p.Ridge)
		if p.Raised {
			raised = []string{sparse.RaisedText}
		}
	}
	return &experiment.Release{Model: file, Warnings: raised, Metrics: experiment.MetricValues(struct {
		publicClassMetrics
		sparse.NoiseMetrics
	}{r.publicMetrics(), r.NoiseMetrics()})}, nil
}

// file is the file of a model without the posteriors.
func (c *ownClassifier) file(privacy *experiment.Privacy) *classmodel.Model {
	lengthscales := slices.Clone([]float64(c.scaling))
	if lengthscales == nil {
		lengthscales = slices.Repeat([]float64{c.Model.Lengthscale}, len(c.rows.Inputs))
	}
	bound := c.settings.Bound.String()
	if c.settings.Features == sparse.WhitenedFeatures {
		bound = c.settings.Features.String()
	}
	return &classmodel.Model{
		Format: classmodel.Format, About: classmodel.About,
		Inputs: c.rows.Inputs, Output: c.rows.Output, Classes: c.rows.Classes,
		Kernel: classmodel.Kernel{Name: "EQ", Lengthscales: lengthscales, Variance: c.Model.Variance},
		Centre: c.classifier.labels.centre, Jitter: c.Model.Inducing.Jitter, Inducing: model.Rows(c.z),
		Mechanism: classmodel.Mechanism{
			Epsilon: c.settings.Epsilon, Delta: c.settings.Delta, Sensitivity: c.Noise.Sensitivity,
			Bound: bound, NormSquared: c.Noise.NormSquared, Alpha: c.settings.Alpha,
			SigmaA: c.Noise.SigmaA, SigmaB: c.Noise.SigmaB,
		},
		Privacy: privacy,
	}
}
