package nearest

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// classData is a data set with classes from 0.
type classData struct {
	train       []wide.Source // one for each class
	test        *mat.Dense    // points×columns
	testLabels  []int
	classes     int
	trainPoints int
	// privacy states the protection by noise; clustered reports whether a class has several
	// machines.
	privacy func(b *wide.Builder, clustered bool) *experiment.Privacy
	// matching asks for the class-matching scores of the test points, for which
	// the distances to all classes are computed instead of the smallest. Every
	// class must have training samples and test points then.
	matching bool
	// scored asks for the distances to all classes by a search of their own, whose cost is not counted.
	scored bool
}

// entry returns the statement of the protection of an entry of the data matrix, which unit names.
func entry(unit string) func(*wide.Builder, bool) *experiment.Privacy {
	return func(b *wide.Builder, clustered bool) *experiment.Privacy { return b.Privacy(unit, clustered) }
}

// trainingPoint returns training sample i, counted over all classes.
func (d *classData) trainingPoint(i int) []float64 {
	for _, s := range d.train {
		n, _ := s.Samples.Dims()
		if i < n {
			return s.Samples.RawRowView(i)
		}
		i -= n
	}
	panic("nearest: there are fewer training samples")
}

// classification is the result of a classifier on a data set.
type classification struct {
	machines int
	accuracy float64
	labels   []int     // of the test points, that they get; −1 for none
	right    []float64 // share of the test points of each class that get it
	nearest  *hull.Nearest
	byClass  *mat.Dense // distances to all classes, q×C; nil where they are not asked for
	took     time.Duration
}

// classify assigns every test point y the class of its nearest machine (Eq. 62):
//
//	argmin_c Γ_c(y),  Γ_c(y) = min over the machines of c of the distance (Eq. 60)
//
// A point without an image under any machine has no class and counts as wrong. Of equal
// distances the machine that comes first decides. The accuracy is a share, from 0 to 1.
func classify(ctx context.Context, t *experiment.Trial, model *wide.Model, d *classData) (*classification, error) {
	start := time.Now()
	nearest, err := model.Ensemble.Nearest(ctx, engine.Of(t.Engine), d.test, hull.Search{ByGroup: d.matching,
		Progress: func(done, total int) { t.Progress(done, total, "test points") }})
	if err != nil {
		return nil, err
	}
	var byClass *mat.Dense
	switch {
	case d.matching:
		byClass = nearest.Distance
		nearest = overall(nearest)
	case d.scored:
		all, err := model.Ensemble.Nearest(ctx, engine.Of(t.Engine), d.test, hull.Search{ByGroup: true})
		if err != nil {
			return nil, err
		}
		byClass = all.Distance
	}
	right, all, rightOf := 0, make([]float64, d.classes), make([]float64, d.classes)
	labels := make([]int, len(d.testLabels))
	for i, label := range d.testLabels {
		all[label]++
		labels[i] = -1
		if m := nearest.Machine[i][0]; m >= 0 {
			labels[i] = model.Classes[m]
		}
		if labels[i] == label {
			right++
			rightOf[label]++
		}
	}
	for label := range all {
		rightOf[label] /= all[label]
	}
	return &classification{len(model.Machines), float64(right) / float64(len(d.testLabels)), labels, rightOf,
		nearest, byClass,
		time.Since(start)}, nil
}

// balanced returns the balanced accuracy. Every class must have a test point.
func (c *classification) balanced() (mean float64) {
	for _, share := range c.right {
		mean += share / float64(len(c.right))
	}
	return mean
}

// evaluation is the outcome of a trial of one classifier, of any data.
type evaluation struct {
	ClassifierMetrics
	MatchingMetrics // where the data ask for it

	labels   []int      // of the test points, that they get
	byClass  *mat.Dense // distances of the test points to all classes, where the data ask for them
	series   map[string]experiment.Series
	privacy  *experiment.Privacy
	warnings []string
}

