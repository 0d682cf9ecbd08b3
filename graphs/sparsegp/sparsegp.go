// Package sparsegp computes sparse variational Gaussian processes on fixed inducing inputs, as
// graph programs: the sufficient sums over the data, the posterior at the inducing inputs from
// such sums, exact or with noise, and predictions from the posterior.
//
// With the kernel vectors k_i = (k(z_j, x_i))_j between M inducing inputs z_j and each of n
// inputs x_i, outputs y_i and weights w_i, the data enter only through
//
//	a = Σ w_i k_i y_i,  B = Σ w_i k_i k_iᵀ
//
// (Titsias 2009; Honkela, "Gaussian processes with differential privacy", 2021, Eqs. 3 and 37).
// With the precision τ of the observations and Q = K + τB + λI, the posterior of the function's
// values at the inducing inputs is N(m, S),
//
//	m = τ K Q⁻¹ a,  S = K Q⁻¹ K + S₂ (Eq. 9),
//
// where S₂ accounts for Gaussian noise in a and B; see [Form].
//
// The sums over the data are computed in the engine's element type. Everything of the size of M
// is float64 on every engine, because float32 does not resolve the covariance of the inducing
// inputs, and its cost does not grow with the data.
package sparsegp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
	"privkern/graphs/kernel"
)

// InducingInputs holds a kernel and M inducing inputs.
type InducingInputs struct {
	Kernel kernel.Kernel // stationary
	Z      *mat.Dense    // M×D
	// Jitter is added to the diagonal of K, the prior covariance at the inducing inputs. It is the
	// variance of a noise on the function's values there.
	Jitter float64
}

// check returns an error for invalid numbers, and for kernels that are not stationary, because
// predictions use one prior variance.
func (g InducingInputs) check() error {
	if err := g.Kernel.Validate(); err != nil {
		return err
	}
	if _, ok := g.Kernel.Stationary(); !ok {
		return fmt.Errorf("sparse GP: the kernel %v does not depend on a distance", g.Kernel)
	}
	if !(g.Jitter >= 0) || math.IsInf(g.Jitter, 1) {
		return fmt.Errorf("sparse GP: the jitter is %g; zero or a positive number is required", g.Jitter)
	}
	return checkFinite("the matrix of inducing inputs", g.Z)
}

// nugget returns the jitter as a matrix, M×M.
func (g InducingInputs) nugget() *mat.Dense {
	m, _ := g.Z.Dims()
	return scaledIdentity(m, g.Jitter)
}

// scaledIdentity returns vI, n×n.
func scaledIdentity(n int, v float64) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, v)
	}
	return d
}

// checkFinite returns an error with the matrix's name if a value is not finite.
func checkFinite(name string, a *mat.Dense) error {
	if err := finite.Matrix(name, a); err != nil {
		return fmt.Errorf("sparse GP: %w", err)
	}
	return nil
}

// column returns n finite numbers as a matrix, n×1.
func column(name string, v []float64, n int) (*mat.Dense, error) {
	if len(v) != n {
		return nil, fmt.Errorf("sparse GP: %s has %d elements, want %d", name, len(v), n)
	}
	c := mat.NewDense(n, 1, v)
	return c, checkFinite(name, c)
}

// Sums holds the sufficient sums over the data, exact or with noise. Their sizes do not depend on the
// number of rows. A has the unit of k·y, B that of k².
type Sums struct {
	A []float64  // length M
	B *mat.Dense // M×M, symmetric
}

// Sum returns the sums over the rows of x (n×D) with outputs y (n) and positive weights (n); nil
// stands for weights of one.
//
// It takes O(nMD) operations for the kernel values and nM² for B, and holds n·M kernel values.
// The order of summation is that of the BLAS product, and does not depend on the number of
// workers.
func Sum(ctx context.Context, e *engine.Engine, g InducingInputs, x *mat.Dense, y, weights []float64) (Sums, error) {
	return first(sumAll(ctx, e, e.ElementType(), g, []*mat.Dense{x}, [][]float64{y}, weights))
}

// SumDouble is Sum in float64 on every engine, because in float32 the rounding of B may make Q
// indefinite where neither noise nor λ exceeds it.
func SumDouble(ctx context.Context, e *engine.Engine, g InducingInputs, x *mat.Dense,
	y, weights []float64) (Sums, error) {
	return first(sumAll(ctx, e, tensor.Float64, g, []*mat.Dense{x}, [][]float64{y}, weights))
}

