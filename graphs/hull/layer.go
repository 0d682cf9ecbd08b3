package hull

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// solution is a layer in the samples' own coordinates: points X (N×d), weights (1×d),
// the kernel matrix K (N×N) and solutions B.
type solution struct {
	points, weights *tensor.Dense
	kernel          gorgonia.Value
	solutions       *tensor.Dense // [B', b], N×(p+1)
}

// targets are right-hand sides of the regularised least squares problem.
type targets struct {
	columns int
	values  *tensor.Dense // T = [Y−μ, 1], N×(columns+1)
	mean    *tensor.Dense // μ, 1×columns
}

// newTargets returns the targets of centred samples and their mean.
func newTargets(e *engine.Engine, centred, mean *mat.Dense) *targets {
	n, p := centred.Dims()
	values := mat.NewDense(n, p+1, nil)
	for i := range n {
		row := values.RawRowView(i)
		copy(row, centred.RawRowView(i))
		row[p] = 1
	}
	return &targets{columns: p, values: e.Tensor(values), mean: e.Tensor(mean)}
}

const (
	// sketchColumns is the number of columns of a sketch. The norm that it estimates is
	// off by a few hundredths at most, as a part of λ by less than the tolerance: the
	// fixed point is a small part of λ.
	sketchColumns = 63
	// sketchFrom is the number of columns from which a sketch costs a third of the solution
	// or less.
	sketchFrom = 4 * (sketchColumns + 1)
	// sketchTolerance is the change of λ, as a part of it, after which the last step with a
	// sketch is off by no more than the sketch itself.
	sketchTolerance = 2e-2
)

// sketched returns YΩ for a p×sketchColumns matrix Ω of random signs, divided by the root
// of their number, so that ‖(K+λI)⁻¹YΩ‖² has the expectation ‖(K+λI)⁻¹Y‖². The signs are
// the same for every machine of p columns.
//
// Source: Hutchinson, "A stochastic estimator of the trace of the influence matrix"
// (1990).
func (f *fit) sketched(centred *mat.Dense) *targets {
	signs := rand.New(rand.NewPCG(uint64(f.p), sketchColumns))
	omega := mat.NewDense(f.p, sketchColumns, nil)
	scale := 1 / math.Sqrt(sketchColumns)
	for i := range omega.RawMatrix().Data {
		omega.RawMatrix().Data[i] = scale * float64(2*signs.IntN(2)-1)
	}
	var samples, mean mat.Dense
	samples.Mul(centred, omega)
	mean.Mul(mat.NewDense(1, f.p, f.mean), omega)
	return newTargets(f.e, &samples, &mean)
}

// encode returns the layer of the leading d directions without its solutions.
//
// The kernel of the layer is exp(−|x−x′|²/2) of x_j = z_j/√(dθ_j), which is Eq. (35)
// with n = d: θ is diagonal in principal coordinates. A direction without variance has
// the weight zero.
func (f *fit) encode(ctx context.Context, d int) (*solution, error) {
	points, weights := mat.NewDense(f.n, d, nil), mat.NewDense(1, d, nil)
	for j := range d {
		if f.variances[j] > 0 {
			weights.Set(0, j, 1/math.Sqrt(float64(d)*f.variances[j]))
		}
		for i := range f.n {
			points.Set(i, j, f.scores.At(i, j)*weights.At(0, j))
		}
	}
	one := &solution{points: f.e.Tensor(points), weights: f.e.Tensor(weights)}
	out, err := f.e.Run(ctx, kernelProgram(f.n, d), engine.Values{"x": one.points})
	if err != nil {
		return nil, err
	}
	one.kernel = out["k"]
	return one, nil
}

