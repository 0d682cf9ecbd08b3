// Package baseline collects the methods of others for a user's own data, next to which those of the papers are
// compared: each at the same unit and the same (ε, δ), with the same exact noise, judged and released alike
// (package ground).
package baseline

import (
	"privkern/experiments/baseline/ebm"
	"privkern/experiments/baseline/exact"
	"privkern/experiments/baseline/forest"
	"privkern/experiments/baseline/histogram"
	"privkern/experiments/baseline/labelnoise"
	"privkern/experiments/baseline/largest"
	"privkern/experiments/baseline/logistic"
	"privkern/experiments/baseline/means"
	"privkern/experiments/baseline/response"
	"privkern/experiments/baseline/ridge"
	"privkern/experiments/baseline/sgd"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// Experiments returns the baselines.
func Experiments() experiment.Paper {
	return experiment.Paper{Name: "baseline", Experiments: []*experiment.Experiment{
		histogram.Definition.Experiment().Experiment,
		ridge.Definition.Experiment().Experiment,
		ebm.Regression.Experiment().Experiment,
		sgd.Regression.Experiment().Experiment,
		labelnoise.Definition.Experiment().Experiment,
		exact.Regression.Experiment().Experiment,

		means.Definition.Experiment().Experiment,
		logistic.Definition.Experiment().Experiment,
		forest.Definition.Experiment().Experiment,
		ebm.Classification.Experiment().Experiment,
		sgd.Classification.Experiment().Experiment,
		sgd.Digits().Experiment,
		response.Definition.Experiment().Experiment,
		largest.Definition.Experiment().Experiment,
		exact.Classification.Experiment().Experiment,
	}}
}

// Models returns the formats of their files.
func Models() []model.Format {
	return []model.Format{
		histogram.PredictFormat,
		ridge.PredictFormat,
		ebm.RegressionFormat,
		sgd.PredictRegression,
		labelnoise.PredictFormat,

		means.PredictFormat,
		logistic.PredictFormat,
		forest.PredictFormat,
		ebm.ClassificationFormat,
		sgd.PredictClassification,
		response.PredictFormat,
		largest.PredictFormat,
	}
}