// SumAll is [Sum] for several sets of n rows, in one run, with weights of one; with double it is [SumDouble].
// It holds the kernel values of all sets, and each has the same bits as alone.
func SumAll(ctx context.Context, e *engine.Engine, g InducingInputs, x []*mat.Dense, y [][]float64, double bool,
) ([]Sums, error) {
	dtype := e.ElementType()
	if double {
		dtype = tensor.Float64
	}
	return sumAll(ctx, e, dtype, g, x, y, nil)
}

// first returns the only result of a computation of one.
func first[T any](all []T, err error) (one T, _ error) {
	if err != nil {
		return one, err
	}
	return all[0], nil
}

// sumAll is SumAll in the given element type, with weights that all sets have in common.
func sumAll(ctx context.Context, e *engine.Engine, dtype tensor.Dtype, g InducingInputs, x []*mat.Dense, y [][]float64,
	weights []float64) ([]Sums, error) {
	if err := g.checkInputs(x); err != nil {
		return nil, err
	}
	m, d := g.Z.Dims()
	n, _ := x[0].Dims()
	outputs := make([]*mat.Dense, len(x))
	for i := range x {
		var err error
		if outputs[i], err = column("the outputs", y[i], n); err != nil {
			return nil, err
		}
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	w, err := column("the weights", weights, n)
	if err != nil {
		return nil, err
	}
	out, err := e.RunAs(ctx, dtype, sumProgram(g.Kernel, len(x), m, n, d), engine.Values{
		"z": engine.NewMatrix(dtype, g.Z), "x": stacked(dtype, x), "y": stacked(dtype, outputs),
		"w": stacked(dtype, slices.Repeat([]*mat.Dense{w}, len(x)))})
	if err != nil {
		return nil, err
	}
	r := engine.Read(out)
	a, b := r.Floats("a"), r.Floats("b")
	sums := make([]Sums, len(x))
	for i := range sums {
		if r.Err() == nil {
			sums[i] = Sums{A: a[i*m : (i+1)*m : (i+1)*m], B: mat.NewDense(m, m, b[i*m*m:(i+1)*m*m:(i+1)*m*m])}
		}
	}
	return sums, r.Err()
}

// stacked returns matrices of one size as a batch. One is not copied, unless its element type changes.
func stacked(dtype tensor.Dtype, all []*mat.Dense) gorgonia.Value {
	rows, cols := all[0].Dims()
	one := all[0]
	if len(all) > 1 {
		one = mat.NewDense(len(all)*rows, cols, nil)
		for i, a := range all {
			one.Slice(i*rows, (i+1)*rows, 0, cols).(*mat.Dense).Copy(a)
		}
	}
	return engine.TensorOf(engine.Data(engine.NewMatrix(dtype, one)), len(all), rows, cols)
}

// checkInputs returns an error for sets of inputs that are empty, not finite, of different numbers of rows, or not of
// the inducing inputs' dimensions.
func (g InducingInputs) checkInputs(x []*mat.Dense) error {
	if err := g.check(); err != nil {
		return err
	}
	_, d := g.Z.Dims()
	for i, one := range x {
		if err := checkFinite("the matrix of inputs", one); err != nil {
			return err
		}
		n, dx := one.Dims()
		if dx != d {
			return fmt.Errorf("sparse GP: the inputs have %d dimensions, the inducing inputs %d", dx, d)
		}
		if rows, _ := x[0].Dims(); n != rows {
			return fmt.Errorf("sparse GP: set %d of inputs has %d rows, the first one %d", i+1, n, rows)
		}
	}
	return nil
}

// sumProgram computes for each of s sets "a", Σ w_i k_i y_i (s×m×1), and "b", Σ w_i k_i k_iᵀ (s×m×m), from "z" (m×d),
// "x" (s×n×d), outputs "y" and weights "w" (s×n×1).
func sumProgram(k kernel.Kernel, s, m, n, d int) engine.Program {
	return engine.Program{Name: "sums over the data of a sparse GP",
		Key: fmt.Sprintf("sparse GP sums %s %d %d %d %d", k.Key(), s, m, n, d),
		Build: func(b *engine.Builder) {
			cross := k.Cross(b, b.Input("z", m, d), b.Tensor("x", s, n, d)) // columns k_i, s×m×n
			w := b.Tensor("w", s, n, 1)
			weighted := b.Hadamard(w, b.Tensor("y", s, n, 1)) // w_i y_i
			b.Output("a", b.MatrixProduct(cross, weighted))
			b.Output("b", b.WeightedGram(cross, w))
		}}
}

// Form selects the covariance D = Cov[Ev] of the noise E of B, in the linear approximation that m
// changes by −τ²KQ⁻¹Ev with v = Q⁻¹a. E is symmetric, with independent elements on and above the
// diagonal, of variance σ_b² on it and σ_b²/2 off it.
type Form string

// The forms of D.
const (
	// Exact is σ_b²/2 (|v|²I + vvᵀ).
	Exact Form = "corrected"
	// Printed is σ_b²/2 (|v|²I + diag(v²)), the result of Eqs. (14) and (40), in which E_ij and E_ji
	// are independent.
	Printed Form = "as-published"
)

// Noise holds the variances of the noise in the sums, and its treatment in the posterior.
type Noise struct {
	VarianceA float64 // σ_a², of every element of A
	VarianceB float64 // σ_b², of the diagonal of B; half of it off the diagonal
	Ridge     float64 // λ
	Form      Form
}

// Posterior is N(m, S) of the function's values at the inducing inputs.
type Posterior struct {
	Mean []float64 // m, length M
	// Cov is S = KQ⁻¹K + S₂ with S₂ = KQ⁻¹(τ²σ_a²I + τ⁴D)Q⁻¹K (M×M).
	Cov *mat.Dense
	// Naive is KQ⁻¹K: S without S₂.
	Naive *mat.Dense
	// Reciprocal is an estimate of the reciprocal of the condition number of Q.
	Reciprocal float64
}

// Infer returns the posterior from sums with the given noise, or an *op.NotPositiveDefiniteError
// if Q is not positive definite.
//
// It takes O(M³) operations: a Cholesky factor LLᵀ = Q, and products of M×M matrices. KQ⁻¹K is
// formed as (L⁻¹K)ᵀ(L⁻¹K), which is symmetric and positive semidefinite up to rounding. K is not
// inverted, because it is ill-conditioned.
func Infer(ctx context.Context, e *engine.Engine, g InducingInputs, s Sums, precision float64,
	noise Noise) (*Posterior, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	m, d := g.Z.Dims()
	u, err := updateOf(m, s, precision, noise)
	if err != nil {
		return nil, err
	}
	out, err := e.RunAs(ctx, tensor.Float64, inferProgram(g.Kernel, m, d), engine.Values{
		"z": wide(g.Z), "nugget": wide(g.nugget()), "a": wide(u.a), "update": wide(u.update), "base": wide(u.base),
		"mix": wide(u.mix), "precision": gorgonia.NewF64(u.precision), "outer": gorgonia.NewF64(u.outer)})
	if err != nil {
		return nil, err
	}
	r := engine.Read(out)
	return &Posterior{Mean: r.Floats("mean"), Cov: r.Dense("cov"), Naive: r.Dense("naive"),
		Reciprocal: r.Scalar("rcond")}, r.Err()
}

// update holds the inputs of [posterior] and [added].
type update struct {
	a, update, mix, base *mat.Dense
	precision, outer     float64
}

// updateOf returns the inputs for sums at m inducing inputs, or an error for numbers out of range.
func updateOf(m int, s Sums, precision float64, noise Noise) (u update, err error) {
	if err := checkFinite("the matrix B", s.B); err != nil {
		return u, err
	}
	if r, c := s.B.Dims(); r != m || c != m {
		return u, fmt.Errorf("sparse GP: B is %d×%d for %d inducing inputs", r, c, m)
	}
	if u.a, err = column("A", s.A, m); err != nil {
		return u, err
	}
	for name, v := range map[string]float64{"the variance of A": noise.VarianceA, "the variance of B": noise.VarianceB,
		"lambda": noise.Ridge} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return u, fmt.Errorf("sparse GP: %s is %g; zero or a positive number is required", name, v)
		}
	}
	if !(precision > 0) || math.IsInf(precision, 1) {
		return u, fmt.Errorf("sparse GP: the precision of the observations is %g; a positive number is required", precision)
	}
	if u.mix, u.outer, err = noise.spread(m, precision); err != nil {
		return u, err
	}
	u.precision, u.update, u.base = precision, scaledIdentity(m, noise.Ridge), mat.NewDense(m, 1, nil)
	for i := range m {
		for j, v := range s.B.RawRowView(i) {
			u.update.Set(i, j, u.update.At(i, j)+precision*v)
		}
		u.base.Set(i, 0, precision*precision*noise.VarianceA)
	}
	return u, nil
}

