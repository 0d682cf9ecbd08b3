package privacygp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// weak is the weakly privacy-aware problem at any size.
func weak() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "privacygp/weak",
		Version: 3,
		Summary: "weakly privacy-aware noise for many sensitive inputs, with its certificate",
		Source:  source + "Eq. (10)",
		Params: append(gridParams(maxWeakPoints),
			experiment.Param{Name: "sensitive_low", Kind: experiment.Number, Default: 0.4, Doc: "the first sensitive input"},
			experiment.Param{Name: "sensitive_high", Kind: experiment.Number, Default: 0.6, Doc: "the last sensitive input"},
			experiment.Param{Name: "sensitive_count", Kind: experiment.Integer, Default: 2, Min: experiment.Bound(1), Max: experiment.Bound(60),
				Doc: "number of sensitive inputs, evenly spaced"},
			toleranceParam("xi", "privacy tolerance at every sensitive input"),
		),
		Metrics: []experiment.Metric{
			{Name: "trace_weak", Doc: "trace of the weakly privacy-aware noise covariance"},
			{Name: "gap_weak", Doc: "certified duality gap"},
			{Name: "lower_bound", Doc: "certified lower bound on the trace"},
			{Name: "max_violation", Doc: "largest shortfall of a constraint matrix from positive semi-definite"},
			{Name: "rank_weak", Doc: "rank of the noise covariance"},
			{Name: "iterations", Doc: "Newton steps"},
			{Name: "time_s", Unit: "s", Timing: true, Doc: "wall-clock time of the solver (not reproducible)"},
			{Name: "condition", Doc: "condition number of K_XX + V"},
		},
		Check:  checkWeak,
		Memory: matrixMemory(34),
		Run:    runWeak,
	}
}

// maxWeakPoints bounds the number of training inputs: with 500 of them and 60
// weakly correlated sensitive inputs the solver takes a minute, and its cost grows
// with their third power.
const maxWeakPoints = 500

func checkWeak(p experiment.Params) error {
	low, high, count := p.Float("sensitive_low"), p.Float("sensitive_high"), p.Int("sensitive_count")
	switch {
	case count > 1 && !(low < high):
		return fmt.Errorf("sensitive_low = %v is not below sensitive_high = %v: %d sensitive inputs between them would coincide or descend", low, high, count)
	case math.IsInf(high-low, 0):
		return fmt.Errorf("sensitive_low = %v and sensitive_high = %v are too far apart for floating point", low, high)
	case count > 1 && within(low, low+(high-low)/float64(count-1)):
		return fmt.Errorf("%d sensitive inputs between %v and %v coincide to rounding", count, low, high)
	}
	return checkTolerance("xi", p.Float("xi"))
}

func runWeak(ctx context.Context, t *experiment.Trial) (_ *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	v, xi := t.Params.Float("noise_variance"), t.Params.Float("xi")
	s := linspace(t.Params.Float("sensitive_low"), t.Params.Float("sensitive_high"), t.Params.Int("sensitive_count"))
	p, err := newProcess(e, t.Params.Float("theta"), v, grid(t.Params.Int("points")))
	if err != nil {
		return nil, err
	}
	cross, err := p.between(p.x, s)
	if err != nil {
		return nil, err
	}
	q := make([]float64, len(s))
	for i := range q {
		q[i] = 1 - xi
	}
	start := time.Now()
	solution, err := sdp.SolveWeak(ctx, symmetric(p.cov), cross, q, solving(t))
	if err != nil {
		return nil, err
	}
	elapsed := time.Since(start)
	if err := checkGap("the weak SDP", solution, weakGap); err != nil {
		return nil, err
	}
	rank, err := rankOf(solution.Sigma)
	if err != nil {
		return nil, err
	}
	return &experiment.Result{
		Metrics: map[string]float64{
			"trace_weak": solution.Trace, "gap_weak": solution.Gap(), "lower_bound": solution.Lower,
			"max_violation": solution.Violation, "rank_weak": float64(rank),
			"iterations": float64(solution.Iterations), "time_s": elapsed.Seconds(),
			"condition": p.condition,
		},
		Series: map[string]experiment.Series{
			"noise_variance": {"x": p.x, "weak": diagonalOf(solution.Sigma)},
		},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at %d sensitive inputs from %s to %s", experiment.FormatNumber(xi), len(s), experiment.FormatNumber(s[0]), experiment.FormatNumber(s[len(s)-1])),
			"the output at each sensitive input (prior variance 1), not their linear combinations", len(p.x), rank, v, recordHoldsNoOutputs),
		Warnings: append(p.warnings(), exactWarning(p, v, s)...),
	}, nil
}
