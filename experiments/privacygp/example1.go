package privacygp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// example1 is the paper's Example 1 and Figure 1: one sensitive input, the
// optimal noise beside independent noise and none.
func example1() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "privacygp/example1",
		Version: 3,
		Summary: "one sensitive input: optimal noise, independent noise, no noise",
		Source:  source + "Example 1, Figure 1",
		Params: append(gridParams(maxPoints),
			experiment.Param{Name: "s", Kind: experiment.Number, Default: 0.5, Doc: "the sensitive input"},
			toleranceParam("xi", "privacy tolerance: the predictive variance at s must not be below it"),
		),
		Metrics: []experiment.Metric{
			{Name: "trace_optimal", Doc: "trace of the optimal noise covariance, Eq. (8)"},
			{Name: "rank_optimal", Doc: "its rank"},
			{Name: "trace_diagonal", Doc: "trace of the least diagonal noise covariance"},
			{Name: "gap_diagonal", Doc: "certified duality gap of trace_diagonal"},
			{Name: "trace_inflation", Doc: "trace_diagonal / trace_optimal"},
			{Name: "variance_at_s_*", Doc: "predictive variance at s: unsecured, optimal, diagonal"},
			{Name: "variance_at_0_*", Doc: "predictive variance at x = 0: unsecured, optimal, diagonal"},
			{Name: "noise_variance_near_min", Doc: "smallest optimal noise variance at training inputs within 0.2 of s"},
			{Name: "noise_variance_far_max", Doc: "largest optimal noise variance at the other training inputs"},
			{Name: "noise_correlation_near_min", Doc: "smallest absolute correlation of the optimal noise between training inputs within 0.2 of s"},
			{Name: "condition", Doc: "condition number of K_XX + V"},
			{Name: "numerical_rank", Doc: numericalRankDoc},
		},
		Check:  func(p experiment.Params) error { return checkTolerance("xi", p.Float("xi")) },
		Memory: matrixMemory(22),
		Run:    runExample1,
	}
}

func runExample1(ctx context.Context, t *experiment.Trial) (_ *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	s, xi, v := t.Params.Float("s"), t.Params.Float("xi"), t.Params.Float("noise_variance")
	p, err := newProcess(e, t.Params.Float("theta"), v, grid(t.Params.Int("points")))
	if err != nil {
		return nil, err
	}
	cross, err := p.between(p.x, []float64{s})
	if err != nil {
		return nil, err
	}
	optimal, err := p.strongNoise(cross, mat.NewDense(1, 1, []float64{1 - xi}))
	if err != nil {
		return nil, err
	}
	diagonal, err := sdp.SolveDiagonal(ctx, symmetric(p.cov), mat.Col(nil, 0, cross), 1-xi, solving(t))
	if err != nil {
		return nil, err
	}
	if err := checkGap("the diagonal SDP", diagonal, diagonalGap); err != nil {
		return nil, err
	}

	metrics := map[string]float64{
		"trace_optimal": optimal.trace, "rank_optimal": float64(optimal.rank),
		"trace_diagonal": diagonal.Trace, "gap_diagonal": diagonal.Gap(),
		"condition": p.condition, "numerical_rank": float64(p.rank),
	}
	if optimal.trace > 0 {
		metrics["trace_inflation"] = diagonal.Trace / optimal.trace
	}
	at := append([]float64{s, 0}, linspace(0, 1, 101)...)
	curves := experiment.Series{"x": at[2:]}
	for _, m := range []struct {
		name  string
		sigma mat.Matrix
	}{{"unsecured", nil}, {"optimal", optimal.sigma}, {"diagonal", diagonal.Sigma}} {
		variance, err := p.predictiveVariance(m.sigma, at)
		if err != nil {
			return nil, fmt.Errorf("predictive variance, %s: %w", m.name, err)
		}
		if m.sigma != nil {
			if err := p.checkMet("the "+m.name+" noise", s, variance[0], xi); err != nil {
				return nil, err
			}
		}
		metrics["variance_at_s_"+m.name], metrics["variance_at_0_"+m.name] = variance[0], variance[1]
		curves[m.name] = variance[2:]
	}
	nearAndFar(metrics, p.x, s, optimal.sigma)

	covariance := experiment.Series{"x": p.x}
	for j := range p.x {
		covariance[columnName(j)] = mat.Col(nil, j, optimal.sigma)
	}
	diag := experiment.Series{"x": p.x, "optimal": diagonalOf(optimal.sigma), "diagonal": diagonalOf(diagonal.Sigma)}
	return &experiment.Result{
		Metrics: metrics,
		Series: map[string]experiment.Series{
			"covariance": covariance, "noise_variance": diag, "predictive_variance": curves,
		},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at s = %s", experiment.FormatNumber(xi), experiment.FormatNumber(s)),
			"the output at the sensitive input s (prior variance 1)", len(p.x), optimal.rank, v, recordHoldsNoOutputs),
		Warnings: append(p.warnings(), exactWarning(p, v, []float64{s})...),
	}, nil
}

