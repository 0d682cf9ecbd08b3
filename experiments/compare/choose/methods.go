package choose

import (
	"context"

	"privkern/experiments/baseline/ebm"
	"privkern/experiments/baseline/forest"
	"privkern/experiments/baseline/histogram"
	"privkern/experiments/baseline/labelnoise"
	"privkern/experiments/baseline/means"
	"privkern/experiments/baseline/response"
	"privkern/experiments/baseline/ridge"
	"privkern/experiments/baseline/sgd"
	"privkern/experiments/dpgp"
	"privkern/experiments/dpgp/regression"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// planner plans a release of some of the units of a trial.
type planner func(ctx context.Context, t *experiment.Trial, unit string, units []int) (*method.Planned, error)

// planners are the methods that can be chosen, by the names of their experiments.
func planners() map[string]planner {
	return map[string]planner{
		"dpgp/regression":              regression.PlanUnits,
		"baseline/ridge":               ridge.Definition.PlanUnits,
		"baseline/histogram":           histogram.Definition.PlanUnits,
		"baseline/ebm-regression":      ebm.Regression.PlanUnits,
		"baseline/sgd-regression":      sgd.Regression.PlanUnits,
		"baseline/label-noise":         labelnoise.Definition.PlanUnits,
		"dpgp/classification":          dpgp.PlanUnitsOfClasses,
		"baseline/forest":              forest.Definition.PlanUnits,
		"baseline/ebm-classification":  ebm.Classification.PlanUnits,
		"baseline/sgd-classification":  sgd.Classification.PlanUnits,
		"baseline/class-means":         means.Definition.PlanUnits,
		"baseline/randomised-response": response.Definition.PlanUnits,
	}
}

// apart are the reasons why other methods that compare as private ones cannot be chosen.
func apart() map[string]string {
	const table = "its release is a table of predictions at the rows of the data, and predicts none that are held out"
	return map[string]string{
		"cloaking/regression":     table,
		"cloaking/classification": table,
		"baseline/logistic": "of its release (epsilon, delta) alone is known, which does not compose with others as " +
			"Gaussian noise does",
	}
}
