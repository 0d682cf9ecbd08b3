package ground

import (
	_ "embed"

	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[RegressionMetrics](metricsSource) }

// RegressionMetrics are those of a baseline of regressions.
type RegressionMetrics struct {
	// root mean square error at the test rows, in the unit of the output
	RMSE float64 `name:"rmse" best:"low" result:"yes"`
	// the same without noise
	RMSEWithoutNoise float64 `name:"rmse_without_noise" best:"low" result:"yes"`
	// the same of the middle of the output's range: what costs no privacy
	RMSECentre float64 `name:"rmse_centre"`
	// share of the test outputs inside the central region of 95 %, of a method that has one
	Coverage95 *float64 `name:"coverage_95"`
	method.RegressionMeasures
	method.RowCounts
	method.Clipping
}

func regressionMetrics(s *method.Scores) RegressionMetrics {
	r := &s.Regression
	out := RegressionMetrics{RMSE: r.RMSE, RMSEWithoutNoise: r.RMSEWithoutNoise, RMSECentre: r.RMSECentre,
		RegressionMeasures: r.RegressionMeasures, RowCounts: r.RowCounts, Clipping: s.Clipping}
	if s.Spread {
		out.Coverage95 = &r.Coverage95
	}
	return out
}

// taken are the names of columns of predictions.
func taken(task method.Task, classes []string) []string {
	if task == method.Classification {
		return append(model.ClassColumns(classes), model.LabelColumn)
	}
	return model.RegressionColumns
}
