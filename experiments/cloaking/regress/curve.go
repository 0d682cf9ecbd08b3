package regress

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// Curve is the prediction of heights over age, Fig. 1.
var Curve = sync.OnceValue(func() *experiment.Definition[curveSettings, curveMetrics] {
	return experiment.Of(experiment.Declaration[curveSettings, curveMetrics]{
		Name:     "cloaking/curve",
		Version:  5,
		Summary:  "predicted height over age, with the standard deviation of the privacy noise",
		Source:   "Smith, Álvarez and Lawrence 2019, Section 5.1, Fig. 1 (and a section through Fig. 2)",
		Datasets: func(*curveSettings) []string { return []string{cloak.Census} },
		Check:    checkCurve,
		Run:      runCurve,
	})
})

// checkCurve refuses what the curve of all rows of the census cannot have.
func checkCurve(s *curveSettings) error {
	if err := checkPrediction(&s.prediction, s.Method, dataset.KungFemales, noList(s.Inputs)); err != nil {
		return err
	}
	if err := checkPoints(&s.Solver, len(s.Ages), "ages"); err != nil {
		return err
	}
	if !slices.Contains(s.Ages, s.AtAge) {
		return fmt.Errorf("at_age = %g is not one of the ages", s.AtAge)
	}
	return nil
}

func runCurve(
	ctx context.Context, t *experiment.Trial, s *curveSettings,
) (*experiment.Outcome[curveMetrics], error) {
	r, err := newHeightPredictor(t, &s.prediction, s.Method, s.Inputs)
	if err != nil {
		return nil, err
	}
	test := s.points()
	predicted, err := r.single(ctx, test)
	if err != nil {
		return nil, err
	}
	series, err := r.curveSeries(s.Ages, test, predicted)
	if err != nil {
		return nil, err
	}
	at := slices.Index(s.Ages, s.AtAge)
	return &experiment.Outcome[curveMetrics]{
		Metrics: curveMetrics{
			Mean: predicted.mean[at], NoiseSD: predicted.noiseSD[at], NoiseSDMax: slices.Max(predicted.noiseSD),
			singleMetrics: predicted.metrics(r),
		},
		Series:   series,
		Privacy:  r.privacy(),
		Warnings: predicted.warnings,
	}, nil
}

// curveSeries are the curve over the ages (A) and the heights under it. Where
// [predictor.publishes] says so, noisy predictions stand in their place.
func (r *predictor) curveSeries(ages []float64, test *mat.Dense, s *single,
) (map[string]experiment.Series, error) {
	curve := experiment.Series{"x": ages, "noise_sd_cm": s.noiseSD}
	out := map[string]experiment.Series{"curve": curve}
	if r.publishes() {
		out["released"] = experiment.Series{"x": ages, "noisy_cm": s.noisy(r)}
	} else {
		curve["mean_cm"] = s.mean
		out["data"] = experiment.Series{"x": r.data.Kung.Age, "height_cm": r.data.Output}
	}
	if r.model.Method == cloak.Nonstationary {
		// The lengthscale in years: the last input is the age.
		l, err := r.model.Lengthscales.At(r.e, test)
		if err != nil {
			return nil, err
		}
		_, d := l.Dims()
		curve["lengthscale_years"] = mat.Col(nil, d-1, l)
	}
	return out, nil
}

// points returns the test inputs (A×1 or A×2), in the columns of [cloak.InputsOf].
func (s *curveSettings) points() *mat.Dense {
	if s.Inputs == cloak.Age {
		return mat.NewDense(len(s.Ages), 1, slices.Clone(s.Ages))
	}
	x := mat.NewDense(len(s.Ages), 2, nil)
	for i, age := range s.Ages {
		x.SetRow(i, []float64{s.Weight, age})
	}
	return x
}
