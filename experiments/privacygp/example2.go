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

// noStrong is the value of c that leaves the strong solution out.
const noStrong = "none"

// example2 is the paper's Example 2 and Figure 2: two sensitive inputs, the
// weak and the strong solution over the off-diagonal entry c of Ξ.
func example2() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "privacygp/example2",
		Version: 3,
		Summary: "two sensitive inputs: weakly and strongly privacy-aware noise",
		Source:  source + "Example 2, Figure 2, Theorem 2",
		Params: append(gridParams(maxPoints),
			experiment.Param{Name: "s1", Kind: experiment.Number, Default: 0.4, Doc: "the first sensitive input"},
			experiment.Param{Name: "s2", Kind: experiment.Number, Default: 0.6, Doc: "the second sensitive input"},
			toleranceParam("xi1", "privacy tolerance at s1"),
			toleranceParam("xi2", "privacy tolerance at s2"),
			experiment.Param{Name: "c", Kind: experiment.Number, Default: 0.45, Words: []string{noStrong},
				Doc: "off-diagonal entry of Xi in the strong problem; none leaves the strong problem out"},
		),
		Metrics: []experiment.Metric{
			{Name: "trace_weak", Doc: "trace of the weakly privacy-aware noise covariance, Eq. (10)"},
			{Name: "gap_weak", Doc: "its certified duality gap"},
			{Name: "rank_weak", Doc: "its rank"},
			{Name: "c_best", Doc: "the c at which the strong problem needs no more noise than the weak one"},
			{Name: "c_low", Doc: "lower end of the interval of admissible c; excluded where K_SS - Xi sets it"},
			{Name: "c_high", Doc: "upper end of the interval of admissible c; there is none where it is below c_low"},
			{Name: "trace_strong", Doc: "trace of the strongly privacy-aware noise covariance at c, Eq. (11)"},
			{Name: "trace_ratio", Doc: "trace_strong / trace_weak"},
			{Name: "variance_at_s1_*", Doc: "predictive variance at s1: weak, strong"},
			{Name: "variance_at_s2_*", Doc: "predictive variance at s2: weak, strong"},
			{Name: "variance_difference_min", Doc: "smallest difference of predictive variances, strong minus weak, on [0, 1]"},
			{Name: "variance_difference_max", Doc: "largest such difference"},
			{Name: "condition", Doc: "condition number of K_XX + V"},
			{Name: "numerical_rank", Doc: numericalRankDoc},
		},
		Check:  checkExample2,
		Memory: matrixMemory(28),
		Run:    runExample2,
	}
}

func checkExample2(p experiment.Params) error {
	xi1, xi2 := p.Float("xi1"), p.Float("xi2")
	if err := checkTolerance("xi1", xi1); err != nil {
		return err
	}
	if err := checkTolerance("xi2", xi2); err != nil {
		return err
	}
	s1, s2 := p.Float("s1"), p.Float("s2")
	if within(s1, s2) {
		return fmt.Errorf("s1 and s2 are the same input (%s): give it one tolerance in privacygp/example1", experiment.FormatNumber(s1))
	}
	c, ok := p["c"].(float64)
	if !ok {
		return nil
	}
	k12 := math.Exp(-p.Float("theta") * (s1 - s2) * (s1 - s2))
	r := admissible(k12, xi1, xi2)
	if r.contains(c) {
		return nil
	}
	if r.empty() {
		return fmt.Errorf("no Xi with the diagonal (%v, %v) is admissible for K(s1,s2) = %.6g: Xi >= 0 needs |c| <= %.6g and K_SS - Xi > 0 needs |c - %.6g| < %.6g (erratum 2 of Theorem 2); c=none computes the weak solution alone",
			xi1, xi2, k12, math.Sqrt(xi1*xi2), k12, math.Sqrt((1-xi1)*(1-xi2)))
	}
	return fmt.Errorf("c = %v makes Xi inadmissible: Xi >= 0 and K_SS - Xi > 0 need c in %v", c, r)
}

// interval is the set of admissible c.
type interval struct {
	low, high         float64
	openLow, openHigh bool
}

// admissible returns the c for which Ξ = [ξ₁ c; c ξ₂] ⪰ 0, that is
// |c| ≤ √(ξ₁ξ₂), and K_SS − Ξ ≻ 0, that is |k₁₂ − c| < √((1−ξ₁)(1−ξ₂)).
func admissible(k12, xi1, xi2 float64) interval {
	psd, pd := math.Sqrt(xi1*xi2), math.Sqrt((1-xi1)*(1-xi2))
	r := interval{low: -psd, high: psd}
	if k12-pd >= r.low {
		r.low, r.openLow = k12-pd, true
	}
	if k12+pd <= r.high {
		r.high, r.openHigh = k12+pd, true
	}
	return r
}

func (r interval) empty() bool {
	return r.low > r.high || r.low == r.high && (r.openLow || r.openHigh)
}

func (r interval) contains(c float64) bool {
	above := c > r.low || !r.openLow && c == r.low
	below := c < r.high || !r.openHigh && c == r.high
	return above && below
}

func (r interval) String() string {
	left, right := "[", "]"
	if r.openLow {
		left = "("
	}
	if r.openHigh {
		right = ")"
	}
	return fmt.Sprintf("%s%.6g, %.6g%s", left, r.low, r.high, right)
}