// wide returns a matrix in float64.
func wide(a *mat.Dense) gorgonia.Value { return engine.NewMatrix(tensor.Float64, a) }

// spread returns mix (M×M) and outer with τ⁴D = diag(mix·v²) + outer·vvᵀ.
//
// Element i of Ev has the variance σ_b²v_i² + σ_b²/2 Σ_{j≠i} v_j² = σ_b²/2 (|v|² + v_i²).
// Elements i ≠ j share E_ij, so that their covariance is σ_b²/2 v_i v_j. Together D = σ_b²/2
// (|v|²I + vvᵀ), and all elements of mix are τ⁴σ_b²/2.
func (n Noise) spread(m int, precision float64) (mix *mat.Dense, outer float64, err error) {
	half := math.Pow(precision, 4) * n.VarianceB / 2
	mix = mat.NewDense(m, m, nil)
	for i := range m {
		for j := range m {
			mix.Set(i, j, half)
		}
	}
	switch n.Form {
	case Exact:
		return mix, half, nil
	case Printed:
		for i := range m {
			mix.Set(i, i, 2*half)
		}
		return mix, 0, nil
	}
	return nil, 0, fmt.Errorf("sparse GP: unknown form %q of the covariance; use %q or %q", n.Form, Exact, Printed)
}

