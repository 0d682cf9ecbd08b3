package simulated

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

var calibration = experiment.Of(experiment.Declaration[*calibrationSettings, calibrationMetrics]{
	Name:    "dpgp/calibration",
	Version: 4,
	Summary: "how often test points are inside central regions, with and without what the noise adds to the covariance",
	Source:  "Honkela 2021, Section 6.2, Fig. 2",
	Check:   checkCalibration,
	Memory:  func(s *calibrationSettings) int64 { return s.Memory(s.N, 10) },
	Run:     runCalibration,
})

func checkCalibration(s *calibrationSettings) error {
	if s.Lengthscale < sparse.LeastLengthscale {
		return fmt.Errorf("lengthscale = %g: functions can be drawn with lengthscales from %g up", s.Lengthscale,
			sparse.LeastLengthscale)
	}
	return s.fit().check()
}

// levels are the widths, in percent, of the regions whose coverage is counted.
var levels = []int{50, 80, 95, 99}

// kind is one of the two covariances that are compared.
type kind int

const (
	full  kind = iota // with the covariance of the noise
	naive             // without it
)

func (k kind) String() string { return [...]string{"full", "naive"}[k] }

// coverageColumn is the column of a coverage in the series of repeats.
func coverageColumn(level int, k kind) string { return fmt.Sprintf("coverage_%d_%v", level, k) }

// coverage holds the shares of one repeat.
type coverage struct {
	share   map[string]float64 // by column
	rmse    float64
	clipped int
}

func runCalibration(
	ctx context.Context, t *experiment.Trial, s *calibrationSettings,
) (*experiment.Outcome[calibrationMetrics], error) {
	p, err := newSimulation(t, s.fit())
	if err != nil {
		return nil, err
	}
	coverages, err := sparse.Repeat(ctx, p.Problem, s.Repeats, func(ctx context.Context, repeat int) (coverage, error) {
		return p.coverOnce(ctx, s.Cover, repeat)
	})
	if err != nil {
		return nil, err
	}
	n := len(coverages)
	each := experiment.Series{"x": make([]float64, n), "rmse": make([]float64, n)}
	clipped := 0
	for i, c := range coverages {
		each["x"][i], each["rmse"][i], clipped = float64(i), c.rmse, clipped+c.clipped
		for column, v := range c.share {
			if each[column] == nil {
				each[column] = make([]float64, n)
			}
			each[column][i] = v
		}
	}
	mean := func(level int, k kind) float64 { return stat.Mean(each[coverageColumn(level, k)], nil) }
	outputs := n * (s.N / 2)
	out := &experiment.Outcome[calibrationMetrics]{
		Metrics: calibrationMetrics{
			Coverage50Full: mean(50, full), Coverage50Naive: mean(50, naive),
			Coverage80Full: mean(80, full), Coverage80Naive: mean(80, naive),
			Coverage95Full: mean(95, full), Coverage95Naive: mean(95, naive),
			Coverage99Full: mean(99, full), Coverage99Naive: mean(99, naive),
			RMSE: stat.Mean(each["rmse"], nil), simulationMetrics: p.metrics(clipped, outputs),
		},
		Privacy: p.privacy(), Warnings: p.warnings(clipped, outputs),
	}
	if !p.Publishes() {
		out.Series = map[string]experiment.Series{"repeats": each}
	}
	return out, nil
}

func (s *simulation) coverOnce(ctx context.Context, what cover, repeat int) (coverage, error) {
	x := sparse.UniformInputs(s.n, s.Stream("inputs", repeat))
	f := sparse.GPFunction(x, s.Lengthscale, s.KernelVariance, s.Stream("function", repeat))
	y := sparse.Observe(f, s.Sigma, s.Stream("observation noise", repeat))
	half := s.n / 2
	train, test := x.Slice(0, half, 0, 1).(*mat.Dense), x.Slice(half, s.n, 0, 1).(*mat.Dense)
	p, clipped, err := s.posterior(ctx, train, y[:half], repeat)
	if err != nil {
		return coverage{}, err
	}
	mean, variances, err := p.Predict(ctx, s.Engine, test, p.Naive)
	if err != nil {
		return coverage{}, err
	}
	out := coverage{share: map[string]float64{}, clipped: clipped}
	target, extra := y[half:], s.Sigma*s.Sigma
	if what == coverFunction {
		target, extra = f[half:], 0
	}
	for _, k := range []kind{full, naive} {
		for _, level := range levels {
			width, inside := distuv.UnitNormal.Quantile(0.5+float64(level)/200), 0
			for i, v := range variances[k] {
				if math.Abs(target[i]-mean[i]) <= width*math.Sqrt(v+extra) {
					inside++
				}
			}
			out.share[coverageColumn(level, k)] = float64(inside) / float64(len(target))
		}
	}
	for i, v := range f[half:] {
		out.rmse += (v - mean[i]) * (v - mean[i]) / float64(len(target))
	}
	out.rmse = math.Sqrt(out.rmse)
	return out, nil
}
