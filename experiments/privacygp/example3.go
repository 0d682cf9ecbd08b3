package privacygp

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/process"
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

// uniform is the uniformly privacy-aware solution for Example 3's kernels.
var uniform = experiment.Of(experiment.Declaration[*uniformSettings, uniformMetrics]{
	Name:     "privacygp/uniform",
	Version:  3,
	Summary:  "noise that protects every input on the line, by quadrature of Proposition 2",
	Source:   source + "Section 4.4, Proposition 2",
	Seedless: func(*uniformSettings) bool { return true },
	Check:    func(s *uniformSettings) error { return checkUniform(s.region()) },
	Memory:   func(s *uniformSettings) int64 { return matrixMemory(18, s.Points) },
	Run:      runUniform,
})

func (s *uniformSettings) region() region.Region {
	return region.Region{C: s.C, Theta: s.Theta, Theta0: s.Theta0, D: 1}
}

// checkUniform refuses kernels for which Proposition 2's integral is infinite.
func checkUniform(r region.Region) error {
	if r.Uniform() {
		return nil
	}
	if r.Contains() {
		return fmt.Errorf("theta = %v is on the boundary c^2 theta0 = %v of Example 3's region, "+
			"where the integral of Proposition 2 diverges (erratum 6): there is no uniformly privacy-aware solution; "+
			"take theta above it", r.Theta, r.Low())
	}
	return fmt.Errorf("the kernel H = %v exp(-%v (x-y)^2) is inadmissible for K = exp(-%v (x-y)^2): "+
		"K - H must be positive definite, which needs c < 1 and theta in (%v, %v] (Example 3)",
		r.C, r.Theta, r.Theta0, r.Low(), r.Theta0)
}

func runUniform(
	ctx context.Context, t *experiment.Trial, s *uniformSettings,
) (*experiment.Outcome[uniformMetrics], error) {
	r := s.region()
	p, err := process.New(engine.Of(t.Engine), r.Theta0, 0, grid(s.Points))
	if err != nil {
		return nil, err
	}
	g, q, err := innerProducts(ctx, r, s.Points)
	if err != nil {
		return nil, err
	}
	noise, err := p.PSDNoise(g)
	if err != nil {
		return nil, err
	}
	variances, err := p.PredictiveVariance(noise.Sigma, linspace(-0.5, 1.5, 201))
	if err != nil {
		return nil, err
	}
	return &experiment.Outcome[uniformMetrics]{
		Metrics: uniformMetrics{
			G0: q.Values[0], Trace: noise.Trace, Rank: float64(noise.Rank), VarianceMin: slices.Min(variances),
			QuadratureError: q.Change, QuadratureNodes: float64(q.Nodes), conditioning: conditioning{p.Condition},
		},
		Series: map[string]experiment.Series{
			"inner_product":  {"x": lags(s.Points), "g": q.Values},
			"noise_variance": {"x": p.X, "uniform": diagonalOf(noise.Sigma)},
		},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at every input", experiment.FormatNumber(r.C)),
			"the output at any input on the line, and linear combinations of outputs (prior variance 1)",
			len(p.X), noise.Rank, 0, recordHoldsNoOutputs),
		Warnings: p.Warnings(),
	}, nil
}

// innerProducts is G(R) of Proposition 2 at the grid of n training inputs, n×n, and the
// quadrature that gave it: the grid is regular, so that G depends on |i − j| alone.
func innerProducts(ctx context.Context, r region.Region, n int) (*mat.Dense, *region.Quadrature, error) {
	q, err := r.InnerProducts(ctx, lags(n))
	if err != nil {
		return nil, nil, err
	}
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, q.Values[max(i-j, j-i)])
		}
	}
	return g, q, nil
}

// lags are the distances of the grid of n training inputs.
func lags(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i) / float64(n+1)
	}
	return out
}