// prior adds K with the jitter (m×m), and its inducing inputs "z" (m×d).
func prior(b *engine.Builder, k kernel.Kernel, m, d int) (z, cov *gorgonia.Node) {
	z = b.Input("z", m, d)
	return z, b.Add(k.Symmetric(b, z), b.Input("nugget", m, m))
}

// inferProgram computes the posterior of Eq. (9): "mean" (m×1), "naive" (KQ⁻¹K, m×m), "cov"
// (KQ⁻¹K + S₂, m×m), and "rcond" of Q, from the inputs of [posterior].
func inferProgram(k kernel.Kernel, m, d int) engine.Program {
	return engine.Program{Name: "posterior of a sparse GP",
		Key: fmt.Sprintf("sparse GP posterior %s %d %d", k.Key(), m, d),
		Build: func(b *engine.Builder) {
			_, cov := prior(b, k, m, d)
			at := posterior(inputs{Builder: b}, cov, m)
			b.Output("rcond", b.ReciprocalCondition(at.q, at.factor))
			b.Output("mean", at.mean)
			b.Output("naive", at.naive)
			b.Output("cov", at.cov)
		}}
}

// inputs declares inputs of one problem, or, with a length, of a batch of problems.
type inputs struct {
	*engine.Builder
	lead []int
}

// matrix declares a rows×cols matrix of each problem.
func (in inputs) matrix(name string, rows, cols int) *gorgonia.Node {
	return in.Tensor(name, append(slices.Clone(in.lead), rows, cols)...)
}

// scalar declares a number of each problem.
func (in inputs) scalar(name string) *gorgonia.Node { return in.Tensor(name, in.lead...) }

// transposed adds the transpose of each problem's matrix.
func (in inputs) transposed(x *gorgonia.Node) *gorgonia.Node {
	if in.lead == nil {
		return in.Transpose(x)
	}
	return in.TransposeMembers(x)
}

// nodes holds the quantities of a posterior.
type nodes struct {
	q, factor *gorgonia.Node // Q = LLᵀ, m×m
	mean      *gorgonia.Node // τKQ⁻¹a, m×1
	// naive is KQ⁻¹K, cov KQ⁻¹K + S₂ (m×m).
	naive, cov *gorgonia.Node
}

// posterior adds the posterior for K (m×m) from "update", τB + λI (m×m), "a" (m×1) and the scalar
// "precision", τ; for S₂ see [added].
func posterior(in inputs, k *gorgonia.Node, m int) (p nodes) {
	p.q = in.Add(k, in.matrix("update", m, m)) // Q = K + τB + λI
	p.factor = in.Cholesky(p.q)                // LLᵀ = Q

	v := in.CholeskySolve(p.factor, in.matrix("a", m, 1)) // v = Q⁻¹a
	p.mean = in.ScaledBy(in.MatrixProduct(k, v), in.scalar("precision"))

	root := in.TriangularSolve(p.factor, k) // L⁻¹K
	p.naive = in.ColumnGram(1, root)        // KQ⁻¹K
	p.cov = in.Add(p.naive, added(in, p.factor, k, v, m))
	return p
}

