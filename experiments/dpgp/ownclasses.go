package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/classmodel"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// maxClasses bounds the classes of a user's own data.
const maxClasses = 20

// completeClassification gives own data the defaults that they need: the bound of any number
// of inputs, and an update that stays positive definite.
func completeClassification(s *ClassificationSettings, given func(field any) bool) error {
	if !given(&s.Features) && !given(&s.Bound) && !given(&s.Spacing) { // a bound is that of kernel features
		s.Features = sparse.WhitenedFeatures
	}
	experiment.Default(given, &s.Bound, sparse.Exact)
	experiment.Default(given, &s.Regularisation, sparse.RegularisationCorrected)
	if !given(&s.Jitter) {
		s.Jitter = 1e-8
		if s.Features == sparse.WhitenedFeatures {
			s.Jitter *= max(1, s.KernelVariance) // a share of the variance proves the norm of features
		}
	}
	if !given(&s.Inducing) && s.InducingFile == withoutFile {
		s.Inducing = experiment.Points{Word: experiment.NameOf(sparse.Auto(0))}
	}
	experiment.Default(given, &s.Lengthscale, method.Automatic())
	experiment.Default(given, &s.Probabilities, sharesForm)
	if !given(&s.Ratio) {
		s.Ratio = own.Ratio(s.KernelVariance)
		if s.Features == sparse.WhitenedFeatures {
			s.Ratio = own.WhitenedRatio(s.KernelVariance)
		}
	}
	experiment.Default(given, &s.Rho, own.Rho)
	if !given(&s.Alpha) {
		s.Alpha = ownAlpha
		if s.Features == sparse.WhitenedFeatures {
			s.Alpha = whitenedAlpha
		}
	}
	inputs := table.Spec{Dataset: s.Dataset, Inputs: s.Inputs}.Asked()
	s.Lengthscale = s.inducing(s.Inducing).Known(s.Lengthscale, inputs)
	return nil
}

// ownAlpha is the default of alpha of own data: a smaller one has weights 1/σ̃² that differ more between the
// two labels, and the larger decides the noise.
const ownAlpha = 0.1

// whitenedAlpha is that of whitened features: both labels have weights that are nearer to each other, so that the level
// between classes is found with more noise.
const whitenedAlpha = 0.5

// ownClassifier is the learner of dpgp/classification.
type ownClassifier struct {
	*classifier
	rows     *method.Rows
	inducing own.Inducing
	z        *mat.Dense     // M×d, the inducing inputs, in the units of the inputs
	scaling  sparse.Scaling // of inputs and inducing inputs; nil for one lengthscale
}

func prepareClassifier(
	ctx context.Context, t *experiment.Trial, s *ClassificationSettings, rows *method.Rows,
) (c *ownClassifier, err error) {
	if !s.Lengthscale.IsWord {
		if _, err := method.ForInputs("lengthscale", s.Lengthscale.Numbers, rows.Asked); err != nil {
			return nil, err
		}
	}
	c = &ownClassifier{rows: rows, inducing: s.inducing(s.Inducing)}
	c.inducing.Lengthscale = &s.Lengthscale
	if c.z, err = c.inducing.Place(ctx, t, rows); err != nil {
		return nil, err
	}
	switch n := len(rows.Classes); {
	case n < 2:
		return nil, fmt.Errorf("output = %s: all rows are of one class, and there is nothing to tell apart", s.Output)
	case n > maxClasses:
		return nil, fmt.Errorf("output = %s: it has %d different labels; at most %d classes are possible", s.Output, n,
			maxClasses)
	}
	lengthscale, err := c.inducing.Lengthscales(s.Lengthscale, rows.Asked, c.z)
	if err != nil {
		return nil, err
	}
	m, scaling, err := own.Model(c.z, lengthscale, rows.Asked, s.KernelVariance, 1, s.Jitter) // weights carry the noise
	if err != nil {
		return nil, err
	}
	c.scaling = scaling
	if s.Features == sparse.WhitenedFeatures {
		if m.Whitened, err = sparse.NewWhitening(m); err != nil {
			return nil, err
		}
	}
	kk, err := m.Bounded(s.Bound, s.AssumedSpacing())
	if err != nil {
		return nil, err
	}
	of := *s
	of.Classes = len(rows.Classes)
	if c.classifier, err = calibrateClassifier(t, &of, m, kk.NormSquared, s.method().Person.Rows()); err != nil {
		return nil, err
	}
	c.Noise.Limited, c.Update.Raise = !kk.Complete, true
	c.Update.Covariance = sparse.CovarianceCorrected // from which probabilities follow, for any setting
	return c, nil
}

// classFit has a posterior mean at the inducing inputs for each of the sources of noise and each
// class.
type classFit struct {
	*ownClassifier
	posteriors [][]*sparse.Posterior
}

