package sparsegp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

// Projection is what predictions at fixed inputs share, whatever the posterior
// is: where many posteriors predict at the same inputs, it is computed once. It
// is safe for concurrent use.
type Projection struct {
	m, points  int
	w          gorgonia.Value // K⁻¹K_ZX, M×P
	left       []float64      // k(x_i, x_i) − k_iᵀw_i, length P
	variance   float64        // of the kernel
	reciprocal float64        // of the condition number of K, an estimate
}

// Project prepares predictions at the rows of x (P×D). It fails with an
// *op.NotPositiveDefiniteError where K has no Cholesky factor.
func Project(ctx context.Context, e *engine.Engine, g Inducing, x *mat.Dense) (*Projection, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	if err := finite("the matrix of inputs", x); err != nil {
		return nil, err
	}
	m, d := g.Z.Dims()
	points, dx := x.Dims()
	if dx != d {
		return nil, fmt.Errorf("sparse GP: the inputs have %d dimensions, the inducing inputs %d", dx, d)
	}
	out, err := e.RunAs(ctx, tensor.Float64, projectProgram(g.Kernel, m, points, d), engine.Values{"z": wide(g.Z), "nugget": wide(g.nugget()), "x": wide(x)})
	if err != nil {
		return nil, err
	}
	p := &Projection{m: m, points: points, w: out["w"]}
	p.variance, _ = g.Kernel.Stationary()
	if p.reciprocal, err = engine.Scalar(out["rcond"]); err != nil {
		return nil, err
	}
	if p.reciprocal < conditionWarning {
		e.Warn("inducing inputs: computed but suspect, the condition number of their covariance is about %.0e; use fewer of them, or jitter", 1/p.reciprocal)
	}
	explained, err := engine.Floats(out["explained"])
	if err != nil {
		return nil, err
	}
	p.left = make([]float64, points)
	for i, v := range explained {
		p.left[i] = p.variance - v
	}
	return p, nil
}

// VarianceError says that a predictive variance came out negative.
type VarianceError struct {
	Input     int // counted from 0
	Variance  float64
	Condition float64 // of the inducing inputs' covariance
}

func (e *VarianceError) Error() string {
	return fmt.Sprintf("sparse GP: the predictive variance at input %d (counted from 0) is %g: the covariance of the inducing inputs is too ill-conditioned (about %.0e); use fewer of them, or jitter", e.Input, e.Variance, e.Condition)
}

// Predict returns mean and variance of the function, as the function Predict
// does, for the mean and the covariance at the inducing inputs.
func (p *Projection) Predict(ctx context.Context, e *engine.Engine, mean []float64, cov *mat.Dense) (predicted, variance []float64, err error) {
	mu, err := column("the mean", mean, p.m)
	if err != nil {
		return nil, nil, err
	}
	if r, c := cov.Dims(); r != p.m || c != p.m {
		return nil, nil, fmt.Errorf("sparse GP: the covariance is %d×%d for %d inducing inputs", r, c, p.m)
	}
	out, err := e.RunAs(ctx, tensor.Float64, projectedProgram(p.m, p.points), engine.Values{"w": p.w, "m": wide(mu), "s": wide(cov)})
	if err != nil {
		return nil, nil, err
	}
	if predicted, err = engine.Floats(out["mean"]); err != nil {
		return nil, nil, err
	}
	if variance, err = engine.Floats(out["v"]); err != nil {
		return nil, nil, err
	}
	for i, left := range p.left {
		v := variance[i] + left
		if v < -negligible*p.variance {
			return nil, nil, &VarianceError{i, v, 1 / p.reciprocal}
		}
		variance[i] = max(v, 0)
	}
	return predicted, variance, nil
}

func projectProgram(k kernel.Kernel, m, points, d int) engine.Program {
	return engine.Program{Name: "projection of a sparse GP", Key: fmt.Sprintf("sparse GP projection %s %d %d %d", k.Key(), m, points, d),
		Build: func(b *engine.Builder) error {
			w, err := projection(b, k, m, points, d)
			b.Output("w", w)
			return err
		}}
}

// projection adds w = K⁻¹K_ZX (m×points) for the inputs "x", and outputs the
// reciprocal condition number of K and the variance that w explains at each input.
func projection(b *engine.Builder, k kernel.Kernel, m, points, d int) (w *gorgonia.Node, err error) {
	z, cov, err := prior(b, k, m, d)
	if err != nil {
		return nil, err
	}
	l, err := op.Cholesky().Apply(cov)
	if err != nil {
		return nil, err
	}
	rcond, err := op.ReciprocalCondition().Apply(cov, l)
	if err != nil {
		return nil, err
	}
	b.Output("rcond", rcond)
	cross, err := k.Cross(z, b.Input("x", points, d))
	if err != nil {
		return nil, err
	}
	if w, err = op.CholeskySolve().Apply(l, cross); err != nil {
		return nil, err
	}
	both, err := gorgonia.HadamardProd(cross, w)
	if err != nil {
		return nil, err
	}
	explained, err := gorgonia.Sum(both, 0)
	b.Output("explained", explained)
	return w, err
}

func projectedProgram(m, points int) engine.Program {
	return engine.Program{Name: "predictions of a projected sparse GP", Key: fmt.Sprintf("sparse GP projected %d %d", m, points),
		Build: func(b *engine.Builder) error {
			w := b.Input("w", m, points)
			wt, err := gorgonia.Transpose(w)
			if err != nil {
				return err
			}
			mean, err := gorgonia.Mul(wt, b.Input("m", m, 1))
			if err != nil {
				return err
			}
			b.Output("mean", mean)
			v, err := op.QuadraticForms().Apply(w, b.Input("s", m, m))
			b.Output("v", v)
			return err
		}}
}
