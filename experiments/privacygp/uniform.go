package privacygp

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// uniform is the uniformly privacy-aware solution for Example 3's kernels.
func uniform() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "privacygp/uniform",
		Version: 2,
		Summary: "noise that protects every input on the line, by quadrature of Proposition 2",
		Source:  source + "Section 4.4, Proposition 2",
		Params: []experiment.Param{
			{Name: "theta0", Kind: experiment.Number, Default: 10.0, Min: experiment.Bound(0), OpenMin: true, Doc: "rate of K(x,y) = exp(-theta0 (x-y)^2)"},
			{Name: "theta", Kind: experiment.Number, Default: 5.0, Min: experiment.Bound(0), OpenMin: true, Doc: "rate of H(x,y) = c exp(-theta (x-y)^2)"},
			{Name: "c", Kind: experiment.Number, Default: 0.5, Min: experiment.Bound(0), Doc: "scale of H: the predictive variance is at least c everywhere"},
			{Name: "points", Kind: experiment.Integer, Default: 9, Min: experiment.Bound(1), Max: experiment.Bound(maxPoints), Doc: "number of training inputs, at i/(points+1)"},
		},
		Metrics: []experiment.Metric{
			{Name: "g0", Doc: "the inner product of Proposition 2 at x = x'"},
			{Name: "trace_uniform", Doc: "trace of the noise covariance (G - K_XX)+"},
			{Name: "rank_uniform", Doc: "its rank"},
			{Name: "quadrature_error", Doc: "change of G when the number of nodes was doubled last, the largest over the distances: above the error, which falls geometrically, down to rounding"},
			{Name: "quadrature_nodes", Doc: "nodes of the quadrature"},
			{Name: "condition", Doc: "condition number of K_XX"},
		},
		Check: func(p experiment.Params) error {
			return uniformRegion(p).checkUniform()
		},
		Memory: matrixMemory(18),
		Run:    runUniform,
	}
}

func uniformRegion(p experiment.Params) region {
	return region{c: p.Float("c"), theta: p.Float("theta"), theta0: p.Float("theta0"), d: 1}
}

// checkUniform refuses kernels for which Proposition 2's integral is infinite.
func (r region) checkUniform() error {
	if r.uniform() {
		return nil
	}
	if r.contains() {
		return fmt.Errorf("theta = %v is on the boundary c^2 theta0 = %v of Example 3's region, where the integral of Proposition 2 diverges (erratum 6): there is no uniformly privacy-aware solution; take theta above it", r.theta, r.low())
	}
	return fmt.Errorf("the kernel H = %v exp(-%v (x-y)^2) is inadmissible for K = exp(-%v (x-y)^2): K - H must be positive definite, which needs c < 1 and theta in (%v, %v] (Example 3)", r.c, r.theta, r.theta0, r.low(), r.theta0)
}

func runUniform(ctx context.Context, t *experiment.Trial) (_ *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r := uniformRegion(t.Params)
	p, err := newProcess(e, r.theta0, 0, grid(t.Params.Int("points")))
	if err != nil {
		return nil, err
	}
	// The grid is regular: G depends on |i − j| alone.
	n := len(p.x)
	lags := make([]float64, n)
	for i := range lags {
		lags[i] = float64(i) / float64(n+1)
	}
	q, err := r.innerProducts(ctx, lags)
	if err != nil {
		return nil, err
	}
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, q.values[max(i-j, j-i)])
		}
	}
	noise, err := p.psdNoise(g)
	if err != nil {
		return nil, err
	}
	return &experiment.Result{
		Metrics: map[string]float64{
			"g0": q.values[0], "trace_uniform": noise.trace, "rank_uniform": float64(noise.rank),
			"quadrature_error": q.change, "quadrature_nodes": float64(q.nodes), "condition": p.condition,
		},
		Series: map[string]experiment.Series{
			"inner_product":  {"x": lags, "g": q.values},
			"noise_variance": {"x": p.x, "uniform": diagonalOf(noise.sigma)},
		},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at every input", experiment.FormatNumber(r.c)),
			"the output at any input on the line, and linear combinations of outputs (prior variance 1)", n, noise.rank, 0, recordHoldsNoOutputs),
		Warnings: p.warnings(),
	}, nil
}
