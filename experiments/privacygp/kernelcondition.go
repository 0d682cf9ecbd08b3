package privacygp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
	"privkern/runner/experiment"
)

// kernelCondition is the paper's Example 3: for which (c, θ) is
// K − H = exp(−θ₀|x−y|²) − c·exp(−θ|x−y|²) positive definite?
func kernelCondition() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "privacygp/kernel-condition",
		Version: 1,
		Summary: "which Gaussian kernels H are admissible privacy requirements for a Gaussian kernel K",
		Source:  source + "Example 3, Propositions 1 and 2",
		Params: []experiment.Param{
			{Name: "c", Kind: experiment.Number, Default: 0.5, Min: experiment.Bound(0), Doc: "scale of H(x,y) = c exp(-theta |x-y|^2); at 0 H vanishes, and the region is still bounded by theta <= theta0 as Example 3 states it"},
			{Name: "theta", Kind: experiment.Number, Default: 5.0, Min: experiment.Bound(0), Doc: "rate of H"},
			{Name: "theta0", Kind: experiment.Number, Default: 10.0, Min: experiment.Bound(0), OpenMin: true, Doc: "rate of K(x,y) = exp(-theta0 |x-y|^2)"},
			{Name: "d", Kind: experiment.Integer, Default: 1, Min: experiment.Bound(1), Max: experiment.Bound(maxDimension), Doc: "dimension of the inputs"},
			variantParam("corrected: the lower boundary of the region is excluded where Proposition 2's integral diverges on it (d <= 2); as-published: it is included"),
		},
		Metrics: []experiment.Metric{
			{Name: "admissible", Doc: "1 where (c, theta) is in Example 3's region, else 0"},
			{Name: "uniform_exists", Doc: "1 where Proposition 2's integral is finite, so that a uniformly privacy-aware solution exists, else 0"},
			{Name: "theta_low", Doc: "lower end of the region, c^(2/d) theta0"},
			{Name: "min_eigenvalue", Doc: "smallest eigenvalue of K - H on a regular grid"},
			{Name: "min_spectral_ratio", Doc: "infimum of the ratio of the Fourier transforms of K and H; the region is where it is at least 1 (0 where H has none, as at c = 0 or theta = 0)"},
			{Name: "grid_points", Doc: "number of grid points"},
		},
		Run: runKernelCondition,
	}
}

// maxDimension keeps at least two grid points a side within gridSize points.
const (
	maxDimension = 7
	gridSize     = 200
)

func runKernelCondition(_ context.Context, t *experiment.Trial) (_ *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r := region{c: t.Params.Float("c"), theta: t.Params.Float("theta"), theta0: t.Params.Float("theta0"), d: t.Params.Int("d")}
	points := r.grid()
	difference, err := kernel.RBF(r.theta0).Matrix(e, points, points)
	if err != nil {
		return nil, err
	}
	n, _ := points.Dims()
	switch {
	case r.c == 0: // H = 0
	case r.theta == 0: // H = c
		difference.Apply(func(_, _ int, x float64) float64 { return x - r.c }, difference)
	default:
		h, err := kernel.RBF(r.theta).Matrix(e, points, points)
		if err != nil {
			return nil, err
		}
		h.Scale(r.c, h)
		difference.Sub(difference, h)
	}
	_, values, err := linalg.PSDPart(e, difference)
	if err != nil {
		return nil, err
	}
	admissible := r.contains()
	if t.Params.Text("variant") == corrected {
		admissible = admissible && r.uniform()
	}
	warnings := e.Warnings()
	if admissible && values[0] <= 0 {
		warnings = append(warnings, fmt.Sprintf("K - H is positive definite, but its smallest eigenvalue on the grid is lost in rounding (%.1e)", values[0]))
	}
	return &experiment.Result{
		Metrics: map[string]float64{
			"admissible": indicator(admissible), "uniform_exists": indicator(r.uniform()),
			"theta_low": r.low(), "min_eigenvalue": values[0],
			"min_spectral_ratio": r.ratio(), "grid_points": float64(n),
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

// region is Example 3: K(x,y) = exp(−θ₀|x−y|²), H(x,y) = c·exp(−θ|x−y|²) on R^d.
type region struct {
	c, theta, theta0 float64
	d                int
}

// low is c^{2/d}θ₀, the least admissible θ.
func (r region) low() float64 { return math.Pow(r.c, 2/float64(r.d)) * r.theta0 }

// onBoundary reports whether θ is on the lower boundary, to rounding.
func (r region) onBoundary() bool { return math.Abs(r.theta-r.low()) <= 1e-12*r.theta0 }

// contains reports whether (c, θ) is in the region as published: 0 ≤ c < 1 and
// c^{2/d}θ₀ ≤ θ ≤ θ₀. There K − H is positive definite by Proposition 1.
func (r region) contains() bool {
	return r.c < 1 && r.theta <= r.theta0 && (r.theta >= r.low() || r.onBoundary())
}

// uniform reports whether Proposition 2's integral is finite. On the lower
// boundary its integrand grows as 1/|ω|² at 0, which is integrable only for
// d ≥ 3.
func (r region) uniform() bool {
	return r.contains() && (r.c == 0 || r.d >= 3 || !r.onBoundary())
}

// ratio is the infimum over ω of the Fourier transforms' ratio,
// c⁻¹(θ/θ₀)^{d/2} exp((θ₀ − θ)|ω|²/(4θθ₀)); 0 stands for H without one or
// H = 0.
func (r region) ratio() float64 {
	if r.c == 0 || r.theta == 0 || r.theta > r.theta0 {
		return 0
	}
	return math.Pow(r.theta/r.theta0, float64(r.d)/2) / r.c
}

// grid is a regular grid of at most gridSize points. Its spacing resolves the
// frequencies at which K has not decayed, half a correlation length of K.
func (r region) grid() *mat.Dense {
	side := int(math.Floor(math.Pow(gridSize, 1/float64(r.d)) + 1e-9))
	total := 1
	for range r.d {
		total *= side
	}
	spacing := 0.5 / math.Sqrt(r.theta0)
	out := mat.NewDense(total, r.d, nil)
	for i := range total {
		for k, rest := 0, i; k < r.d; k++ {
			out.Set(i, k, spacing*float64(rest%side))
			rest /= side
		}
	}
	return out
}
