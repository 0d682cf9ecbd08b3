package laplace

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// conditionWarning is the reciprocal condition number of the inducing inputs' covariance below which
// features have few correct digits.
const conditionWarning = 1e-12

// Features returns Φ = L⁻¹K_m* (M×P) with LLᵀ = K_mm, for the covariances kmm of M inducing
// inputs (M×M) and cross between these and P inputs (M×P). The covariance of the subset of
// regressors at the P inputs is ΦᵀΦ = K_*m K_mm⁻¹ K_m* (Eq. 7). It returns an
// *op.NotPositiveDefiniteError if kmm has no Cholesky factor.
func Features(ctx context.Context, e *engine.Engine, kmm, cross *mat.Dense) (*mat.Dense, error) {
	for name, a := range map[string]*mat.Dense{"the covariance of the inducing inputs": kmm,
		"their covariance with other inputs": cross} {
		if err := check(name, a); err != nil {
			return nil, err
		}
	}
	m, points := cross.Dims()
	if r, c := kmm.Dims(); r != m || c != m {
		return nil, fmt.Errorf("the Laplace approximation: the covariance of the inducing inputs is %d×%d, theirs with "+
			"others %d×%d", r, c, m, points)
	}
	out, err := e.Run(ctx, featuresProgram(m, points), engine.Values{"kmm": e.Matrix(kmm), "cross": e.Matrix(cross)})
	if err != nil {
		return nil, err
	}
	r := engine.Read(out)
	rcond, features := r.Scalar("rcond"), r.Dense("features")
	if err := r.Err(); err != nil {
		return nil, err
	}
	if rcond < conditionWarning {
		e.Warn("inducing inputs: computed but suspect, the condition number of their covariance is about %.0e", 1/rcond)
	}
	return features, nil
}

// featuresProgram computes the "features" Φ = L⁻¹K_m* (m×points) with LLᵀ = K_mm (Eq. 7), and the
// reciprocal condition number of K_mm, "rcond".
func featuresProgram(m, points int) engine.Program {
	return engine.Program{Name: "features of the subset of regressors",
		Key: fmt.Sprintf("laplace features %d %d", m, points),
		Build: func(b *engine.Builder) {
			kmm := b.Input("kmm", m, m)
			l := b.Cholesky(kmm)
			rcond := b.ReciprocalCondition(kmm, l)
			features := b.TriangularSolve(l, b.Input("cross", m, points))
			b.Output("rcond", rcond)
			b.Output("features", features)
		}}
}
