package sparse

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
)

// A λ that the noise exceeds is raised until the least eigenvalue of the update is that of Eq. (10);
// others stay. For two inducing inputs at a distance of one lengthscale K has 1.01 on its diagonal, a
// jitter included, and exp(−1/2) elsewhere.
func TestRaisedLambda(t *testing.T) {
	opened, err := engine.Opener("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	e := engine.Of(opened)
	m := NewModel(Column([]float64{0, 1}), 1, 1, 0.25, 0.01)
	noise := Noise{SigmaA: 0.5, SigmaB: 0.5}
	u := Update{Rho: 0.5, Regularisation: RegularisationCorrected}
	infer := func(b float64, raise bool) (*Posterior, error) {
		u.Raise = raise
		sums := sparsegp.Sums{A: []float64{1, 2}, B: mat.NewDense(2, 2, []float64{b, 0, 0, b})}
		return m.Infer(t.Context(), e, sums, noise, u)
	}
	ridge := noise.Ridge(m, u.Rho, u.Regularisation)
	p, err := infer(1, true)
	if err != nil || p.Raised || p.Ridge != ridge {
		t.Errorf("%+v, %v", p, err)
	}
	var notPD *op.NotPositiveDefiniteError
	if _, err = infer(-9, false); !errors.As(err, &notPD) {
		t.Errorf("%v", err)
	}
	if p, err = infer(-9, true); err != nil || !p.Raised {
		t.Fatalf("%+v, %v", p, err)
	}
	least := 1.01 - math.Exp(-0.5) - 9/0.25
	trialtest.Near(t, "lambda", p.Ridge, ridge-least, 1e-12)
	if _, err := infer(-1e30, true); err != nil {
		t.Error(err)
	}
	if _, err := infer(math.NaN(), true); err == nil {
		t.Error("NaN in the sums was taken")
	}
}