// layer solves the KAHM of the leading d directions. The fixed points of the layers before
// say where the iteration starts.
//
// While λ changes, K, T and μ stay on the device; each evaluation of R is one Cholesky
// factorisation, N³/3 operations, and a solve. Where no line of fixed points gives a good
// start, estimates of R from a few right-hand sides take the first steps.
//
// The solution that remains is that of the last λ at which R was evaluated, fixed.at,
// which is within the tolerance of λ*, not λ* itself: one factorisation less.
func (f *fit) layer(ctx context.Context, d int, before []*fixedPoint) (*solution, *fixedPoint, error) {
	one, err := f.encode(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	// ‖Y‖²/(pN), of which τ in Eq. (40) is twice and e₀ in Eq. (44) the half.
	scale := f.square / (float64(f.p) * float64(f.n))
	fixed := &fixedPoint{tau: 2 * scale, single: f.e.DType() == tensor.Float32.String(), tolerance: f.tolerance}
	fixed.begin(before)
	if f.sketch != nil && len(before) < 2 {
		rough := &fixedPoint{tau: fixed.tau, e: fixed.e, slope: fixed.slope, tolerance: sketchTolerance}
		err := f.evaluations(ctx, one.kernel, f.sketch, func(estimate evaluation) error {
			return rough.find(Secant, 0, func(lambda float64) (r float64, err error) {
				r, _, err = estimate(lambda)
				return r, err
			})
		})
		if err != nil {
			return nil, nil, err
		}
		fixed.e, fixed.slope = rough.e, rough.slope
	}
	err = f.evaluations(ctx, one.kernel, f.targets, func(full evaluation) error {
		solve := func(lambda float64) (r float64, err error) {
			r, one.solutions, err = full(lambda)
			return r, err
		}
		if f.gram == nil {
			return fixed.find(f.iteration, scale/2, solve)
		}
		// The norm from the Gram matrix; the solutions once, at the end.
		if err := f.findByGram(ctx, one.kernel, fixed, scale/2); err != nil {
			return err
		}
		fixed.at = fixed.lambda()
		_, err := solve(fixed.at)
		return err
	})
	return one, fixed, err
}

// evaluation computes R at λ = e+τ (Eq. 42), and the solutions there.
type evaluation func(lambda float64) (r float64, solutions *tensor.Dense, err error)

// evaluations calls use with the evaluation of R for a kernel matrix and targets.
func (f *fit) evaluations(ctx context.Context, k gorgonia.Value, t *targets, use func(evaluation) error) error {
	s, err := f.e.Session(ridgeProgram(f.n, t.columns))
	if err != nil {
		return err
	}
	defer s.Close()
	for name, v := range map[string]gorgonia.Value{"targets": t.values, "mean": t.mean, "k": k} {
		if err := s.Pin(name, v); err != nil {
			return err
		}
	}
	return use(func(lambda float64) (float64, *tensor.Dense, error) {
		out, err := s.Run(ctx, engine.Values{"lambda": f.e.Scalar(lambda)})
		if err != nil {
			return 0, nil, err
		}
		r, err := f.residual(lambda, out)
		return r, out["solutions"].(*tensor.Dense), err
	})
}

// findByGram finds the fixed point with the norm from the Gram matrix.
func (f *fit) findByGram(ctx context.Context, k gorgonia.Value, fixed *fixedPoint, start float64) error {
	norms, err := f.e.Session(gramNormProgram(f.n))
	if err != nil {
		return err
	}
	defer norms.Close()
	if err := norms.Pin("k", k); err != nil {
		return err
	}
	if err := norms.Pin("gram", f.gram); err != nil {
		return err
	}
	return fixed.find(f.iteration, start, func(lambda float64) (float64, error) {
		out, err := norms.Run(ctx, engine.Values{"lambda": f.e.Scalar(lambda)})
		if err != nil {
			return 0, err
		}
		return f.residual(lambda, out)
	})
}

// residual is R at λ = e+τ (Eq. 42), from a program's "norm".
func (f *fit) residual(lambda float64, out engine.Values) (float64, error) {
	norm, err := engine.Scalar(out["norm"])
	return lambda * lambda * norm / (float64(f.p) * float64(f.n)), err
}
