package cloaking

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

func curve() *experiment.Experiment {
	params := []experiment.Param{
		choice("inputs", inputsAge, "what heights are predicted from", inputsAge, inputsAgeWeight),
		choice("method", methodStandard, "GP, sparse GP (FITC), or GP with Gibbs' nonstationary kernel", methodStandard, methodSparse, methodNonstationary),
		{Name: "ages", Kind: experiment.Numbers, Default: "0..110 step 2", Unit: "years", Doc: "ages at which predictions are released together"},
		positive("weight_kg", 50.0, "kg", "inputs age+weight: the weight at all of these ages"),
		{Name: "at_age", Kind: experiment.Number, Default: 60.0, Unit: "years", Min: experiment.Bound(0), Doc: "the one of these ages that noise_sd_cm and mean_cm are reported for"},
	}
	params = append(params, mechanismParams()...)
	params = append(params, hyperparameters()...)
	params = append(params, count("inducing", 5, 1, "sparse: number of inducing inputs, placed by k-means"))
	params = append(params, nonstationaryParams()...)
	params = append(params, solverParams()...)
	return &experiment.Experiment{
		Name:    "cloaking/curve",
		Version: 1,
		Summary: "predicted height over age, with the standard deviation of the privacy noise",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 5.1, Fig. 1 (and a section through Fig. 2)",
		Params:  params,
		Metrics: []experiment.Metric{
			{Name: "mean_cm", Unit: "cm", Doc: "prediction without noise at at_age"},
			{Name: "noise_sd_cm", Unit: "cm", Doc: "standard deviation of the noise at at_age"},
			{Name: "noise_sd_max_cm", Unit: "cm", Doc: "largest standard deviation of the noise over the ages"},
			{Name: "gap", Doc: "certificate: log-determinant of the noise covariance above the optimum, in nats (with noise only)"},
		},
		Datasets: func(experiment.Params) []string { return []string{dataKung} },
		Check:    checkCurve,
		Run:      runCurve,
	}
}

func checkCurve(p experiment.Params) error {
	if _, err := noiseFactor(p); err != nil {
		return err
	}
	ages := p.Numbers("ages")
	switch {
	case !slices.Contains(ages, p.Float("at_age")):
		return fmt.Errorf("at_age = %g is not one of the ages", p.Float("at_age"))
	case rankOf(p) > len(ages):
		return fmt.Errorf("rank = %d: there are only %d ages", rankOf(p), len(ages))
	case p.Text("method") == methodSparse && p.Int("inducing") > kungFemales:
		return fmt.Errorf("inducing = %d: there are only %d training rows", p.Int("inducing"), kungFemales)
	}
	return nil
}

func runCurve(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	p := t.Params
	data, err := loadCensus(t.Dataset(dataKung), p)
	if err != nil {
		return nil, err
	}
	factor, err := noiseFactor(p)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()

	m := modelOf(p, data.inputs)
	if m.method == methodSparse {
		if m.inducing, err = clusterInducing(data.inputs, p.Int("inducing"), t.Stream("k-means")); err != nil {
			return nil, err
		}
	}
	ages := p.Numbers("ages")
	test := curveInputs(p, ages)
	c, err := m.matrix(e, data.inputs, test)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(data.height))
	for i := range all {
		all[i] = i
	}
	mean, sd := data.predict(c, all), make([]float64, len(ages))
	metrics := map[string]float64{}
	if factor > 0 {
		r, d, err := solveDesign(ctx, e, c, p)
		if err != nil {
			return nil, err
		}
		mean, sd = released(r, mean, data.prior), noiseSD(d, factor*p.Float("sensitivity_cm"))
		metrics["gap"] = d.Gap
	}
	at := slices.Index(ages, p.Float("at_age"))
	metrics["mean_cm"], metrics["noise_sd_cm"], metrics["noise_sd_max_cm"] = mean[at], sd[at], slices.Max(sd)

	series := experiment.Series{"x": ages, "mean_cm": mean, "noise_sd_cm": sd}
	if m.method == methodNonstationary {
		// The lengthscale in years: the last input is the age.
		l := m.lengthscales.at(test)
		_, d := l.Dims()
		series["lengthscale_years"] = mat.Col(nil, d-1, l)
	}
	return &experiment.Result{
		Metrics:  metrics,
		Series:   map[string]experiment.Series{"curve": series, "data": {"x": data.kung.Age, "height_cm": data.height}},
		Privacy:  privacyOf(p, data.clippingNote()),
		Warnings: e.Warnings(),
	}, nil
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
