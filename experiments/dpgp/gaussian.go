package dpgp

import (
	"context"
	"fmt"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

func gaussianMechanism() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "dpgp/gaussian-mechanism",
		Version: 1,
		Summary: "noise of the analytic Gaussian mechanism, beside that of the classical one",
		Source:  "Honkela 2021, Section 2.1; Balle and Wang 2018, Theorem 8",
		Params:  budgetParams(false),
		Metrics: []experiment.Metric{
			{Name: "sigma_over_sensitivity", Doc: "least standard deviation of the noise over the sensitivity"},
			{Name: "sigma_classical", Doc: "the classical sqrt(2 log(1.25/delta))/epsilon, proved for epsilon < 1 only"},
		},
		Run: runGaussianMechanism,
	}
}

func runGaussianMechanism(_ context.Context, t *experiment.Trial) (*experiment.Result, error) {
	epsilon, delta := t.Params.Float("epsilon"), t.Params.Float("delta")
	factor, err := mechanism.AnalyticGaussian(epsilon, delta)
	if err != nil {
		return nil, err
	}
	out := &experiment.Result{Metrics: map[string]float64{
		"sigma_over_sensitivity": factor,
		"sigma_classical":        mechanism.ClassicalFormula(epsilon, delta),
	}}
	if epsilon >= 1 {
		out.Warnings = []string{fmt.Sprintf("sigma_classical is proved for epsilon < 1 only, and epsilon is %s", experiment.FormatNumber(epsilon))}
	}
	return out, nil
}
