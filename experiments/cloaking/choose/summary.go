package choose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/runner/experiment"
)

// nearBest is how near "within 30 %" of the best is.
const nearBest = 1.3

// summarise reports errors, probabilities and the chosen configuration.
func (s *selector) summarise(models []evaluation, c *choice) *experiment.Outcome[selectionMetrics] {
	series := s.series(models, c)
	rmse := series["rmse_cm"]
	best := slices.Min(rmse)
	m := selectionMetrics{
		byConfiguration: s.byConfiguration(c, series),
		ExpectedRMSE:    stat.Mean(rmse, c.probability),
		MeanRMSE:        stat.Mean(rmse, nil),
		BestRMSE:        best,
		BestProbability: c.probability[slices.Index(rmse, best)],
		boundMetrics:    boundMetrics{Sensitivity: c.sensitivity, Configurations: float64(len(rmse))},
		TrainingRows:    float64(s.fewestTrainingRows()),
		modelMetrics:    modelMetrics{Distinct: float64(len(s.grid.distinct))},

		SelectedLengthscale:    c.selected.lengthscale,
		SelectedNoiseVariance:  c.selected.noise,
		SelectedKernelVariance: c.selected.kernel,
		ClippedHeights:         cloak.ClippedHeights{ClippedHeights: new(float64(s.data.Clipped))},
	}
	for i, v := range rmse {
		if v <= nearBest*best {
			m.NearBest++
		}
		m.Kept += series["kept"][i]
	}
	if holdout := series["holdout_rmse_cm"]; holdout != nil {
		m.ExpectedHoldoutRMSE = new(stat.Mean(holdout, c.probability))
	}
	if s.scale > 0 {
		m.Gap = new(largestGap(models))
		m.TotalEpsilon = new(s.settings.SelectionEpsilon + s.settings.Epsilon)
	}
	return &experiment.Outcome[selectionMetrics]{
		Metrics:  m,
		Series:   map[string]experiment.Series{"configurations": series},
		Privacy:  s.privacy(),
		Warnings: s.warnings(models),
	}
}

// series lists the configurations by number, as in the grid.
func (s *selector) series(models []evaluation, c *choice) experiment.Series {
	column := func(value func(i int, c configuration, m *evaluation) float64) []float64 {
		out := make([]float64, len(s.grid.configurations))
		for i, c := range s.grid.configurations {
			out[i] = value(i, c, &models[s.grid.of[i]])
		}
		return out
	}
	out := experiment.Series{
		"x":               column(func(i int, _ configuration, _ *evaluation) float64 { return float64(i) }),
		"lengthscale":     column(func(_ int, c configuration, _ *evaluation) float64 { return c.lengthscale }),
		"noise_variance":  column(func(_ int, c configuration, _ *evaluation) float64 { return c.noise }),
		"kernel_variance": column(func(_ int, c configuration, _ *evaluation) float64 { return c.kernel }),
		"probability":     slices.Clone(c.probability),
		"rmse_cm": column(func(_ int, _ configuration, m *evaluation) float64 {
			return s.d * math.Sqrt(m.sse()/float64(len(s.rows)))
		}),
		"sse_over_d2":         column(func(_ int, _ configuration, m *evaluation) float64 { return m.sse() }),
		"noise_over_d2":       column(func(_ int, _ configuration, m *evaluation) float64 { return m.noise }),
		"sensitivity_over_d2": column(func(_ int, _ configuration, m *evaluation) float64 { return m.sensitivity }),
		"kept": column(func(i int, _ configuration, _ *evaluation) float64 {
			if c.kept[i] {
				return 1
			}
			return 0
		}),
	}
	if len(s.heldOut) > 0 {
		out["holdout_rmse_cm"] = column(func(_ int, _ configuration, m *evaluation) float64 {
			return s.d * math.Sqrt(m.holdout/float64(len(s.heldOut)))
		})
	}
	return out
}

// byConfiguration names the columns of the series by configuration.
func (s *selector) byConfiguration(c *choice, series experiment.Series) byConfiguration {
	out := byConfiguration{LengthscaleProbability: map[string]float64{}}
	named := func(values []float64) map[string]float64 {
		if values == nil {
			return nil
		}
		out := map[string]float64{}
		for i, c := range s.grid.configurations {
			out[c.name()] = values[i]
		}
		return out
	}
	out.Probability, out.RMSE = named(c.probability), named(series["rmse_cm"])
	out.HoldoutRMSE = named(series["holdout_rmse_cm"])
	for i, p := range c.probability {
		out.LengthscaleProbability[nameOf(s.grid.configurations[i].lengthscale)] += p
	}
	return out
}

func (s *selector) fewestTrainingRows() int {
	fewest := len(s.rows)
	for _, f := range s.folds {
		fewest = min(fewest, len(f.Train))
	}
	return fewest
}

// largestGap is the largest certificate over models and folds.
func largestGap(models []evaluation) float64 {
	gap := 0.0
	for i := range models {
		for _, d := range models[i].designs {
			gap = max(gap, d.Gap)
		}
	}
	return gap
}
