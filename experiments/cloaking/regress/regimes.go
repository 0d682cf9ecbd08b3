package regress

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// Regimes measures the argument of Sections 2 and 5.3: how much points of regions with a short and
// with a long lengthscale support each other, and how outputs in a clique share a prediction.
var Regimes = experiment.Of(experiment.Declaration[*regimeSettings, regimeMetrics]{
	Name:     "cloaking/regimes",
	Version:  1,
	Summary:  "covariances within and across regions of a short and a long lengthscale, and the weights of a clique",
	Source:   "Smith, Álvarez and Lawrence 2019, Sections 2 and 5.3, Eq. (11)",
	Seedless: func(*regimeSettings) bool { return true },
	Run:      runRegimes,
})

func runRegimes(ctx context.Context, t *experiment.Trial, s *regimeSettings) (
	*experiment.Outcome[regimeMetrics], error) {
	e := engine.Of(t.Engine)
	var m regimeMetrics
	var err error
	for _, pair := range []struct {
		value       *float64
		left, right regime
	}{{&m.Short, s.short(), s.short()}, {&m.Long, s.long(), s.long()}, {&m.Across, s.short(), s.long()}} {
		if *pair.value, err = s.covariance(e, pair.left, pair.right); err != nil {
			return nil, err
		}
	}
	if s.Kernel == gibbs {
		m.BestRatio = new(bestRatio(s.Distance / s.Long))
	}
	if m.CliqueShare, m.CliqueSpread, err = s.clique(e); err != nil {
		return nil, err
	}
	return &experiment.Outcome[regimeMetrics]{Metrics: m, Warnings: e.Warnings()}, ctx.Err()
}

// regime is a region: its lengthscale, and the weight of the short function in a weighted sum.
type regime struct{ lengthscale, weight float64 }

func (s *regimeSettings) short() regime { return regime{s.Short, s.Weight} }
func (s *regimeSettings) long() regime  { return regime{s.Long, 1 - s.Weight} }

// covariance is that of two points at the distance, one of each regime, with variance one in
// the functions that it is made of.
func (s *regimeSettings) covariance(e *engine.Engine, left, right regime) (float64, error) {
	at := func(v float64) *mat.Dense { return mat.NewDense(1, 1, []float64{v}) }
	x, y := at(0), at(s.Distance)
	if s.Kernel == gibbs {
		k, err := kernel.GibbsMatrix(e, x, y, at(left.lengthscale), at(right.lengthscale), 1)
		if err != nil {
			return 0, err
		}
		return k.At(0, 0), nil
	}
	k, err := kernel.WeightedSumMatrix(e, kernel.EQ(s.Short, 1), kernel.EQ(s.Long, 1), x, y,
		[]float64{left.weight}, []float64{right.weight})
	if err != nil {
		return 0, err
	}
	return k.At(0, 0), nil
}

// bestRatio is the lengthscale l_m over l_n that maximises Eq. (11) for two points whose
// distance is d times l_n: of 2l_m·l_n/(l_m² + l_n²))^½·exp(−d²/(l_m² + l_n²)) the derivative is
// zero at l_m² = 2d² + √(4d⁴ + l_n⁴).
func bestRatio(d float64) float64 { return math.Sqrt(2*d*d + math.Sqrt(4*d*d*d*d+1)) }

// clique returns n times the mean weight of n outputs near each other in a prediction in their
// middle, and the largest difference of one of them from that mean, times n.
func (s *regimeSettings) clique(e *engine.Engine) (share, spread float64, err error) {
	n := s.Clique
	train := mat.NewDense(n, 1, nil)
	for i := range n {
		train.Set(i, 0, s.Extent*((float64(i)+0.5)/float64(n)-0.5))
	}
	gp := &cloak.Model{Hyperparameters: cloak.Hyperparameters{
		Kernel: cloak.Kernel{Lengthscale: method.LengthscalesOf(s.Long), KernelVariance: 1}, NoiseVariance: s.Noise,
	}}
	c, err := gp.Matrix(e, train, mat.NewDense(1, 1, nil))
	if err != nil {
		return 0, 0, err
	}
	row := c.RawRowView(0)
	share = floats.Sum(row)
	for _, v := range row {
		spread = max(spread, math.Abs(float64(n)*v-share))
	}
	return share, spread, nil
}
