package regress

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/readers"
	"privkern/runner/experiment"
)

// sampledCurves is how many curves with noise are drawn, as in the authors' code for Fig. 1.
const sampledCurves = 10

// columnsOf are the columns of a matrix.
func columnsOf(m *mat.Dense) [][]float64 {
	_, n := m.Dims()
	out := make([][]float64, n)
	for j := range out {
		out[j] = mat.Col(nil, j, m)
	}
	return out
}

// Curve is the prediction of heights over age, Fig. 1.
var Curve = experiment.Of(experiment.Declaration[*curveSettings, curveMetrics]{
	Name:     "cloaking/curve",
	Version:  5,
	Summary:  "predicted height over age, with the standard deviation of the privacy noise",
	Source:   "Smith, Álvarez and Lawrence 2019, Section 5.1, Fig. 1 (and a section through Fig. 2)",
	Datasets: func(*curveSettings) []string { return []string{cloak.Census} },
	Check:    checkCurve,
	Run:      runCurve,
})

// checkCurve refuses settings that do not fit the curve of all rows of the census.
func checkCurve(s *curveSettings) error {
	if err := checkPrediction(&s.prediction, s.Method, readers.KungFemales, noList(s.Inputs)); err != nil {
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
	return r.curve(ctx, s)
}

// curve predicts heights along the inputs of a curve.
func (r *predictor) curve(ctx context.Context, s *curveSettings) (*experiment.Outcome[curveMetrics], error) {
	test := s.points()
	predicted, err := r.single(ctx, test)
	if err != nil {
		return nil, err
	}
	posterior, err := r.posteriorSD(predicted.inducing, test)
	if err != nil {
		return nil, err
	}
	at := slices.Index(s.Ages, s.AtAge)
	series, err := r.curveSeries(s.Ages, test, predicted)
	if err != nil {
		return nil, err
	}
	series["curve"]["posterior_sd_cm"] = posterior
	m := curveMetrics{
		Mean: predicted.mean[at], NoiseSD: predicted.noiseSD[at], NoiseSDMax: slices.Max(predicted.noiseSD),
		PosteriorSD: posterior[at], singleMetrics: predicted.metrics(r),
	}
	if l := series["curve"]["lengthscale_years"]; l != nil {
		m.Lengthscale = &l[at]
	}
	if s.Method == cloak.WeightedSum {
		if m.DenseShare, err = r.denseShare(predicted.matrix.RawRowView(at)); err != nil {
			return nil, err
		}
	}
	return &experiment.Outcome[curveMetrics]{
		Metrics:  m,
		Series:   series,
		Privacy:  r.privacy(),
		Warnings: predicted.warnings,
	}, nil
}

// curveSeries are the curve over the ages (A), curves with noise and the heights under them. Where
// [predictor.publishes] is true, noisy predictions replace them.
func (r *predictor) curveSeries(ages []float64, test *mat.Dense, s *single,
) (map[string]experiment.Series, error) {
	curve := experiment.Series{"x": ages, "noise_sd_cm": s.noiseSD}
	out := map[string]experiment.Series{"curve": curve}
	if r.publishes() {
		out["released"] = experiment.Series{"x": ages, "noisy_cm": s.noisy(r)}
	} else {
		curve["mean_cm"] = s.mean
		out["data"] = experiment.Series{"x": r.data.Kung.Age, "height_cm": r.data.Output}
		if s.design != nil {
			out["samples"] = experiment.Series{"x": ages}
			for j, noise := range columnsOf(s.noise(r.t.Stream("noise"), sampledCurves)) {
				out["samples"][fmt.Sprintf("draw_%d", j)] = added(s.mean, noise, 1)
			}
		}
	}
	if r.model.Method == cloak.WeightedSum {
		w, err := r.model.Lengthscales.Weights(r.e, test)
		if err != nil {
			return nil, err
		}
		curve["weight_short"] = w
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

// denseShare is how much of a prediction's weights (N, absolute values) falls to rows of the dense
// regime; nil where all weights are zero.
func (r *predictor) denseShare(weights []float64) (*float64, error) {
	w, err := r.model.Lengthscales.Weights(r.e, r.data.Inputs)
	if err != nil {
		return nil, err
	}
	dense, all := 0.0, 0.0
	for i, v := range weights {
		all += math.Abs(v)
		if w[i] >= 0.5 {
			dense += math.Abs(v)
		}
	}
	if all == 0 {
		return nil, nil
	}
	return new(dense / all), nil
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
