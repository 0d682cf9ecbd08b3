package nearest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// score compares the distances of training points with those of the test points (Eq. 69
// with o = 0: ∫(p_train(r) − p_test(r))² dr), and returns the cost of that. Points without an image are
// left out. A missing score is a warning with the reason.
//
// The points are drawn from all training points; their distances are to the machines of
// any class, as an attacker without labels would compute them: r_o(y) = min_c Γ_c(y)
// (Eq. 67). In a private classifier the training points are the original ones, not those
// with noise that the machines model.
func (r *evaluation) score(ctx context.Context, t *experiment.Trial, s *Score, c *classification, model *wide.Model,
	d *classData) (cost, error) {
	start := time.Now()
	points := d.trainPoints
	if !s.Points.Is(wide.All) {
		points = min(points, s.Points.Number)
	}
	chosen := t.Stream("score points").Perm(d.trainPoints)[:points]
	rows := mat.NewDense(points, d.test.RawMatrix().Cols, nil)
	for i, k := range chosen {
		rows.SetRow(i, d.trainingPoint(k))
	}
	nearest, err := model.Ensemble.Nearest(ctx, engine.Of(t.Engine), rows,
		hull.Search{Progress: func(done, total int) { t.Progress(done, total, "training points") }})
	if err != nil {
		return cost{}, err
	}
	train, test := finite(mat.Col(nil, 0, nearest.Distance)), finite(mat.Col(nil, 0, c.nearest.Distance))
	took := costOf(nearest, time.Since(start))
	if err := r.compare(train, test, s.Grid.densities(), t.Stream("density difference")); err != nil {
		r.warnings = append(r.warnings, fmt.Sprintf("there is no membership-inference score: %v", err))
	}
	if left := points - len(train) + len(d.testLabels) - len(test); left > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%d points without an image under any machine are left out of the "+
			"membership-inference score", left))
	}
	return took, nil
}

// compare computes the scores of two samples of distances. Samples of equal distances, for
// example, are an error.
//
// mis has the unit 1/distance, so that it compares at equal scales of the data only; the
// area under the curve and the advantage have none. They are reported as well because an
// attacker needs one threshold, not densities.
func (r *evaluation) compare(train, test []float64, grid learn.DensityGrid, rng *rand.Rand) error {
	difference, err := learn.DensityDifference(train, test, grid, rng)
	if err != nil {
		return err
	}
	// The attacker takes near points for members.
	auc, err := learn.AUC(negated(train), negated(test))
	if err != nil {
		return err
	}
	advantage, err := learn.Advantage(negated(train), negated(test))
	if err != nil {
		return err
	}
	r.MIS, r.AttackAUC, r.AttackAdvantage = &difference.L2, &auc, &advantage
	r.series["distances"] = histograms(train, test)
	return nil
}

// finite returns the values that are not infinite.
func finite(a []float64) []float64 {
	out := make([]float64, 0, len(a))
	for _, v := range a {
		if !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	return out
}

// negated returns −a.
func negated(a []float64) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = -v
	}
	return out
}

// histograms returns the densities of both samples over common bins of equal width; x holds
// the middles of the bins. Each integrates to one.
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
