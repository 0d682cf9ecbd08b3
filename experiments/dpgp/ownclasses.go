package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// maxClasses bounds the classes of a user's own data.
const maxClasses = 20

// completeClassification gives own data the defaults that they need: the bound of any number
// of inputs, and an update that stays positive definite.
func completeClassification(s *ClassificationSettings, given func(field any) bool) error {
	if !s.isOwn() {
		return nil
	}
	if !given(&s.Bound) {
		s.Bound = sparse.Exact
	}
	if !given(&s.Regularisation) {
		s.Regularisation = sparse.RegularisationCorrected
	}
	if !given(&s.Jitter) {
		s.Jitter = 1e-8
	}
	return release.RequireDelta(&s.Budget.Budget, given)
}

func (s *ClassificationSettings) checkOwn() error { return s.ownColumns.check(s.Inducing) }

// ownClassifier is a trial of dpgp/classification on a user's own data.
type ownClassifier struct {
	*classifier
	rows    *ownRows
	labels  []int // N, places in classes
	classes []string
	public  bool // the classes are named in the settings
	scaling sparse.Scaling
}

// newOwnClassifier reads the data and calibrates the noise.
func newOwnClassifier(t *experiment.Trial, s *ClassificationSettings) (*ownClassifier, error) {
	rows, err := s.load(t, s.Inducing, s.Lengthscale)
	if err != nil {
		return nil, err
	}
	out := &ownClassifier{rows: rows, public: rows.Public(s.Output)}
	if out.labels, out.classes, err = rows.Labels(s.Output); err != nil {
		return nil, err
	}
	switch n := len(out.classes); {
	case n < 2:
		return nil, fmt.Errorf("output = %s: all rows are of one class, and there is nothing to tell apart", s.Output)
	case n > maxClasses:
		return nil, fmt.Errorf("output = %s: it has %d different labels; at most %d classes are possible", s.Output, n,
			maxClasses)
	}
	m, scaling := own.Model(rows.z, s.Lengthscale, s.KernelVariance, 1, s.Jitter) // the weights carry the noise
	out.scaling = scaling
	kk, err := m.Bounded(s.Bound, s.spacing.value())
	if err != nil {
		return nil, err
	}
	of := *s
	of.Classes = len(out.classes)
	if out.classifier, err = calibrateClassifier(t, &of, m, kk.NormSquared); err != nil {
		return nil, err
	}
	out.Noise.Limited = !kk.Complete
	return out, nil
}

// ownAccuracy is what one split gives.
type ownAccuracy struct{ noisy, exact, chance, largest float64 }

// judgeOnce trains on some rows and tests on the others.
func (c *ownClassifier) judgeOnce(ctx context.Context, repeat int) (out ownAccuracy, err error) {
	train, test, err := c.settings.split(len(c.labels), c.Stream("split", repeat))
	if err != nil {
		return out, err
	}
	labels, want := make([]int, len(train)), make([]int, len(test))
	counts, tested := make([]int, len(c.classes)), make([]int, len(c.classes))
	for i, row := range train {
		labels[i] = c.labels[row]
		counts[labels[i]]++
	}
	for i, row := range test {
		want[i] = c.labels[row]
		tested[want[i]]++
	}
	n := float64(len(test))
	out.chance = float64(slices.Max(tested)) / n
	for class, p := range largestClass(counts, c.settings.Epsilon) {
		out.largest += p * float64(tested[class]) / n
	}
	x := c.scaling.Apply(learn.SelectRows(c.rows.X, train))
	at, err := sparsegp.Project(ctx, c.Engine, c.Model.Inducing, c.scaling.Apply(learn.SelectRows(c.rows.X, test)))
	if err != nil {
		return out, err
	}
	noise := c.Stream("mechanism", repeat)
	var noisy, exact [][]float64
	for class, name := range c.classes {
		s, err := c.classSums(ctx, x, labels, class)
		if err != nil {
			return out, err
		}
		_, mean, err := c.fitClass(ctx, at, c.Noise.NoisyCopy(s, noise), c.Noise)
		if err != nil {
			return out, fmt.Errorf("class %s: %w", name, err)
		}
		noisy = append(noisy, mean)
		if _, mean, err = c.fitClass(ctx, at, s, sparse.Noise{}); err != nil {
			return out, fmt.Errorf("class %s, without noise: %w", name, err)
		}
		exact = append(exact, mean)
	}
	out.noisy, out.exact = rightShare(largest(noisy), want), rightShare(largest(exact), want)
	return out, nil
}

