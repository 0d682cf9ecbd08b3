package dpgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dpgp/classmodel"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// PlanClasses plans a release of a trial of dpgp/classification, for audits.
func PlanClasses(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return planClasses(ctx, t, classification().Settings(t.Params))
}

// planClasses plans a release: models of all classes from all rows, which depend on them
// through noisy sums alone.
func planClasses(_ context.Context, t *experiment.Trial, s *ClassificationSettings) (*release.Plan, error) {
	if err := checkClassRelease(s); err != nil {
		return nil, err
	}
	c, err := newOwnClassifier(t, s)
	if err != nil {
		return nil, err
	}
	if err := own.CheckLevels(s.Inputs, c.rows.Private); err != nil {
		return nil, err
	}
	if !c.public { // a column that is itself named kind[a|b|c]
		return nil, fmt.Errorf("output = %s: the data have a column of that name, and its classes would be those of the "+
			"private rows; rename the column, and name its classes", s.Output)
	}
	if err := s.checkApart(t, c.rows); err != nil {
		return nil, err
	}
	for _, name := range c.rows.Names {
		if classmodel.Taken(name, c.classes) {
			return nil, fmt.Errorf("inputs = %s: predictions have a column %q of their own; rename the input", s.Inputs, name)
		}
	}
	n, _ := c.rows.X.Dims()
	d := c.classifier.labels
	blocks := sparse.Blocks{Number: len(c.classes)}
	for i := range d.w {
		blocks.Largest.Product = max(blocks.Largest.Product, math.Abs(d.w[i]*d.y[i]))
		blocks.Largest.Weight = max(blocks.Largest.Weight, d.w[i])
	}
	sums, err := sparse.NewExactBlocks(c.Model, n, s.Epsilon, s.Delta, c.Noise.Sensitivity, s.Ratio, blocks)
	if err != nil {
		return nil, err
	}
	// What the update allows for is the noise that is drawn.
	c.Noise.SigmaA, c.Noise.SigmaB = sums.Scales()
	c.Update.Covariance = sparse.CovarianceCorrected // probabilities follow from covariances, too
	private := c.privateRows()
	labels := dataset.LabelValues(c.labels, c.classes)
	return &release.Plan{
		Private: private,
		Spending: experiment.Spending{
			Data: dataset.Canonical(c.rows.X, labels), Row: dataset.CanonicalRows(c.rows.X, labels), Rows: n,
			Units:   experiment.UnitsOfARow(),
			Epsilon: s.Epsilon, Delta: s.Delta, Mu: 1 / sums.Factor(), Size: c.size(),
		},
		Publish: (&classRelease{c, sums}).publish,
	}, nil
}

// size is that of the file of the models: inducing inputs, lengthscales, and a mean and a
// covariance for each class.
func (c *ownClassifier) size() experiment.Size {
	m, d := c.rows.z.Dims()
	classes := len(c.classes)
	return experiment.Size{
		Numbers: m*d + d + classes*(m+m*m), Lists: m + 1 + classes*(1+m),
		Names: release.LengthOf(c.rows.Names) + release.LengthOf(c.classes) + len(c.settings.Output),
	}
}

// classRelease is what a release needs besides the data.
type classRelease struct {
	*ownClassifier
	sums *sparse.ExactSums
}

// publish releases models of rows (N×(D+1), the place of the class last).
func (r *classRelease) publish(
	ctx context.Context, private *mat.Dense, source *release.Source,
) (*experiment.Release, error) {
	n, columns := private.Dims()
	d := r.classifier.labels
	sharesOf := func(row int, shares []sparse.Share) {
		label := private.At(row, columns-1)
		for class := range shares {
			is := 0
			if label == float64(class) {
				is = 1
			}
			shares[class] = sparse.Share{Product: d.w[is] * d.y[is], Weight: d.w[is]}
		}
	}
	x := mat.DenseCopyOf(private.Slice(0, n, 0, columns-1))
	noisy, err := r.sums.NoisyBlocks(r.scaling.Apply(x), sharesOf, r.Trial.Workers, source)
	if err != nil {
		return nil, err
	}
	privacy := r.guarantee()
	privacy.RNG = "secure" // there is no release with another
	privacy.Notes = append(privacy.Notes, "predictions from a released model cost nothing more, at any inputs and in "+
		"any number; another release spends another budget", "splits and repeats have no part in a release",
		release.ExactNoise)
	file := r.file(privacy)
	for class, s := range noisy {
		p, err := r.Model.Infer(ctx, r.Engine, s, r.Noise, r.Update)
		if err != nil {
			return nil, fmt.Errorf("class %s: %w", r.classes[class], err)
		}
		file.Means, file.Covariances = append(file.Means, p.Mean), append(file.Covariances, own.Rows(p.Cov))
		file.Mechanism.Lambda = p.Ridge
	}
	metrics := struct {
		publicClassMetrics
		sparse.NoiseMetrics
	}{r.publicMetrics(), r.NoiseMetrics()}
	return &experiment.Release{
		Model: file, Metrics: experiment.MetricValues(metrics), Privacy: privacy, Warnings: r.Engine.Warnings(),
	}, nil
}

// file is the file of a model without the posteriors.
func (r *classRelease) file(privacy *experiment.Privacy) *classmodel.Model {
	lengthscales := slices.Clone([]float64(r.scaling))
	if lengthscales == nil {
		lengthscales = slices.Repeat([]float64{r.Model.Lengthscale}, len(r.rows.Names))
	}
	return &classmodel.Model{
		Format: classmodel.Format, About: classmodel.About,
		Inputs: r.rows.Names, Output: r.rows.Column(r.settings.Output), Classes: r.classes,
		Kernel: classmodel.Kernel{Name: "EQ", Lengthscales: lengthscales, Variance: r.Model.Variance},
		Centre: r.classifier.labels.centre, Jitter: r.Model.Inducing.Jitter, Inducing: own.Rows(r.rows.z),
		Mechanism: classmodel.Mechanism{
			Epsilon: r.settings.Epsilon, Delta: r.settings.Delta, Sensitivity: r.Noise.Sensitivity,
			Bound: r.settings.Bound.String(), NormSquared: r.Noise.NormSquared, Alpha: r.settings.Alpha,
			SigmaA: r.Noise.SigmaA, SigmaB: r.Noise.SigmaB,
		},
		Privacy: privacy,
	}
}