// nearAndFar measures where the optimal noise lies and how it is correlated:
// within 0.2 of s, the inputs 0.3 to 0.7 of the paper's example, and outside.
func nearAndFar(metrics map[string]float64, x []float64, s float64, sigma *mat.Dense) {
	var near []int
	least, most, correlation := math.Inf(1), 0.0, 1.0
	for i := range x {
		if math.Abs(x[i]-s) <= 0.2+1e-9 {
			near = append(near, i)
			least = math.Min(least, sigma.At(i, i))
		} else {
			most = math.Max(most, sigma.At(i, i))
		}
	}
	if len(near) == 0 {
		least = 0
	}
	for _, i := range near {
		for _, j := range near {
			c := 0.0 // no noise, no correlation
			if scale := math.Sqrt(sigma.At(i, i) * sigma.At(j, j)); scale > 0 {
				c = math.Abs(sigma.At(i, j)) / scale
			}
			correlation = math.Min(correlation, c)
		}
	}
	metrics["noise_variance_near_min"] = least
	metrics["noise_variance_far_max"] = most
	metrics["noise_correlation_near_min"] = correlation
}

func diagonalOf(a mat.Matrix) []float64 {
	n, _ := a.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = a.At(i, i)
	}
	return out
}

// columnName names column j of a matrix kept as a series, so that the names
// sort as the columns do.
func columnName(j int) string { return fmt.Sprintf("column_%04d", j+1) }

// The duality gaps, relative to the trace or to the variance of a datum where
// that is larger, above which a solution is none.
const (
	diagonalGap = 1e-8
	weakGap     = 1e-7
)

// checkGap refuses a solution whose certificate is too wide.
func checkGap(what string, s *sdp.Solution, wanted float64) error {
	if gap := s.RelativeGap(); !(gap <= wanted) {
		return fmt.Errorf("%s stopped after %d steps at a relative duality gap of %.1e, and at most %.0e is wanted: "+
			"the least trace lies between %.10g and %.10g; fewer training inputs, a larger theta or "+
			"noise_variance > 0 make the kernel matrix better conditioned", what, s.Iterations, gap, wanted, s.Lower, s.Upper)
	}
	return nil
}

// checkMet refuses noise with which the predictive variance at a sensitive input
// is below its tolerance xi beyond rounding.
func (p *process) checkMet(what string, s, variance, xi float64) error {
	rounding := 1e-6
	if p.epsilon == epsilon32 {
		rounding = 1e-3
	}
	if !(variance >= xi-rounding) {
		return fmt.Errorf("%s leaves a predictive variance of %.10g at s = %s, below the tolerance %s: "+
			"the kernel matrices are too badly conditioned (condition number %.1e); fewer inputs, a larger theta "+
			"or noise_variance > 0 make it smaller",
			what, variance, experiment.FormatNumber(s), experiment.FormatNumber(xi), p.condition)
	}
	return nil
}
