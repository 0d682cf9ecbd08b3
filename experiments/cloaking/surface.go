package cloaking

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// transparentCM is the standard deviation of the noise from which the paper's
// Fig. 2 no longer shows a prediction.
const transparentCM = 40.0

func surface() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "cloaking/surface",
		Version: 2,
		Summary: "predicted height over weight and age, with the standard deviation of the privacy noise",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 5.2, Fig. 2",
		Params: predictionParams([]string{inputsAgeWeight},
			experiment.Param{Name: "weights", Kind: experiment.Numbers, Default: "5..60 step 5", Unit: "kg", Doc: "weights of the grid, increasing; predictions at all pairs of weight and age are released together"},
			experiment.Param{Name: "ages", Kind: experiment.Numbers, Default: "0..90 step 5", Unit: "years", Doc: "ages of the grid, increasing"},
			positive("at_weight", 50.0, "kg", "the one of these weights that noise_sd_cm and mean_cm are reported for"),
			experiment.Param{Name: "at_age", Kind: experiment.Number, Default: 60.0, Unit: "years", Min: experiment.Bound(0), Doc: "the one of these ages that noise_sd_cm and mean_cm are reported for"},
		),
		Metrics: append([]experiment.Metric{
			{Name: "mean_cm", Unit: "cm", Doc: "released part of the prediction at at_weight and at_age, without its noise, from the clipped heights"},
			{Name: "noise_sd_cm", Unit: "cm", Doc: "standard deviation of the noise at at_weight and at_age"},
			{Name: "noise_sd_median_cm", Unit: "cm", Doc: "median of the standard deviation of the noise over the grid"},
			{Name: "usable_fraction", Doc: "share of the grid at which the standard deviation of the noise is below 40 cm, where the paper's figure stops showing predictions"},
		}, singleMetrics...),
		Datasets: func(experiment.Params) []string { return []string{dataKung} },
		Check:    checkSurface,
		Run:      runSurface,
	}
}

func checkSurface(p experiment.Params) error {
	if err := checkPrediction(p, dataset.KungFemales); err != nil {
		return err
	}
	if err := checkPoints(p, "weights", "ages"); err != nil {
		return err
	}
	for _, axis := range []struct{ list, at string }{{"weights", "at_weight"}, {"ages", "at_age"}} {
		values := p.Numbers(axis.list)
		for i, v := range values[1:] {
			if v <= values[i] {
				return fmt.Errorf("%s: %g follows %g, but they must increase", axis.list, v, values[i])
			}
		}
		if !slices.Contains(values, p.Float(axis.at)) {
			return fmt.Errorf("%s = %g is not one of the %s", axis.at, p.Float(axis.at), axis.list)
		}
	}
	return nil
}

func runSurface(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	r, err := newPredictor(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.e.Close()) }()

	grid := surfaceInputs(t.Params)
	s, err := r.single(ctx, grid)
	if err != nil {
		return nil, err
	}
	weights := t.Params.Numbers("weights")
	at := slices.Index(t.Params.Numbers("ages"), t.Params.Float("at_age"))*len(weights) + slices.Index(weights, t.Params.Float("at_weight"))
	sorted := slices.Sorted(slices.Values(s.noiseSD))
	usable, _ := slices.BinarySearch(sorted, transparentCM)
	return &experiment.Result{
		Metrics: s.metrics(r, map[string]float64{
			"mean_cm":            s.mean[at],
			"noise_sd_cm":        s.noiseSD[at],
			"noise_sd_median_cm": stat.Quantile(0.5, stat.Empirical, sorted, nil),
			"usable_fraction":    float64(usable) / float64(len(sorted)),
		}),
		Series:   r.surfaceSeries(grid, s),
		Privacy:  r.privacy(),
		Warnings: s.warnings,
	}, nil
}

// surfaceInputs returns the pairs of the grid, in the columns of [inputsOf]: row
// j·W + i is the weight i of W at the age j.
func surfaceInputs(p experiment.Params) *mat.Dense {
	weights, ages := p.Numbers("weights"), p.Numbers("ages")
	x := mat.NewDense(len(weights)*len(ages), 2, nil)
	for j, age := range ages {
		for i, weight := range weights {
			x.SetRow(j*len(weights)+i, []float64{weight, age})
		}
	}
	return x
}

// surfaceSeries have the weight as x. Inputs are public; heights and predictions
// without noise are left out where [predictor.publishes] says so.
func (r *predictor) surfaceSeries(grid *mat.Dense, s *single) map[string]experiment.Series {
	surface, data := inputSeries(grid), inputSeries(r.data.inputs)
	surface["noise_sd_cm"] = s.noiseSD
	out := map[string]experiment.Series{"surface": surface, "data": data}
	if r.publishes() {
		out["released"] = inputSeries(grid)
		out["released"]["noisy_cm"] = s.noisy(r)
	} else {
		surface["mean_cm"], data["height_cm"] = s.mean, r.data.output
	}
	if s.inducing != nil {
		out["inducing"] = inputSeries(s.inducing)
	}
	return out
}

// inputSeries is a series of pairs of weight and age.
func inputSeries(x *mat.Dense) experiment.Series {
	return experiment.Series{"x": mat.Col(nil, 0, x), "age": mat.Col(nil, 1, x)}
}
