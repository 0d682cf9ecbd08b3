package simulated

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

var inference = experiment.Of(experiment.Declaration[*inferenceSettings, inferenceMetrics]{
	Name:    "dpgp/inference",
	Version: 4,
	Summary: "a noisy function, inferred with protection of inputs and outputs",
	Source:  "Honkela 2021, Section 6.1, Fig. 1, Algorithm 1",
	Check:   func(s *inferenceSettings) error { return s.fit().check() },
	Memory:  func(s *inferenceSettings) int64 { return s.Memory(s.N, 5) },
	Run:     runInference,
})

// curve holds the results of one data set of Section 6.1.
type curve struct {
	rmse, coverage, sd float64
	clipped            int
	series             map[string]experiment.Series // of the first
}

func runInference(
	ctx context.Context, t *experiment.Trial, s *inferenceSettings,
) (*experiment.Outcome[inferenceMetrics], error) {
	p, err := newSimulation(t, s.fit())
	if err != nil {
		return nil, err
	}
	curves, err := sparse.Repeat(ctx, p.Problem, s.Repeats, p.inferOnce)
	if err != nil {
		return nil, err
	}
	var rmse, coverage, sd float64
	clipped := 0
	for _, c := range curves {
		rmse, coverage, sd, clipped = rmse+c.rmse, coverage+c.coverage, sd+c.sd, clipped+c.clipped
	}
	k, outputs := float64(len(curves)), len(curves)*s.N
	return &experiment.Outcome[inferenceMetrics]{
		Metrics: inferenceMetrics{RMSE: rmse / k, Coverage2SD: coverage / k, MeanSD: sd / k,
			simulationMetrics: p.metrics(clipped, outputs)},
		Series:   curves[0].series,
		Privacy:  p.privacy(),
		Warnings: p.warnings(clipped, outputs),
	}, nil
}

func (s *simulation) inferOnce(ctx context.Context, repeat int) (curve, error) {
	x := sparse.UniformInputs(s.n, s.Stream("inputs", repeat))
	y := sparse.Observe(sparse.Values(sparse.Sinc, x), s.Sigma, s.Stream("observation noise", repeat))
	p, clipped, err := s.posterior(ctx, x, y, repeat)
	if err != nil {
		return curve{}, err
	}
	inside := sparse.Grid(s.Low, s.High)
	mean, variances, err := p.Predict(ctx, s.Engine, inside)
	if err != nil {
		return curve{}, err
	}
	out := curve{clipped: clipped}
	for i, truth := range sparse.Values(sparse.Sinc, inside) {
		sd, miss := math.Sqrt(variances[0][i]), math.Abs(truth-mean[i])
		out.rmse += miss * miss / sparse.GridPoints
		out.sd += sd / sparse.GridPoints
		if miss <= 2*sd {
			out.coverage++
		}
	}
	out.coverage /= sparse.GridPoints
	out.rmse = math.Sqrt(out.rmse)
	if repeat == 0 {
		out.series, err = s.posteriorSeries(ctx, p, x, y)
	}
	return out, err
}

// posteriorSeries holds the posterior over all inputs. Functions of the posterior are as private as
// it is; the data are left out where [sparse.Problem.Publishes] is true.
func (s *simulation) posteriorSeries(
	ctx context.Context, p *sparse.Posterior, x *mat.Dense, y []float64,
) (map[string]experiment.Series, error) {
	all := sparse.Grid(sparse.InputsLow, sparse.InputsHigh)
	mean, variances, err := p.Predict(ctx, s.Engine, all)
	if err != nil {
		return nil, err
	}
	roots := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			out[i] = math.Sqrt(v[i])
		}
		return out
	}
	at := make([]float64, len(p.Mean))
	for i := range at {
		at[i] = p.Cov.At(i, i)
	}
	out := map[string]experiment.Series{
		"posterior": {
			"x": mat.Col(nil, 0, all), "truth": sparse.Values(sparse.Sinc, all), "mean": mean, "sd": roots(variances[0]),
		},
		"inducing": {"x": mat.Col(nil, 0, p.Model.Inducing.Z), "mean": p.Mean, "sd": roots(at)},
	}
	if !s.Publishes() {
		out["data"] = experiment.Series{"x": mat.Col(nil, 0, x), "y": y}
	}
	return out, nil
}
