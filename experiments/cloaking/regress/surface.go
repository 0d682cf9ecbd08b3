package regress

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/readers"
	"privkern/runner/experiment"
)

// transparentCM is the standard deviation of the noise from which the paper's
// Fig. 2 no longer shows a prediction.
const transparentCM = 40.0

// Surface is the prediction of heights over weight and age, Fig. 2.
var Surface = experiment.Of(experiment.Declaration[*surfaceSettings, surfaceMetrics]{
	Name:     "cloaking/surface",
	Version:  3,
	Summary:  "predicted height over weight and age, with the standard deviation of the privacy noise",
	Source:   "Smith, Álvarez and Lawrence 2019, Section 5.2, Fig. 2",
	Datasets: func(*surfaceSettings) []string { return []string{cloak.Census} },
	Check:    checkSurface,
	Run:      runSurface,
})

// checkSurface refuses settings that do not fit the surface of all rows of the census. The figure's
// contours need increasing axes.
func checkSurface(s *surfaceSettings) error {
	if err := checkPrediction(&s.prediction, s.Method, readers.KungFemales, noList(s.Inputs)); err != nil {
		return err
	}
	if err := checkPoints(&s.Solver, len(s.Weights)*len(s.Ages), "weights × ages"); err != nil {
		return err
	}
	for _, axis := range []struct {
		list   string
		values []float64
		at     string
		value  float64
	}{{"weights", s.Weights, "at_weight", s.AtWeight}, {"ages", s.Ages, "at_age", s.AtAge}} {
		for i, v := range axis.values[1:] {
			if v <= axis.values[i] {
				return fmt.Errorf("%s: %g follows %g, but they must increase", axis.list, v, axis.values[i])
			}
		}
		if !slices.Contains(axis.values, axis.value) {
			return fmt.Errorf("%s = %g is not one of the %s", axis.at, axis.value, axis.list)
		}
	}
	return nil
}

func runSurface(
	ctx context.Context, t *experiment.Trial, s *surfaceSettings,
) (*experiment.Outcome[surfaceMetrics], error) {
	r, err := newHeightPredictor(t, &s.prediction, s.Method, s.Inputs)
	if err != nil {
		return nil, err
	}
	return r.surface(ctx, s)
}

// surface predicts heights on a grid of ages and weights.
func (r *predictor) surface(ctx context.Context, s *surfaceSettings) (*experiment.Outcome[surfaceMetrics], error) {
	grid := s.points()
	predicted, err := r.single(ctx, grid)
	if err != nil {
		return nil, err
	}
	at := slices.Index(s.Ages, s.AtAge)*len(s.Weights) + slices.Index(s.Weights, s.AtWeight)
	sorted := slices.Sorted(slices.Values(predicted.noiseSD))
	usable, _ := slices.BinarySearch(sorted, transparentCM)
	return &experiment.Outcome[surfaceMetrics]{
		Metrics: surfaceMetrics{
			Mean: predicted.mean[at], NoiseSD: predicted.noiseSD[at],
			NoiseOverMean: predicted.noiseSD[at] / predicted.mean[at],
			NoiseSDMedian: stat.Quantile(0.5, stat.Empirical, sorted, nil),
			Usable:        float64(usable) / float64(len(sorted)),
			singleMetrics: predicted.metrics(r),
		},
		Series:   r.surfaceSeries(grid, predicted),
		Privacy:  r.privacy(),
		Warnings: predicted.warnings,
	}, nil
}

// points returns the pairs of the grid (AW×2), in the columns of [cloak.InputsOf]: row
// j·W + i is the weight i of W at the age j.
func (s *surfaceSettings) points() *mat.Dense {
	x := mat.NewDense(len(s.Weights)*len(s.Ages), 2, nil)
	for j, age := range s.Ages {
		for i, weight := range s.Weights {
			x.SetRow(j*len(s.Weights)+i, []float64{weight, age})
		}
	}
	return x
}

// surfaceSeries have the weight as x. Inputs are public; heights and predictions without noise are
// left out where [predictor.publishes] is true.
func (r *predictor) surfaceSeries(grid *mat.Dense, s *single) map[string]experiment.Series {
	surface, data := inputSeries(grid), inputSeries(r.data.Inputs)
	surface["noise_sd_cm"] = s.noiseSD
	out := map[string]experiment.Series{"surface": surface, "data": data}
	if r.publishes() {
		out["released"] = inputSeries(grid)
		out["released"]["noisy_cm"] = s.noisy(r)
	} else {
		surface["mean_cm"], data["height_cm"] = s.mean, r.data.Output
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
