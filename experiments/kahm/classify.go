package kahm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/kahm"
	"privkern/runner/experiment"
)

// labelled is a data set with classes from 0.
type labelled struct {
	train       []source // one for each class
	test        *mat.Dense
	testLabels  []int
	classes     int
	unit        string // of an entry, for the privacy block
	trainPoints int
	// matching asks for the class-matching scores of the test points, for which
	// the distances to all classes are computed instead of the smallest. Every
	// class must have training samples and test points then.
	matching bool
}

// trainingPoint returns training sample i, counted over all classes.
func (d *labelled) trainingPoint(i int) []float64 {
	for _, s := range d.train {
		n, _ := s.samples.Dims()
		if i < n {
			return s.samples.RawRowView(i)
		}
		i -= n
	}
	panic("kahm: there are fewer training samples")
}

// classification is what a classifier makes of a data set.
type classification struct {
	accuracy float64
	nearest  *kahm.Nearest
	byClass  *mat.Dense // distances to all classes, q×C; nil where they are not asked for
	took     time.Duration
}

// classify assigns every test point the class of its nearest machine (Eq. 62).
func classify(ctx context.Context, e *engine.Engine, model *built, d *labelled, progress func(done, total int, what string)) (*classification, error) {
	start := time.Now()
	nearest, err := model.ensemble.Nearest(ctx, e, d.test, kahm.Search{ByGroup: d.matching, Progress: func(done, total int) { progress(done, total, "test points") }})
	if err != nil {
		return nil, err
	}
	var byClass *mat.Dense
	if d.matching {
		byClass = nearest.Distance
		nearest = overall(nearest)
	}
	right := 0
	for i, label := range d.testLabels {
		if m := nearest.Machine[i][0]; m >= 0 && model.classes[m] == label {
			right++
		}
	}
	return &classification{float64(right) / float64(len(d.testLabels)), nearest, byClass, time.Since(start)}, nil
}

// runClassifier builds and evaluates the classifier of a trial.
func runClassifier(ctx context.Context, t *experiment.Trial, d *labelled) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	defer frugal()()
	if err := checkColumns(t.Params, d.test.RawMatrix().Cols); err != nil {
		return nil, err
	}
	b, err := newPipeline(t, e)
	if err != nil {
		return nil, err
	}
	model, err := b.build(ctx, d.train)
	if err != nil {
		return nil, err
	}
	c, err := classify(ctx, e, model, d, t.Progress)
	if err != nil {
		return nil, err
	}
	evaluations, layers := 0, 0
	for _, m := range model.machines {
		for l := range m.Layers() {
			evaluations += m.Iterations(l)
			layers++
		}
	}
	pairs, evaluated, unsafe, took := c.nearest.Pairs, c.nearest.Evaluated, c.nearest.Unsafe, c.took
	metrics := map[string]float64{
		"accuracy":                c.accuracy,
		"branches":                float64(len(model.machines)),
		"fixed_point_evaluations": float64(evaluations) / float64(layers),
		"build_s":                 model.build.Seconds(),
	}
	if b.data == dataFabricated {
		metrics["smoothing_steps_max"], metrics["fabrication_s"] = float64(model.stepsMax), model.fabrication.Seconds()
	}
	series, warnings := map[string]experiment.Series{}, []string{}
	if d.matching {
		m, err := match(c, model.classes, d)
		if err != nil {
			return nil, fmt.Errorf("class-matching score: %w", err)
		}
		metrics["auc"], metrics["balanced_accuracy"] = m.auc, m.balanced
		series["roc"] = m.roc
	}
	if t.Params.Flag("score") {
		test := finite(mat.Col(nil, 0, c.nearest.Distance))
		s, err := b.score(ctx, t, model.ensemble, d, test)
		if err != nil {
			return nil, err
		}
		pairs, evaluated, unsafe, took = pairs+s.nearest.Pairs, evaluated+s.nearest.Evaluated, unsafe+s.nearest.Unsafe, took+s.took
		if s.problem == nil {
			metrics["mis"], metrics["attack_auc"], metrics["attack_advantage"] = s.mis, s.auc, s.advantage
			series["distances"] = s.histogram
		} else {
			warnings = append(warnings, fmt.Sprintf("there is no membership-inference score: %v", s.problem))
		}
		if left := s.left + len(d.testLabels) - len(test); left > 0 {
			warnings = append(warnings, fmt.Sprintf("%d points without an image under any machine are left out of the membership-inference score", left))
		}
	}
	metrics["evaluated_fraction"], metrics["unsafe_points"] = float64(evaluated)/float64(pairs), float64(unsafe)
	metrics["test_s"] = took.Seconds()
	warnings = append(warnings, e.Warnings()...)
	if unsafe > 0 {
		warnings = append(warnings, unsafeWarning(unsafe))
	}
	return &experiment.Result{Metrics: metrics, Series: series, Privacy: privacy(t.Params, d.unit,
		len(model.machines) > len(d.train)), Warnings: warnings}, nil
}

