// Package baseline collects the methods of others for a user's own data, next to which those of the papers are
// compared: each at the same unit and the same (ε, δ), with the same exact noise, judged and released alike (package ground).
package baseline

import (
	"privkern/experiments/baseline/exact"
	"privkern/experiments/baseline/forest"
	"privkern/experiments/baseline/histogram"
	"privkern/experiments/baseline/labelnoise"
	"privkern/experiments/baseline/largest"
	"privkern/experiments/baseline/ebm"
	"privkern/experiments/baseline/means"
	"privkern/experiments/baseline/response"
	"privkern/experiments/baseline/sgd"
	"privkern/experiments/baseline/logistic"
	"privkern/experiments/baseline/means"
	"privkern/experiments/baseline/ridge"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// Experiments returns the baselines.
func Experiments() experiment.Paper {
	return experiment.Paper{Name: "baseline", Experiments: []*experiment.Experiment{
		forest.Experiment().Experiment,
		histogram.Experiment().Experiment,
		means.Experiment().Experiment,
		labelnoise.Experiment().Experiment,
		largest.Experiment().Experiment,
		exact.Regression().Experiment,
		exact.Classification().Experiment,
		response.Experiment().Experiment,
		ebm.Regression().Experiment, ebm.Classification().Experiment,
		sgd.Classification().Experiment,
		sgd.Regression().Experiment,
		logistic.Experiment().Experiment,
		ridge.Experiment().Experiment,
	}}
}

// Models returns the formats of their files.
func Models() []model.Format {
	return []model.Format{
		forest.PredictFormat,
		histogram.PredictFormat,
		means.PredictFormat,
		labelnoise.PredictFormat,
		largest.PredictFormat,
		response.PredictFormat,
		ebm.RegressionFormat, ebm.ClassificationFormat,
		sgd.PredictClassification,
		sgd.PredictRegression,
		logistic.PredictFormat,
		ridge.PredictFormat,
	}
}
