package sparsegp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// Projection holds the part of predictions at P fixed inputs that does not depend on the
// posterior, for many posteriors at the same inputs. It is safe for concurrent use.
//
// It takes M·P + P numbers. Predictions of a posterior then take O(M²P) operations, without the
// O(M³) of K's factor and without kernel values.
type Projection struct {
	m, points  int
	k, w       *mat.Dense // K, M×M, and K⁻¹K_ZX, M×P
	left       []float64  // k(x_i, x_i) − k_iᵀw_i, length P
	variance   float64    // of the kernel
	reciprocal float64    // of the condition number of K, an estimate
}

// Project returns the projection at the rows of x (P×D), or an *op.NotPositiveDefiniteError if K
// has no Cholesky factor. K without jitter is ill-conditioned for inducing inputs closer than
// about a lengthscale; the engine gets a warning if predictions lose most of their digits.
func Project(ctx context.Context, e *engine.Engine, g InducingInputs, x *mat.Dense) (*Projection, error) {
	return first(ProjectAll(ctx, e, g, []*mat.Dense{x}))
}

// ProjectAll is [Project] for several sets of P inputs, in one run. Each has the same bits as alone.
func ProjectAll(ctx context.Context, e *engine.Engine, g InducingInputs, x []*mat.Dense) ([]*Projection, error) {
	if err := g.checkInputs(x); err != nil {
		return nil, err
	}
	m, d := g.Z.Dims()
	points, _ := x[0].Dims()
	out, err := e.RunAs(ctx, tensor.Float64, projectProgram(g.Kernel, len(x), m, points, d),
		engine.Values{"z": wide(g.Z), "nugget": wide(g.nugget()), "x": stacked(tensor.Float64, x)})
	if err != nil {
		return nil, err
	}
	variance, _ := g.Kernel.Stationary()
	r := engine.Read(out)
	w, explained, k, reciprocal := r.Floats("w"), r.Floats("explained"), r.Dense("k"), r.Scalar("rcond")
	if r.Err() != nil {
		return nil, r.Err()
	}
	if reciprocal < conditionWarning {
		e.Warn("inducing inputs: computed but suspect, the condition number of their covariance is about %.0e; use fewer of "+
			"them, or jitter", 1/reciprocal)
	}
	all := make([]*Projection, len(x))
	for i := range all {
		p := &Projection{m: m, points: points, k: k, w: mat.NewDense(m, points, w[i*m*points:(i+1)*m*points]),
			variance: variance, reciprocal: reciprocal}
		for _, v := range explained[i*points : (i+1)*points] {
			p.left = append(p.left, variance-v)
		}
		all[i] = p
	}
	return all, nil
}

// VarianceError is the error of a negative predictive variance. The terms of a variance cancel
// near an inducing input; a result below zero by more than negligible has no correct digits.
type VarianceError struct {
	Input     int // counted from 0
	Variance  float64
	Condition float64 // of the inducing inputs' covariance
}

func (e *VarianceError) Error() string {
	return fmt.Sprintf("sparse GP: the predictive variance at input %d (counted from 0) is %g: the covariance of the "+
		"inducing inputs is too ill-conditioned (about %.0e); use fewer of them, or jitter", e.Input, e.Variance, e.Condition)
}

// Predict returns mean and variance of the function (length P each) for the mean (length M) and
// the covariance S (M×M) at the inducing inputs, as the function Predict does. S enters only
// through w_iᵀSw_i.
func (p *Projection) Predict(ctx context.Context, e *engine.Engine, mean []float64,
	cov *mat.Dense) (predicted, variance []float64, err error) {
	mu, err := column("the mean", mean, p.m)
	if err != nil {
		return nil, nil, err
	}
	if r, c := cov.Dims(); r != p.m || c != p.m {
		return nil, nil, fmt.Errorf("sparse GP: the covariance is %d×%d for %d inducing inputs", r, c, p.m)
	}
	out, err := e.RunAs(ctx, tensor.Float64, projectedProgram(p.m, p.points),
		engine.Values{"w": wide(p.w), "m": wide(mu), "s": wide(cov)})
	if err != nil {
		return nil, nil, err
	}
	r := engine.Read(out)
	predicted, variance = r.Floats("mean"), r.Floats("v")
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return predicted, variance, p.complete(variance)
}

// Inside returns the projection without the variance that the inducing inputs leave: its predictions are of the part of
// the function that they determine, with the variances w_iᵀSw_i.
func (p *Projection) Inside() *Projection {
	inside := *p
	inside.left = make([]float64, p.points)
	return &inside
}

// complete adds to w_iᵀSw_i the part of the variances that does not depend on S, in place.
func (p *Projection) complete(variance []float64) error {
	for i, left := range p.left {
		v := variance[i] + left
		if v < -negligible*p.variance {
			return &VarianceError{i, v, 1 / p.reciprocal}
		}
		variance[i] = max(v, 0)
	}
	return nil
}

// projectProgram computes for each of s sets "w" (s×m×points), the weights of predictions at "x" (s×points×d), and the
// outputs of [weights]; "k" is K (m×m).
func projectProgram(k kernel.Kernel, s, m, points, d int) engine.Program {
	return engine.Program{Name: "projection of a sparse GP",
		Key: fmt.Sprintf("sparse GP projection %s %d %d %d %d", k.Key(), s, m, points, d),
		Build: func(b *engine.Builder) {
			cov, w := weights(b, k, m, d, b.Tensor("x", s, points, d))
			b.Output("k", cov)
			b.Output("w", w)
		}}
}

// weights adds K (m×m) and W = K⁻¹K_ZX (m×points) for inputs x (points×d), or a batch of such. It outputs the
// reciprocal condition number of K, "rcond", and the variance k_iᵀw_i explained by the inducing inputs at each input,
// "explained" (length points).
func weights(b *engine.Builder, k kernel.Kernel, m, d int, x *gorgonia.Node) (cov, w *gorgonia.Node) {
	z, cov := prior(b, k, m, d)
	l := b.Cholesky(cov) // LLᵀ = K
	b.Output("rcond", b.ReciprocalCondition(cov, l))
	cross := k.Cross(b, z, x) // K_ZX
	w = b.CholeskySolve(l, cross)
	b.Output("explained", b.Sum(b.Hadamard(cross, w), x.Dims()-2))
	return cov, w
}

// projectedProgram computes "mean" (points×1) and "v", w_iᵀSw_i (points×1), from "w" (m×points),
// "m" (m×1) and "s" (m×m), Eq. (17).
func projectedProgram(m, points int) engine.Program {
	return engine.Program{Name: "predictions of a projected sparse GP",
		Key: fmt.Sprintf("sparse GP projected %d %d", m, points),
		Build: func(b *engine.Builder) {
			w := b.Input("w", m, points)
			b.Output("mean", b.Mul(b.Transpose(w), b.Input("m", m, 1)))
			b.Output("v", b.QuadraticForms(w, b.Input("s", m, m)))
		}}
}