// evaluate builds and evaluates a classifier. It fails where the data have fewer columns than the
// machines have directions.
//
// The order is: fit, classify, class-matching, membership score. The score draws from
// named streams of its own, so that score=false changes nothing else.
func evaluate(ctx context.Context, t *experiment.Trial, data wide.Data, p *wide.Pipeline, s *Score, d *classData,
) (*evaluation, error) {
	if err := p.CheckColumns(d.test.RawMatrix().Cols); err != nil {
		return nil, err
	}
	e := engine.Of(t.Engine)
	b, err := wide.NewBuilder(t, e, data, p)
	if err != nil {
		return nil, err
	}
	defer frugal()()
	model, err := b.Build(ctx, d.train)
	if err != nil {
		return nil, err
	}
	model.Ensemble.Keep() // for all searches of the evaluation
	defer model.Ensemble.Close()
	c, err := classify(ctx, t, model, d)
	if err != nil {
		return nil, err
	}
	out := &evaluation{series: map[string]experiment.Series{}, warnings: []string{},
		privacy: d.privacy(b, c.machines > len(d.train))}
	out.Accuracy, out.Branches, out.labels = c.accuracy, float64(c.machines), c.labels
	out.byClass = c.byClass
	out.FixedPointEvaluations, out.BuildTime = meanEvaluations(model), model.BuildTime.Seconds()
	if b.Data == wide.Fabricated {
		out.SmoothingStepsMax, out.FabricationTime = new(float64(model.StepsMax)), new(model.FabricationTime.Seconds())
	}
	if d.matching {
		if err := out.match(c, d); err != nil {
			return nil, fmt.Errorf("class-matching score: %w", err)
		}
	}
	cost := costOf(c.nearest, c.took)
	if s.Score {
		more, err := out.score(ctx, t, s, c, model, d)
		if err != nil {
			return nil, err
		}
		cost = cost.plus(more)
	}
	out.EvaluatedFraction, out.UnsafePoints = float64(cost.evaluated)/float64(cost.pairs), float64(cost.unsafe)
	out.TestTime = cost.took.Seconds()
	out.warnings = append(out.warnings, e.Warnings()...)
	if cost.unsafe > 0 {
		out.warnings = append(out.warnings, unsafeWarning(cost.unsafe))
	}
	return out, nil
}

// meanEvaluations returns the mean number of evaluations of R for the fixed point of a
// layer.
func meanEvaluations(model *wide.Model) float64 {
	evaluations, layers := 0, 0
	for _, m := range model.Machines {
		for l := range m.Layers() {
			evaluations += m.Iterations(l)
			layers++
		}
	}
	return float64(evaluations) / float64(layers)
}

// cost is the cost of searches for nearest machines. It depends on the number of points and
// on the computer; their results do not.
type cost struct {
	pairs, evaluated int64 // of a point and a machine
	unsafe           int64 // distances without an image
	took             time.Duration
}

// costOf returns the cost of a search.
func costOf(n *hull.Nearest, took time.Duration) cost {
	return cost{n.Pairs, n.Evaluated, n.Unsafe, took}
}

// plus returns the sum of two costs.
func (c cost) plus(d cost) cost {
	return cost{c.pairs + d.pairs, c.evaluated + d.evaluated, c.unsafe + d.unsafe, c.took + d.took}
}

// unsafeWarning returns the warning of distances without an image.
func unsafeWarning(count int64) string {
	return fmt.Sprintf("%d distances have no image in some layer, because the sum of memberships is not safely positive "+
		"(the paper's Eq. 148 fails); such a layer counts as infinitely far", count)
}

// frugal lets the heap grow by a fifth between collections, instead of doubling, until
// restore is called. Collections are cheap, because machines are gigabytes without a
// pointer.
func frugal() (restore func()) {
	before := debug.SetGCPercent(20)
	return func() { debug.SetGCPercent(before) }
}
