package simulated

import (
	"context"
	"fmt"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

var gaussianMechanism = experiment.Of(experiment.Declaration[*mechanismSettings, mechanismMetrics]{
	Name:     "dpgp/gaussian-mechanism",
	Version:  2,
	Summary:  "noise of the analytic Gaussian mechanism, beside that of the classical one",
	Source:   "Honkela 2021, Section 2.1; Balle and Wang 2018, Theorem 8",
	Seedless: func(*mechanismSettings) bool { return true },
	Run:      runGaussianMechanism,
})

func runGaussianMechanism(
	_ context.Context, _ *experiment.Trial, s *mechanismSettings,
) (*experiment.Outcome[mechanismMetrics], error) {
	factor, err := mechanism.AnalyticGaussian(s.Epsilon, s.Delta)
	if err != nil {
		return nil, err
	}
	out := &experiment.Outcome[mechanismMetrics]{Metrics: mechanismMetrics{
		SigmaOverSensitivity: factor, SigmaClassical: mechanism.ClassicalFormula(s.Epsilon, s.Delta),
	}}
	if s.Epsilon >= 1 {
		out.Warnings = []string{fmt.Sprintf("sigma_classical is proved for epsilon < 1 only, and epsilon is %s",
			experiment.FormatNumber(s.Epsilon))}
	}
	return out, nil
}