func unsafeWarning(count int64) string {
	return fmt.Sprintf("%d distances have no image in some layer, because the sum of memberships is not safely positive (the paper's Eq. 148 fails); such a layer counts as infinitely far", count)
}

// frugal lets the heap grow by a fifth between collections, instead of doubling,
// until restore is called: machines are gigabytes without a pointer, which cost
// the collector nothing to look through.
func frugal() (restore func()) {
	before := debug.SetGCPercent(20)
	return func() { debug.SetGCPercent(before) }
}

// scored is the risk that distances tell training points from others.
type scored struct {
	mis, auc, advantage float64
	histogram           experiment.Series
	nearest             *kahm.Nearest
	left                int   // training points that are left out, because they have no image
	problem             error // why there is no score
	took                time.Duration
}

// score compares the distances of training points with those of the test
// points (Eq. 69 with o = 0).
func (b *pipeline) score(ctx context.Context, t *experiment.Trial, ensemble *kahm.Ensemble, d *labelled, test []float64) (*scored, error) {
	start := time.Now()
	points := d.trainPoints
	if t.Params.Text("score_points") != allPoints {
		points = min(points, t.Params.Int("score_points"))
	}
	chosen := t.Stream("score points").Perm(d.trainPoints)[:points]
	rows := mat.NewDense(points, d.test.RawMatrix().Cols, nil)
	for i, r := range chosen {
		rows.SetRow(i, d.trainingPoint(r))
	}
	nearest, err := ensemble.Nearest(ctx, b.e, rows, kahm.Search{Progress: func(done, total int) { b.progress(done, total, "training points") }})
	if err != nil {
		return nil, err
	}
	train := finite(mat.Col(nil, 0, nearest.Distance))
	out := &scored{nearest: nearest, took: time.Since(start), left: points - len(train)}
	out.problem = out.compare(train, test, t.Stream("density difference"))
	return out, nil
}

// compare computes the scores of two samples of distances. It returns why it
// cannot, such as a sample of equal distances.
func (s *scored) compare(train, test []float64, rng *rand.Rand) error {
	difference, err := learn.DensityDifference(train, test, rng)
	if err != nil {
		return err
	}
	s.mis = difference.L2
	// The attacker takes near points for members.
	if s.auc, err = learn.AUC(negated(train), negated(test)); err != nil {
		return err
	}
	if s.advantage, err = learn.Advantage(negated(train), negated(test)); err != nil {
		return err
	}
	s.histogram = histograms(train, test)
	return nil
}

func finite(a []float64) []float64 {
	out := make([]float64, 0, len(a))
	for _, v := range a {
		if !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	return out
}

func negated(a []float64) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = -v
	}
	return out
}

// histograms are the densities of both samples over common bins; x holds the
// middles of the bins.
func histograms(train, test []float64) experiment.Series {
	const bins = 60
	low, high := math.Inf(1), math.Inf(-1)
	for _, a := range [][]float64{train, test} {
		for _, v := range a {
			low, high = min(low, v), max(high, v)
		}
	}
	width := (high - low) / bins
	if !(width > 0) {
		width = 1
	}
	density := func(a []float64) []float64 {
		out := make([]float64, bins)
		for _, v := range a {
			out[min(bins-1, int((v-low)/width))] += 1 / (float64(len(a)) * width)
		}
		return out
	}
	x := make([]float64, bins)
	for i := range x {
		x[i] = low + (float64(i)+.5)*width
	}
	return experiment.Series{"x": x, "train": density(train), "test": density(test)}
}
