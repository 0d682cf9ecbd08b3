package privacygp

import (
	"context"
	"fmt"
	"time"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// weak is the weakly privacy-aware problem at any size.
var weak = experiment.Of(experiment.Declaration[*weakSettings, weakMetrics]{
	Name:     "privacygp/weak",
	Version:  5,
	Summary:  "weakly privacy-aware noise for many sensitive inputs, with its certificate",
	Source:   source + "Eq. (10)",
	Seedless: func(*weakSettings) bool { return true },
	Check:    checkWeak,
	Memory:   func(s *weakSettings) int64 { return matrixMemory(34, s.Points) },
	Run:      runWeak,
})

func checkWeak(s *weakSettings) error {
	if err := checkSensitive("sensitive_", s.SensitiveLow, s.SensitiveHigh, s.SensitiveCount); err != nil {
		return err
	}
	return checkTolerance("xi", s.Xi)
}

func runWeak(
	ctx context.Context, t *experiment.Trial, settings *weakSettings,
) (*experiment.Outcome[weakMetrics], error) {
	s := linspace(settings.SensitiveLow, settings.SensitiveHigh, settings.SensitiveCount)
	p, err := process.New(engine.Of(t.Engine), settings.Theta, settings.NoiseVariance, grid(settings.Points))
	if err != nil {
		return nil, err
	}
	cross, err := p.Between(p.X, s)
	if err != nil {
		return nil, err
	}
	q := make([]float64, len(s))
	for i := range q {
		q[i] = 1 - settings.Xi
	}
	start := time.Now()
	solution, err := sdp.SolveWeak(ctx, p.Covariance(), cross, q, solving(t))
	if err != nil {
		return nil, err
	}
	elapsed := time.Since(start)
	if err := checkGap("the weak SDP", solution, weakGap); err != nil {
		return nil, err
	}
	rank, err := process.RankOf(solution.Sigma)
	if err != nil {
		return nil, err
	}
	return &experiment.Outcome[weakMetrics]{
		Metrics: weakMetrics{
			Trace: solution.Trace, Gap: solution.Gap(), LowerBound: solution.Lower,
			MaxViolation: solution.Violation, Rank: float64(rank),
			Iterations: float64(solution.Iterations), Time: elapsed.Seconds(),
			conditioning: conditioning{p.Condition},
		},
		Series: map[string]experiment.Series{
			"noise_variance": {"x": p.X, weakly.String(): diagonalOf(solution.Sigma)},
		},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at %d sensitive inputs from %s to %s", experiment.FormatNumber(settings.Xi),
				len(s), experiment.FormatNumber(s[0]), experiment.FormatNumber(s[len(s)-1])),
			"the output at each sensitive input (prior variance 1), not their linear combinations",
			len(p.X), rank, settings.NoiseVariance, recordHoldsNoOutputs),
		Warnings: append(p.Warnings(), exactWarning(p, settings.NoiseVariance, s)...),
	}, nil
}