// Fit is Algorithm 1 for each class.
func (c *ownClassifier) Fit(ctx context.Context, rows *method.Part, noise ...*rand.Rand) (method.Fit, error) {
	out := &classFit{c, make([][]*sparse.Posterior, len(noise))}
	x := c.scaling.Apply(rows.X)
	for class, name := range c.rows.Classes {
		s, err := c.classSums(ctx, x, rows.Labels, class)
		if err != nil {
			return nil, err
		}
		if w := c.Model.Whitened; w != nil {
			s = w.Sums(s)
		}
		for i, rng := range noise {
			of, without := c.Noise, ""
			if rng == nil {
				of, without = sparse.Noise{}, ", without noise"
			}
			p, err := c.Model.Infer(ctx, c.Engine, of.NoisyCopy(s, rng), of, c.Update)
			if err != nil {
				return nil, fmt.Errorf("class %s%s: %w", name, without, err)
			}
			if p.Raised {
				c.Engine.Warn("computed but suspect: %s", sparse.RaisedText)
			}
			out.posteriors[i] = append(out.posteriors[i], p)
		}
	}
	return out, nil
}

// Predict returns the posterior means of the classes.
func (f *classFit) Predict(ctx context.Context, x *mat.Dense) ([]method.Prediction, error) {
	at, err := sparsegp.Project(ctx, f.Engine, f.Model.Inducing, f.scaling.Apply(x))
	if err != nil {
		return nil, err
	}
	labels := classmodel.NewLabels(f.settings.Alpha, f.labels.centre)
	inverted := f.settings.Probabilities == sharesForm && labels.Inverted(len(f.rows.Classes))
	if inverted {
		at = at.Inside()
	}
	out := make([]method.Prediction, len(f.posteriors))
	for i, classes := range f.posteriors {
		var variances [][]float64
		for class, p := range classes {
			mean, variance, err := at.Predict(ctx, f.Engine, p.Mean, p.Cov)
			if err != nil {
				return nil, fmt.Errorf("class %s: %w", f.rows.Classes[class], err)
			}
			out[i].Scores, variances = append(out[i].Scores, mean), append(variances, variance)
		}
		if i == 0 { // probabilities of the fit without noise are not judged
			out[i].Probabilities = labels.Probabilities(out[i].Scores, variances, inverted)
		}
	}
	return out, nil
}

// publicMetrics follow from public settings alone.
func (c *ownClassifier) publicMetrics() publicClassMetrics {
	number, _ := c.z.Dims()
	return publicClassMetrics{ClassCount: new(float64(len(c.rows.Classes))), InducingInputs: new(float64(number)),
		NormSquared: new(c.Noise.NormSquared)}
}

func (c *ownClassifier) metrics(scores *method.Scores) classificationMetrics {
	s := &scores.Classification
	m := classificationMetrics{
		Accuracy: s.Accuracy, AccuracyWithoutNoise: &s.AccuracyWithoutNoise, AccuracyChance: s.AccuracyChance,
		Sensitivity: c.Noise.Sensitivity,
	}
	m.SigmaA, m.AccuracyLargest, m.publicClassMetrics = c.Noise.SigmaA, &s.AccuracyLargest, c.publicMetrics()
	m.UsedRows, m.DroppedRows, m.ClassMeasures = &s.UsedRows, &s.DroppedRows, s.ClassMeasures
	return m
}

// Guarantee states the protection by the released sums; nil without noise.
func (c *ownClassifier) Guarantee() *experiment.Privacy {
	privacy := c.privacy()
	if privacy == nil {
		return nil
	}
	s := c.settings.method()
	privacy.Unit = c.settings.Neighbours.Neighbours.Unit(s.Person, fmt.Sprintf("inputs (%s) and class (%s)",
		strings.Join(c.rows.Inputs, ", "), c.rows.Output))
	which := "the classes are those of the data, which a release does not take: it needs them named, output=" +
		c.rows.Output + "[a|b|c]"
	if c.rows.Named {
		which = "the classes are named in the settings; that every row is of one of them is taken as public"
		if s.Clamped() {
			which = "the classes are named in the settings"
		}
	}
	notes := []string{which,
		s.Counted(),
		"public, and so not to be read off the data: " + c.inducing.Public(c.rows.Asked) + ", the kernel, and " +
			"alpha; the guarantee does not cover choosing them by the data",
		compositionNotes[c.settings.Composition],
		fmt.Sprintf("the weights 1/sigma² of Appendix D depend on the private labels; they are at most %.4g, which "+
			"the sensitivity takes into account", slices.Max(c.classifier.labels.w[:])),
	}
	if c.Noise.Limited {
		notes = append(notes, sparse.LimitedNote)
	}
	privacy.Notes = notes
	c.settings.Neighbours.Neighbours.State(privacy)
	return privacy
}

// checkClassRelease refuses a release without a guarantee.
func checkClassRelease(s *ClassificationSettings) error {
	switch {
	case s.Dataset == s.InducingFile:
		return errors.New("inducing_file names the file of the data: inducing inputs are released as they are")
	case s.Composition != jointly:
		return errors.New("the sums of all classes are released as one query: use composition=joint")
	case table.LevelsOf(s.Output) == nil:
		return fmt.Errorf("output = %s: its classes would be those of the private rows; name them: output=%[1]s[a|b|c]",
			s.Output)
	}
	if err := s.Neighbours.Neighbours.CheckRelease(); err != nil {
		return err
	}
	if s.Probabilities == softmaxForm {
		return errors.New("probabilities=softmax is for judging: a model has shares where its alpha is not small")
	}
	_, err := mechanism.SafeFactor(mechanism.Analytic, s.Epsilon, s.Delta)
	return err
}
