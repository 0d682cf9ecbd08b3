package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// levels are the widths, in percent, of the regions whose coverage is counted.
var levels = []int{50, 80, 95, 99}

// The two covariances that are compared.
const (
	kindFull  = "full"
	kindNaive = "naive"
)

var kinds = []string{kindFull, kindNaive}

func coverageMetric(level int, kind string) string { return fmt.Sprintf("coverage_%d_%s", level, kind) }

// What is to be covered.
const (
	coverObservations = "observations"
	coverFunction     = "function"
)

func calibration() *experiment.Experiment {
	var metrics []experiment.Metric
	for _, kind := range kinds {
		of := "covariance with what the noise adds"
		if kind == kindNaive {
			of = "covariance without it"
		}
		for _, level := range levels {
			metrics = append(metrics, experiment.Metric{Name: coverageMetric(level, kind), Doc: fmt.Sprintf("share of the test points inside the central region of %d %%, %s", level, of)})
		}
	}
	metrics = append(metrics, experiment.Metric{Name: "rmse", Doc: "root mean square error of the posterior mean against the true function at the test points"})
	return &experiment.Experiment{
		Name:    "dpgp/calibration",
		Version: 2,
		Summary: "how often test points are inside central regions, with and without what the noise adds to the covariance",
		Source:  "Honkela 2021, Section 6.2, Fig. 2",
		Params: slices.Concat(budgetParams(true), experiment.When(inducingParams(15, -3.5, 3.5), []string{"low", "high"}, isCount),
			[]experiment.Param{
				count("n", 1024, 2, maxData, "observations of a function drawn from the GP, at inputs uniform on [-4, 4]; the first half is for training"),
				positive("sigma", 0.1, "standard deviation of the observation noise, taken as known"),
			},
			updateParams(2, string(sparsegp.Exact), string(sparsegp.Printed)),
			[]experiment.Param{
				choice("cover", coverObservations, "what is to be covered: test observations, with the variance of their noise, or the true function", coverObservations, coverFunction),
				count("repeats", 40, 1, maxRepeats, "functions, each drawn, observed and fitted anew; metrics are means over them"),
			}),
		Metrics: append(metrics, modelMetrics...),
		Check:   checkCalibration,
		Memory:  rowMemory(10),
		Run:     runCalibration,
	}
}

func checkCalibration(p experiment.Params) error {
	if l := p.Float("lengthscale"); l < leastLengthscale {
		return fmt.Errorf("lengthscale = %g: functions can be drawn with lengthscales from %g up", l, leastLengthscale)
	}
	return checkModel(p)
}

// covered is what one repeat gives.
type covered struct {
	fraction map[string]float64 // by metric
	rmse     float64
	clipped  int
}

func runCalibration(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	p, err := newProblem(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.e.Close()) }()
	out, err := repeated(ctx, p, p.coverOnce)
	if err != nil {
		return nil, err
	}
	each := experiment.Series{"x": make([]float64, len(out)), "rmse": make([]float64, len(out))}
	metrics, clipped := map[string]float64{}, 0
	for i, o := range out {
		each["x"][i], each["rmse"][i], clipped = float64(i), o.rmse, clipped+o.clipped
		for name, v := range o.fraction {
			if each[name] == nil {
				each[name] = make([]float64, len(out))
			}
			each[name][i] = v
		}
	}
	for name, v := range each {
		if name != "x" {
			metrics[name] = stat.Mean(v, nil)
		}
	}
	outputs := len(out) * (t.Params.Int("n") / 2)
	result = &experiment.Result{Metrics: p.metrics(metrics, clipped, outputs), Privacy: p.privacy(), Warnings: p.warnings(clipped, outputs)}
	if !p.publishes() {
		result.Series = map[string]experiment.Series{"repeats": each}
	}
	return result, nil
}

func (p *problem) coverOnce(ctx context.Context, repeat int) (covered, error) {
	params := p.t.Params
	n, sigma := params.Int("n"), params.Float("sigma")
	x := uniformInputs(n, p.t.Stream(stream("inputs", repeat)))
	f := gpFunction(x, p.model.lengthscale, p.model.variance, p.t.Stream(stream("function", repeat)))
	y := observe(f, sigma, p.t.Stream(stream("observation noise", repeat)))
	half := n / 2
	train, test := x.Slice(0, half, 0, 1).(*mat.Dense), x.Slice(half, n, 0, 1).(*mat.Dense)
	r, clipped, err := p.fit(ctx, train, y[:half], stream("mechanism", repeat))
	if err != nil {
		return covered{}, err
	}
	mean, variances, err := r.predict(ctx, p.e, test, r.Naive)
	if err != nil {
		return covered{}, err
	}
	out := covered{fraction: map[string]float64{}, clipped: clipped}
	target, extra := y[half:], sigma*sigma
	if params.Text("cover") == coverFunction {
		target, extra = f[half:], 0
	}
	for k, kind := range kinds {
		for _, level := range levels {
			width, inside := distuv.UnitNormal.Quantile(0.5+float64(level)/200), 0
			for i, v := range variances[k] {
				if math.Abs(target[i]-mean[i]) <= width*math.Sqrt(v+extra) {
					inside++
				}
			}
			out.fraction[coverageMetric(level, kind)] = float64(inside) / float64(len(target))
		}
	}
	for i, v := range f[half:] {
		out.rmse += (v - mean[i]) * (v - mean[i]) / float64(len(target))
	}
	out.rmse = math.Sqrt(out.rmse)
	return out, nil
}
