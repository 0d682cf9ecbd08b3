package cloaking

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

func curve() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "cloaking/curve",
		Version: 4,
		Summary: "predicted height over age, with the standard deviation of the privacy noise",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 5.1, Fig. 1 (and a section through Fig. 2)",
		Params: predictionParams([]string{inputsAge, inputsAgeWeight},
			experiment.Param{Name: "ages", Kind: experiment.Numbers, Default: "0..110 step 2", Unit: "years", Doc: "ages at which predictions are released together"},
			positive("weight_kg", 50.0, "kg", "inputs age+weight: the weight at all of these ages").
				Where(experiment.Is("inputs", inputsAgeWeight)),
			experiment.Param{Name: "at_age", Kind: experiment.Number, Default: 60.0, Unit: "years", Min: experiment.Bound(0), Doc: "the one of these ages that noise_sd_cm and mean_cm are reported for"},
		),
		Metrics: append([]experiment.Metric{
			{Name: "mean_cm", Unit: "cm", Doc: "released part of the prediction at at_age, without its noise, from the clipped heights"},
			{Name: "noise_sd_cm", Unit: "cm", Doc: "standard deviation of the noise at at_age"},
			{Name: "noise_sd_max_cm", Unit: "cm", Doc: "largest standard deviation of the noise over the ages"},
		}, singleMetrics...),
		Datasets: func(experiment.Params) []string { return []string{dataKung} },
		Check:    checkCurve,
		Run:      runCurve,
	}
}

func checkCurve(p experiment.Params) error {
	if err := checkPrediction(p, dataset.KungFemales); err != nil {
		return err
	}
	if err := checkPoints(p, "ages"); err != nil {
		return err
	}
	if !slices.Contains(p.Numbers("ages"), p.Float("at_age")) {
		return fmt.Errorf("at_age = %g is not one of the ages", p.Float("at_age"))
	}
	return nil
}

func runCurve(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	r, err := newPredictor(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.e.Close()) }()

	ages := t.Params.Numbers("ages")
	test := curveInputs(t.Params, ages)
	s, err := r.single(ctx, test)
	if err != nil {
		return nil, err
	}
	at := slices.Index(ages, t.Params.Float("at_age"))
	return &experiment.Result{
		Metrics: s.metrics(r, map[string]float64{
			"mean_cm":         s.mean[at],
			"noise_sd_cm":     s.noiseSD[at],
			"noise_sd_max_cm": slices.Max(s.noiseSD),
		}),
		Series:   r.curveSeries(ages, test, s),
		Privacy:  r.privacy(),
		Warnings: s.warnings,
	}, nil
}

func (r *predictor) curveSeries(ages []float64, test *mat.Dense, s *single) map[string]experiment.Series {
	curve := experiment.Series{"x": ages, "noise_sd_cm": s.noiseSD}
	out := map[string]experiment.Series{"curve": curve}
	if r.publishes() {
		out["released"] = experiment.Series{"x": ages, "noisy_cm": s.noisy(r)}
	} else {
		curve["mean_cm"] = s.mean
		out["data"] = experiment.Series{"x": r.data.kung.Age, "height_cm": r.data.output}
	}
	if r.model.method == methodNonstationary {
		// The lengthscale in years: the last input is the age.
		l := r.model.lengthscales.at(test)
		_, d := l.Dims()
		curve["lengthscale_years"] = mat.Col(nil, d-1, l)
	}
	return out
}

// curveInputs returns the test inputs, in the columns of [inputsOf].
func curveInputs(p experiment.Params, ages []float64) *mat.Dense {
	if p.Text("inputs") == inputsAge {
		return mat.NewDense(len(ages), 1, slices.Clone(ages))
	}
	x := mat.NewDense(len(ages), 2, nil)
	for i, age := range ages {
		x.SetRow(i, []float64{p.Float("weight_kg"), age})
	}
	return x
}