func runExample2(ctx context.Context, t *experiment.Trial) (_ *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	v := t.Params.Float("noise_variance")
	xi := []float64{t.Params.Float("xi1"), t.Params.Float("xi2")}
	s := []float64{t.Params.Float("s1"), t.Params.Float("s2")}
	p, err := newProcess(e, t.Params.Float("theta"), v, grid(t.Params.Int("points")))
	if err != nil {
		return nil, err
	}
	cross, err := p.between(p.x, s)
	if err != nil {
		return nil, err
	}
	kss, err := p.between(s, s)
	if err != nil {
		return nil, err
	}
	two := &twoInputs{process: p, cross: cross, k12: kss.At(0, 1), xi: xi}
	weak, err := sdp.SolveWeak(ctx, symmetric(p.cov), cross, []float64{1 - xi[0], 1 - xi[1]}, solving(t))
	if err != nil {
		return nil, err
	}
	if err := checkGap("the weak SDP", weak, weakGap); err != nil {
		return nil, err
	}
	rank, err := rankOf(weak.Sigma)
	if err != nil {
		return nil, err
	}
	r := admissible(two.k12, xi[0], xi[1])
	best := two.k12 - weak.Schur.At(0, 1)
	metrics := map[string]float64{
		"trace_weak": weak.Trace, "gap_weak": weak.Gap(), "rank_weak": float64(rank),
		"c_best": best, "c_low": r.low, "c_high": r.high, "condition": p.condition, "numerical_rank": float64(p.rank),
	}
	warnings := append(p.warnings(), exactWarning(p, v, s)...)
	if !r.contains(best) {
		warnings = append(warnings, fmt.Sprintf("no admissible Xi gives the weak solution: c_best = %.6g is outside %v (erratum 2 of Theorem 2)", best, r))
	}

	at := append(append([]float64(nil), s...), linspace(0, 1, 101)...)
	weakVariance, err := p.predictiveVariance(weak.Sigma, at)
	if err != nil {
		return nil, err
	}
	for i, tolerance := range xi {
		if err := p.checkMet("the weak noise", s[i], weakVariance[i], tolerance); err != nil {
			return nil, err
		}
	}
	metrics["variance_at_s1_weak"], metrics["variance_at_s2_weak"] = weakVariance[0], weakVariance[1]
	curves := experiment.Series{"x": at[2:], "weak": weakVariance[2:]}
	series := map[string]experiment.Series{"predictive_variance": curves}
	if c, ok := t.Params["c"].(float64); ok {
		if err := two.addStrong(metrics, curves, c, at); err != nil {
			return nil, err
		}
		if series["trace"], err = two.traces(ctx, t, r, r.low, weak.Trace); err != nil {
			return nil, err
		}
		low := math.Max(r.low, 0.3) // as in the paper's middle plot
		if low >= r.high {
			low = r.low
		}
		if series["trace_zoom"], err = two.traces(ctx, t, r, low, weak.Trace); err != nil {
			return nil, err
		}
	}
	return &experiment.Result{
		Metrics: metrics,
		Series:  series,
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at s = %s", list(xi), list(s)),
			"the outputs at the two sensitive inputs (prior variance 1); the strong solution protects their linear combinations too", len(p.x), rank, v, recordHoldsNoOutputs),
		Warnings: warnings,
	}, nil
}

// twoInputs is the strong problem of two sensitive inputs.
type twoInputs struct {
	*process
	cross *mat.Dense // n×2, K_XS
	k12   float64    // K(s₁,s₂)
	xi    []float64
}

func (p *twoInputs) strong(c float64) (*noise, error) {
	return p.strongNoise(p.cross, mat.NewDense(2, 2, []float64{1 - p.xi[0], p.k12 - c, p.k12 - c, 1 - p.xi[1]}))
}

// addStrong adds what the strong solution at c gives.
func (p *twoInputs) addStrong(metrics map[string]float64, curves experiment.Series, c float64, at []float64) error {
	strong, err := p.strong(c)
	if err != nil {
		return err
	}
	variance, err := p.predictiveVariance(strong.sigma, at)
	if err != nil {
		return err
	}
	for i, tolerance := range p.xi {
		if err := p.checkMet("the strong noise", at[i], variance[i], tolerance); err != nil {
			return err
		}
	}
	metrics["trace_strong"] = strong.trace
	if weak := metrics["trace_weak"]; weak > 0 {
		metrics["trace_ratio"] = strong.trace / weak
	}
	metrics["variance_at_s1_strong"], metrics["variance_at_s2_strong"] = variance[0], variance[1]
	curves["strong"] = variance[2:]
	least, most := math.Inf(1), math.Inf(-1)
	for i, v := range curves["strong"] {
		d := v - curves["weak"][i]
		least, most = math.Min(least, d), math.Max(most, d)
	}
	metrics["variance_difference_min"], metrics["variance_difference_max"] = least, most
	return nil
}

// traces is the strong trace over the admissible c from low up; open ends, where
// it grows without bound, are left out.
func (p *twoInputs) traces(ctx context.Context, t *experiment.Trial, r interval, low, weak float64) (experiment.Series, error) {
	const n = 101
	s := experiment.Series{"x": nil, "strong": nil, "weak": nil}
	for i, c := range linspace(low, r.high, n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.Progress(i, n, "traces over c")
		if !r.contains(c) {
			continue
		}
		strong, err := p.strong(c)
		if err != nil {
			return nil, err
		}
		s["x"] = append(s["x"], c)
		s["strong"] = append(s["strong"], strong.trace)
		s["weak"] = append(s["weak"], weak)
	}
	return s, nil
}
