package privacygp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// example2 is the paper's Example 2 and Figure 2: two sensitive inputs, the
// weak and the strong solution over the off-diagonal entry c of Ξ.
var example2 = experiment.Of(experiment.Declaration[*example2Settings, example2Metrics]{
	Name:     "privacygp/example2",
	Version:  5,
	Summary:  "two sensitive inputs: weakly and strongly privacy-aware noise",
	Source:   source + "Example 2, Figure 2, Theorem 2",
	Seedless: func(*example2Settings) bool { return true },
	Check:    checkExample2,
	Memory:   func(s *example2Settings) int64 { return matrixMemory(28, s.Points) },
	Run:      runExample2,
})

func checkExample2(s *example2Settings) error {
	if err := checkTolerance("xi1", s.Xi1); err != nil {
		return err
	}
	if err := checkTolerance("xi2", s.Xi2); err != nil {
		return err
	}
	if process.Same(s.S1, s.S2) {
		return fmt.Errorf("s1 and s2 are the same input (%s): give it one tolerance in privacygp/example1",
			experiment.FormatNumber(s.S1))
	}
	if s.C.Is(none) {
		return nil
	}
	k12 := math.Exp(-s.Theta * (s.S1 - s.S2) * (s.S1 - s.S2))
	r := admissible(k12, s.Xi1, s.Xi2)
	if r.contains(s.C.Number) {
		return nil
	}
	if r.empty() {
		return fmt.Errorf("no Xi with the diagonal (%v, %v) is admissible for K(s1,s2) = %.6g: "+
			"Xi >= 0 needs |c| <= %.6g and K_SS - Xi > 0 needs |c - %.6g| < %.6g (erratum 2 of Theorem 2); "+
			"c=none computes the weak solution alone",
			s.Xi1, s.Xi2, k12, math.Sqrt(s.Xi1*s.Xi2), k12, math.Sqrt((1-s.Xi1)*(1-s.Xi2)))
	}
	return fmt.Errorf("c = %v makes Xi inadmissible: Xi >= 0 and K_SS - Xi > 0 need c in %v", s.C.Number, r)
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

func runExample2(
	ctx context.Context, t *experiment.Trial, settings *example2Settings,
) (*experiment.Outcome[example2Metrics], error) {
	s, xi := []float64{settings.S1, settings.S2}, []float64{settings.Xi1, settings.Xi2}
	p, err := process.New(engine.Of(t.Engine), settings.Theta, settings.NoiseVariance, grid(settings.Points))
	if err != nil {
		return nil, err
	}
	cross, err := p.Between(p.X, s)
	if err != nil {
		return nil, err
	}
	kss, err := p.Between(s, s)
	if err != nil {
		return nil, err
	}
	two := &twoInputs{Process: p, s: s, cross: cross, k12: kss.At(0, 1), xi: xi}
	weak, err := sdp.SolveWeak(ctx, p.Covariance(), cross, []float64{1 - xi[0], 1 - xi[1]}, solving(t))
	if err != nil {
		return nil, err
	}
	if err := checkGap("the weak SDP", weak, weakGap); err != nil {
		return nil, err
	}
	two.weakly = weak.Sigma
	rank, err := process.RankOf(weak.Sigma)
	if err != nil {
		return nil, err
	}
	r := admissible(two.k12, xi[0], xi[1])
	best := two.k12 - weak.Schur.At(0, 1)
	out := &experiment.Outcome[example2Metrics]{
		Metrics: example2Metrics{
			TraceWeak: weak.Trace, GapWeak: weak.Gap(), RankWeak: float64(rank),
			BestC: best, LowC: r.low, HighC: r.high, spectrum: spectrumOf(p),
			VarianceAtS1: byMethod{}, VarianceAtS2: byMethod{},
		},
		Series: map[string]experiment.Series{},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at s = %s", list(xi), list(s)),
			"the outputs at the two sensitive inputs (prior variance 1); the strong solution protects "+
				"their linear combinations too",
			len(p.X), rank, settings.NoiseVariance, recordHoldsNoOutputs),
		Warnings: append(p.Warnings(), exactWarning(p, settings.NoiseVariance, s)...),
	}
	if !r.contains(best) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("no admissible Xi gives the weak solution: "+
			"c_best = %.6g is outside %v (erratum 2 of Theorem 2)", best, r))
	}
	if err := two.addVariances(out, weakly, weak.Sigma); err != nil {
		return nil, err
	}
	if !settings.C.Is(none) {
		if err := two.addStrong(ctx, t, out, settings.C.Number, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// twoInputs is the strong problem of two sensitive inputs.
type twoInputs struct {
	*process.Process
	s     []float64
	cross *mat.Dense // n×2, K_XS
	k12   float64    // K(s₁,s₂)
	xi    []float64

	weakly mat.Matrix // n×n, the weak noise
}

func (p *twoInputs) strong(c float64) (*process.Noise, error) {
	return p.StrongNoise(p.cross, mat.NewDense(2, 2, []float64{1 - p.xi[0], p.k12 - c, p.k12 - c, 1 - p.xi[1]}))
}

// addVariances adds the predictive variances with the noise covariance sigma, n×n.
func (p *twoInputs) addVariances(out *experiment.Outcome[example2Metrics], m method, sigma mat.Matrix) error {
	at := append(slices.Clone(p.s), linspace(0, 1, 101)...)
	variance, err := p.PredictiveVariance(sigma, at)
	if err != nil {
		return err
	}
	name := m.String()
	for i, tolerance := range p.xi {
		if err := p.CheckMet("the "+name+" noise", p.s[i], variance[i], tolerance); err != nil {
			return err
		}
	}
	out.Metrics.VarianceAtS1[name], out.Metrics.VarianceAtS2[name] = variance[0], variance[1]
	curves := out.Series["predictive_variance"]
	if curves == nil {
		curves = experiment.Series{"x": at[2:]}
		out.Series["predictive_variance"] = curves
	}
	curves[name] = variance[2:]
	return nil
}

// addStrong adds the strong solution at c, and its trace over the admissible c.
func (p *twoInputs) addStrong(
	ctx context.Context, t *experiment.Trial, out *experiment.Outcome[example2Metrics], c float64, r interval,
) error {
	solution, err := p.strong(c)
	if err != nil {
		return err
	}
	if err := p.addVariances(out, strongly, solution.Sigma); err != nil {
		return err
	}
	m := &out.Metrics
	m.TraceStrong = &solution.Trace
	if m.TraceWeak > 0 {
		m.TraceRatio = new(solution.Trace / m.TraceWeak)
	}
	if err := m.compare(solution.Sigma, p.weakly); err != nil {
		return err
	}
	curves := out.Series["predictive_variance"]
	difference := slices.Clone(curves[strongly.String()])
	floats.Sub(difference, curves[weakly.String()])
	m.DifferenceMin, m.DifferenceMax = new(floats.Min(difference)), new(floats.Max(difference))

	if out.Series["trace"], err = p.traces(ctx, t, r, r.low, m.TraceWeak); err != nil {
		return err
	}
	low := math.Max(r.low, 0.3) // as in the paper's middle plot
	if low >= r.high {
		low = r.low
	}
	if out.Series["trace_zoom"], err = p.traces(ctx, t, r, low, m.TraceWeak); err != nil {
		return err
	}
	return p.near(ctx, m, r)
}

// compare adds the least and the largest eigenvalue of the strong less the weak noise.
func (m *example2Metrics) compare(strong, weak mat.Matrix) error {
	var order mat.Dense
	order.Sub(strong, weak)
	values, err := process.Eigenvalues(&order)
	if err != nil {
		return err
	}
	m.OrderMin, m.OrderMax = new(values[0]), new(values[len(values)-1])
	return nil
}

// nearly is up to which multiple of the weak trace a strong one does not differ
// significantly; the paper has no number.
const nearly = 1.05

// near adds the interval of c whose strong trace is at most nearly times the weak one. The
// trace is convex in c, so that the set is an interval around c_best, and its ends are
// found by bisection. Without an admissible c_best or weak noise nothing is added.
func (p *twoInputs) near(ctx context.Context, m *example2Metrics, r interval) error {
	if !r.contains(m.BestC) || m.TraceWeak == 0 {
		return nil
	}
	low, err := p.nearEnd(ctx, m, r, r.low)
	if err != nil {
		return err
	}
	high, err := p.nearEnd(ctx, m, r, r.high)
	if err != nil {
		return err
	}
	m.NearLow, m.NearHigh, m.NearShare = &low, &high, new((high-low)/(r.high-r.low))
	return nil
}

// nearEnd is the end of the interval of near on the side of end.
func (p *twoInputs) nearEnd(ctx context.Context, m *example2Metrics, r interval, end float64) (float64, error) {
	holds := func(c float64) (bool, error) {
		s, err := p.strong(c)
		if err != nil {
			return false, err
		}
		return s.Trace <= nearly*m.TraceWeak, nil
	}
	if r.contains(end) {
		if ok, err := holds(end); ok || err != nil {
			return end, err
		}
	}
	inside, outside := m.BestC, end
	for math.Abs(outside-inside) > 1e-6*(r.high-r.low) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c := inside + (outside-inside)/2
		ok, err := holds(c)
		switch {
		case err != nil:
			return 0, err
		case ok:
			inside = c
		default:
			outside = c
		}
	}
	return inside, nil
}

// traces is the strong trace over the admissible c from low up; open ends, where
// it grows without bound, are left out.
func (p *twoInputs) traces(
	ctx context.Context, t *experiment.Trial, r interval, low, weak float64,
) (experiment.Series, error) {
	const n = 101
	var at, strong []float64
	for i, c := range linspace(low, r.high, n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.Progress(i, n, "traces over c")
		if !r.contains(c) {
			continue
		}
		solution, err := p.strong(c)
		if err != nil {
			return nil, err
		}
		at, strong = append(at, c), append(strong, solution.Trace)
	}
	level := slices.Repeat([]float64{weak}, len(at))
	return experiment.Series{"x": at, strongly.String(): strong, weakly.String(): level}, nil
}