// added returns S₂ = KQ⁻¹(τ²σ_a²I + τ⁴D)Q⁻¹K (m×m). "mix" (m×m) and "base" (m×1) give the
// diagonal part of the inner matrix, the scalar "outer" the multiple of vvᵀ; see [Noise.spread].
// U = KQ⁻¹ takes 2M³ operations, and no matrix is larger than M×M, whereas Eq. (14) as printed
// sums over all pairs of elements.
func added(in inputs, l, k, v *gorgonia.Node, m int) *gorgonia.Node {
	u := in.transposed(in.CholeskySolve(l, k)) // U = KQ⁻¹
	diagonal := in.Add(in.MatrixProduct(in.matrix("mix", m, m), in.Square(v)), in.matrix("base", m, 1))
	weighted := in.WeightedGram(u, diagonal)    // U diag(mix v² + base) Uᵀ
	uv := in.RowGram(1, in.MatrixProduct(u, v)) // Uv vᵀUᵀ
	return in.Add(weighted, in.ScaledBy(uv, in.scalar("outer")))
}

// conditionWarning is the reciprocal condition number of the inducing inputs' covariance below which
// predictions have few correct digits.
const conditionWarning = 1e-14

// Predict returns mean and variances of the function, without the noise of observations, at the
// rows of x (P×D), from the mean m (M) and any number of covariances S (M×M) at the inducing
// inputs. With W = K⁻¹K_ZX (Eq. 17),
//
//	mean = Wᵀm,  variance_i = k(x_i, x_i) − k_iᵀw_i + w_iᵀSw_i.
//
// Variances that are negative by rounding become zero. It returns an *op.NotPositiveDefiniteError
// if K has no Cholesky factor.
func Predict(ctx context.Context, e *engine.Engine, g InducingInputs, mean []float64, covs []*mat.Dense,
	x *mat.Dense) (predicted []float64, variances [][]float64, err error) {
	if err := errors.Join(g.check(), checkFinite("the matrix of inputs", x)); err != nil {
		return nil, nil, err
	}
	m, d := g.Z.Dims()
	points, dx := x.Dims()
	if dx != d {
		return nil, nil, fmt.Errorf("sparse GP: the inputs have %d dimensions, the inducing inputs %d", dx, d)
	}
	mu, err := column("the mean", mean, m)
	if err != nil {
		return nil, nil, err
	}
	inputs := engine.Values{"z": wide(g.Z), "nugget": wide(g.nugget()), "x": wide(x), "m": wide(mu)}
	for i, s := range covs {
		if r, c := s.Dims(); r != m || c != m {
			return nil, nil, fmt.Errorf("sparse GP: the covariance is %d×%d for %d inducing inputs", r, c, m)
		}
		inputs[fmt.Sprint("s", i)] = wide(s)
	}
	out, err := e.RunAs(ctx, tensor.Float64, predictProgram(g.Kernel, m, points, d, len(covs)), inputs)
	if err != nil {
		return nil, nil, err
	}
	r := engine.Read(out)
	rcond, explained := r.Scalar("rcond"), r.Floats("explained")
	predicted = r.Floats("mean")
	variances = make([][]float64, len(covs))
	for i := range covs {
		variances[i] = r.Floats(fmt.Sprint("v", i))
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	if rcond < conditionWarning {
		e.Warn("inducing inputs: computed but suspect, the condition number of their covariance is about %.0e; use fewer of "+
			"them, or jitter", 1/rcond)
	}
	variance, _ := g.Kernel.Stationary()
	for i := range covs {
		for j, v := range variances[i] {
			v += variance - explained[j]
			if v < -negligible*variance {
				return nil, nil, fmt.Errorf("sparse GP: the predictive variance at input %d (counted from 0) is %g: the "+
					"covariance of the inducing inputs is too ill-conditioned (about %.0e); use fewer of them, or jitter", j, v,
					1/rcond)
			}
			variances[i][j] = max(v, 0)
		}
	}
	return predicted, variances, nil
}

// negligible is the size of a negative variance that is attributed to rounding, relative to the prior
// variance.
const negligible = 1e-6

// predictProgram computes the "mean" Wᵀm (points×1) from "m" (m×1), the variances "v0", "v1", …,
// w_iᵀSw_i (points×1), from the covariances "s0", "s1", … (m×m), and the outputs of [weights].
func predictProgram(k kernel.Kernel, m, points, d, covs int) engine.Program {
	return engine.Program{Name: "predictions of a sparse GP",
		Key: fmt.Sprintf("sparse GP predictions %s %d %d %d %d", k.Key(), m, points, d, covs),
		Build: func(b *engine.Builder) {
			_, w := weights(b, k, m, d, b.Input("x", points, d))
			b.Output("mean", b.Mul(b.Transpose(w), b.Input("m", m, 1)))
			for i := range covs {
				b.Output(fmt.Sprint("v", i), b.QuadraticForms(w, b.Input(fmt.Sprint("s", i), m, m)))
			}
		}}
}