// largestClass are the probabilities with which the exponential mechanism says that a class
// is the largest: a substituted row moves a count by 1.
func largestClass(counts []int, epsilon float64) []float64 {
	most, sum := slices.Max(counts), 0.0
	out := make([]float64, len(counts))
	for i, n := range counts {
		switch {
		case n == most:
			out[i] = 1
		case !math.IsInf(epsilon, 1):
			out[i] = math.Exp(epsilon * float64(n-most) / 2)
		}
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func (c *ownClassifier) publicMetrics() publicClassMetrics {
	number, _ := c.Model.Inducing.Z.Dims()
	return publicClassMetrics{ClassCount: new(float64(len(c.classes))), InducingInputs: new(float64(number)),
		NormSquared: new(c.Noise.NormSquared)}
}

func runOwnClassification(
	ctx context.Context, t *experiment.Trial, s *ClassificationSettings,
) (*experiment.Outcome[classificationMetrics], error) {
	c, err := newOwnClassifier(t, s)
	if err != nil {
		return nil, err
	}
	splits, err := sparse.Repeat(ctx, c.Problem, s.Repeats, c.judgeOnce)
	if err != nil {
		return nil, err
	}
	m := classificationMetrics{Sensitivity: c.Noise.Sensitivity}
	m.SigmaA = c.Noise.SigmaA
	exact, largest := 0.0, 0.0
	for _, o := range splits {
		k := 1 / float64(len(splits))
		m.Accuracy += k * o.noisy
		m.AccuracyChance += k * o.chance
		exact += k * o.exact
		largest += k * o.largest
	}
	m.AccuracyWithoutNoise, m.AccuracyLargest = &exact, &largest
	m.UsedRows, m.DroppedRows = new(float64(len(c.labels))), new(float64(c.rows.Dropped))
	m.publicClassMetrics = c.publicMetrics()
	privacy := c.guarantee()
	if privacy != nil {
		privacy.Notes = append([]string{"this record itself is not private: its metrics are computed from the data; what " +
			"may be published is what --release writes"},
			append(privacy.Notes, "every split (repeats) spends a budget of its own")...)
	}
	warnings := slices.Concat(c.Engine.Warnings(), c.rows.warnings(), c.suspicions(&m))
	return &experiment.Outcome[classificationMetrics]{Metrics: m, Privacy: privacy, Warnings: warnings}, nil
}

// suspicions say what is suspect about the accuracy. They depend on the data: they are for
// judging, and no part of a release.
func (c *ownClassifier) suspicions(m *classificationMetrics) []string {
	var out []string
	counts := make([]int, len(c.classes))
	for _, l := range c.labels {
		counts[l]++
	}
	var few []string
	for i, n := range counts {
		if n < 5 {
			few = append(few, fmt.Sprintf("%s (%d)", c.classes[i], n))
		}
	}
	if few != nil {
		out = append(out, "computed but suspect: there are classes with fewer than five rows, which are hardly learnt: "+
			strings.Join(few, ", "))
	}
	if m.Accuracy <= *m.AccuracyLargest {
		out = append(out, fmt.Sprintf("computed but suspect: %.3g of the test rows are right, and always to say the largest "+
			"class, chosen with the same epsilon, has %.3g; without noise it is %.3g: if that is far more, use a larger "+
			"epsilon, fewer inducing inputs, or more rows; otherwise choose lengthscale and inducing inputs anew, without "+
			"looking at the data", m.Accuracy, *m.AccuracyLargest, *m.AccuracyWithoutNoise))
	}
	if c.Noise.SigmaA > 0 {
		if s := mechanism.SuspectDelta(c.settings.Delta, len(c.labels)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// guarantee says what the released sums protect; nil without noise.
func (c *ownClassifier) guarantee() *experiment.Privacy {
	privacy := c.privacy()
	if privacy == nil {
		return nil
	}
	privacy.Unit = fmt.Sprintf("one row, inputs (%s) and class (%s), substituted by any other",
		strings.Join(c.rows.Names, ", "), c.rows.Column(c.settings.Output))
	which := "the classes are those of the data, which a release does not take: it needs them named, output=" +
		c.rows.Column(c.settings.Output) + "[a|b|c]"
	if c.public {
		which = "the classes are named in the settings; that every row is of one of them is taken as public"
	}
	notes := []string{which,
		"how many rows there are, and that each has all values, is taken as public",
		"public, and so not to be read off the data: the inducing inputs (or the range of their grid), the kernel, and " +
			"alpha; the guarantee does not cover choosing them by the data",
		compositionNotes[c.settings.Composition],
		fmt.Sprintf("the weights 1/sigma² of Appendix D depend on the private labels; they are at most %.4g, which "+
			"the sensitivity takes into account", slices.Max(c.classifier.labels.w[:])),
	}
	if c.Noise.Limited {
		notes = append(notes, sparse.LimitedNote)
	}
	privacy.Notes = notes
	return privacy
}

// checkClassRelease refuses what has no release.
func checkClassRelease(s *ClassificationSettings) error {
	switch {
	case s.Noiseless():
		return release.ErrNoNoise
	case !s.isOwn():
		return errors.New("simulated data need no release; name your own with dataset=csv:PATH")
	case s.Dataset == s.InducingFile:
		return errors.New("inducing_file names the file of the data: inducing inputs are released as they are")
	case s.Composition != jointly:
		return errors.New("the sums of all classes are released as one query: use composition=joint")
	}
	if table.LevelsOf(s.Output) == nil {
		return fmt.Errorf("output = %s: its classes would be those of the private rows; name them: output=%[1]s[a|b|c]",
			s.Output)
	}
	if err := s.spec().CheckNamed(); err != nil {
		return err
	}
	if _, err := mechanism.SafeFactor(mechanism.Analytic, s.Epsilon, s.Delta); err != nil {
		return err
	}
	return nil
}

// privateRows are the rows with their labels in the last column.
func (c *ownClassifier) privateRows() *mat.Dense {
	n, d := c.rows.X.Dims()
	out := mat.NewDense(n, d+1, nil)
	for i := range n {
		out.SetRow(i, append(slices.Clone(c.rows.X.RawRowView(i)), float64(c.labels[i])))
	}
	return out
}
