package privacygp

import (
	"context"
	"fmt"

	"privkern/experiments/privacygp/region"
	"privkern/graphs/engine"
	"privkern/graphs/linalg"
	"privkern/runner/experiment"
)

// kernelCondition is the paper's Example 3: for which (c, θ) is
// K − H = exp(−θ₀|x−y|²) − c·exp(−θ|x−y|²) positive definite?
var kernelCondition = experiment.Of(experiment.Declaration[*kernelSettings, kernelMetrics]{
	Name:     "privacygp/kernel-condition",
	Version:  2,
	Summary:  "which Gaussian kernels H are admissible privacy requirements for a Gaussian kernel K",
	Source:   source + "Example 3, Propositions 1 and 2",
	Seedless: func(*kernelSettings) bool { return true },
	Run:      runKernelCondition,
})

func runKernelCondition(
	_ context.Context, t *experiment.Trial, s *kernelSettings,
) (*experiment.Outcome[kernelMetrics], error) {
	e := engine.Of(t.Engine)
	r := region.Region{C: s.C, Theta: s.Theta, Theta0: s.Theta0, D: s.D}
	points := r.Grid()
	difference, err := r.Difference(e, points)
	if err != nil {
		return nil, err
	}
	_, values, err := linalg.PSDPart(e, difference)
	if err != nil {
		return nil, err
	}
	admissible := r.Contains()
	if s.Variant == corrected {
		admissible = admissible && r.Uniform()
	}
	warnings := e.Warnings()
	if admissible && values[0] <= 0 {
		warnings = append(warnings, fmt.Sprintf("K - H is positive definite, but its smallest eigenvalue "+
			"on the grid is lost in rounding (%.1e)", values[0]))
	}
	n, _ := points.Dims()
	return &experiment.Outcome[kernelMetrics]{
		Metrics: kernelMetrics{
			Admissible: indicator(admissible), UniformExists: indicator(r.Uniform()),
			ThetaLow: r.Low(), MinEigenvalue: values[0],
			MinSpectralRatio: r.Ratio(), GridPoints: float64(n),
		},
		Warnings: warnings,
	}, nil
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
