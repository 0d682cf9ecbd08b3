package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

func inference() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "dpgp/inference",
		Version: 2,
		Summary: "a noisy function, inferred with protection of inputs and outputs",
		Source:  "Honkela 2021, Section 6.1, Fig. 1, Algorithm 1",
		Params: slices.Concat(budgetParams(true), inducingParams(9, -3, 3),
			[]experiment.Param{
				count("n", 1024, 1, maxData, "observations of sin(2x)/(2x), at inputs uniform on [-4, 4]"),
				positive("sigma", 0.1, "standard deviation of the observation noise, taken as known"),
			},
			updateParams(1, string(sparsegp.Exact), string(sparsegp.Printed), covarianceNaive),
			[]experiment.Param{count("repeats", 1, 1, maxRepeats, "data sets, each simulated and fitted anew; metrics are means over them, the series are of the first")}),
		Metrics: append([]experiment.Metric{
			{Name: "rmse", Doc: "root mean square error of the posterior mean against the true function, on a grid from low to high"},
			{Name: "coverage_2sd", Doc: "share of that grid on which the true function is within two posterior standard deviations of the mean"},
			{Name: "mean_sd", Doc: "mean of the posterior standard deviation on that grid"},
		}, modelMetrics...),
		Check:  checkModel,
		Memory: rowMemory(5),
		Run:    runInference,
	}
}

// gridPoints is how many points the grids of Fig. 1 have.
const gridPoints = 121

// grid returns points (gridPoints×1) from low to high.
func grid(low, high float64) *mat.Dense {
	x := mat.NewDense(gridPoints, 1, nil)
	for i := range gridPoints {
		x.Set(i, 0, low+(high-low)*float64(i)/(gridPoints-1))
	}
	return x
}

// inferred is what one data set of Section 6.1 gives.
type inferred struct {
	rmse, coverage, sd float64
	clipped            int
	series             map[string]experiment.Series // of the first
}

func runInference(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	p, err := newProblem(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.e.Close()) }()
	out, err := repeated(ctx, p, p.inferOnce)
	if err != nil {
		return nil, err
	}
	var rmse, coverage, sd float64
	clipped := 0
	for _, o := range out {
		rmse, coverage, sd, clipped = rmse+o.rmse, coverage+o.coverage, sd+o.sd, clipped+o.clipped
	}
	k, outputs := float64(len(out)), len(out)*t.Params.Int("n")
	return &experiment.Result{
		Metrics:  p.metrics(map[string]float64{"rmse": rmse / k, "coverage_2sd": coverage / k, "mean_sd": sd / k}, clipped, outputs),
		Series:   out[0].series,
		Privacy:  p.privacy(),
		Warnings: p.warnings(clipped, outputs),
	}, nil
}

// repeated runs the repeats of a trial, each with streams of its own, so that
// their order does not matter, and returns what each gives.
func repeated[T any](ctx context.Context, p *problem, once func(ctx context.Context, repeat int) (T, error)) ([]T, error) {
	out := make([]T, p.t.Params.Int("repeats"))
	progress := newCounter(len(out), p.t.Progress)
	err := p.e.ParallelFor(ctx, len(out), 1, func(i, _ int) (err error) {
		if out[i], err = once(ctx, i); err != nil {
			if len(out) > 1 {
				return fmt.Errorf("repeat %d of %d: %w", i+1, len(out), err)
			}
			return err
		}
		progress.done()
		return nil
	})
	return out, err
}

// stream names the random stream of one purpose in one repeat.
func stream(purpose string, repeat int) string { return fmt.Sprintf("%s, repeat %d", purpose, repeat) }

// values are those of a function at the rows of x (n×1).
func values(f func(float64) float64, x *mat.Dense) []float64 {
	out := mat.Col(nil, 0, x)
	for i, v := range out {
		out[i] = f(v)
	}
	return out
}

func (p *problem) inferOnce(ctx context.Context, repeat int) (inferred, error) {
	params := p.t.Params
	x := uniformInputs(params.Int("n"), p.t.Stream(stream("inputs", repeat)))
	y := observe(values(sinc, x), params.Float("sigma"), p.t.Stream(stream("observation noise", repeat)))
	r, clipped, err := p.fit(ctx, x, y, stream("mechanism", repeat))
	if err != nil {
		return inferred{}, err
	}
	if params.Text("covariance") == covarianceNaive {
		r.Cov = r.Naive
	}
	inside := grid(params.Float("low"), params.Float("high"))
	mean, variances, err := r.predict(ctx, p.e, inside)
	if err != nil {
		return inferred{}, err
	}
	out := inferred{clipped: clipped}
	for i, truth := range values(sinc, inside) {
		sd, miss := math.Sqrt(variances[0][i]), math.Abs(truth-mean[i])
		out.rmse += miss * miss / gridPoints
		out.sd += sd / gridPoints
		if miss <= 2*sd {
			out.coverage++
		}
	}
	out.coverage /= gridPoints
	out.rmse = math.Sqrt(out.rmse)
	if repeat == 0 {
		out.series, err = p.inferenceSeries(ctx, r, x, y)
	}
	return out, err
}

// inferenceSeries show the posterior over all inputs. What is computed from the
// posterior is as private as it is; the data are left out where
// [problem.publishes] says so.
func (p *problem) inferenceSeries(ctx context.Context, r *released, x *mat.Dense, y []float64) (map[string]experiment.Series, error) {
	all := grid(inputsLow, inputsHigh)
	mean, variances, err := r.predict(ctx, p.e, all)
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
	at := make([]float64, len(r.Mean))
	for i := range at {
		at[i] = r.Cov.At(i, i)
	}
	out := map[string]experiment.Series{
		"posterior": {"x": mat.Col(nil, 0, all), "truth": values(sinc, all), "mean": mean, "sd": roots(variances[0])},
		"inducing":  {"x": mat.Col(nil, 0, r.model.inducing.Z), "mean": r.Mean, "sd": roots(at)},
	}
	if !p.publishes() {
		out["data"] = experiment.Series{"x": mat.Col(nil, 0, x), "y": y}
	}
	return out, nil
}
