// Package laplace finds the posterior mode of a binary GP classifier with the
// logistic likelihood by Newton's method, as graph programs: the Laplace
// approximation of Rasmussen and Williams (2006), Section 3.4.
//
// With the prior covariance K of the latent function at the N training inputs,
// and W = diag(π(1 − π)) at the current f, one step is
//
//	f ← (K⁻¹ + W)⁻¹ b,  b = W f + (y + 1)/2 − π.
//
// It is linear in the labels y: (K⁻¹ + W)⁻¹ y/2 = C y with the cloaking matrix
// C = ½(K⁻¹ + W)⁻¹ of Smith, Álvarez and Lawrence (2019), Eq. (6). So a step can
// be taken for many versions of the labels at once, such as draws of a release.
//
// Where several labels belong to one input, they share a latent value, and N
// counts the different inputs: with n labels at an input, its W and π count n
// times and y is the sum of its labels. A label is still one output, and its
// column of C that of its input.
//
// K is never inverted. With the full K everything goes through
// B = I + W^½KW^½, whose eigenvalues are at least one; with a covariance of low
// rank, K = VVᵀ, through I + VᵀWV.
package laplace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
)

// Model is a GP classifier at fixed training inputs, whose covariance is copied to the
// engine's device once. Its methods may be called from several goroutines.
type Model struct {
	e       *engine.Engine
	n       int
	rank    int // columns of V, 0 for a full covariance
	factors *engine.Resident
	counts  *engine.Resident
}

// Close gives the covariance's memory back, as the engine's end does. The model cannot be
// used again.
func (m *Model) Close() {
	m.factors.Close()
	m.counts.Close()
}

// Full returns the model with the prior covariance k (N×N, symmetric, positive
// semidefinite). Counts are how many labels each input has; nil stands for one
// each.
func Full(e *engine.Engine, k *mat.Dense, counts []float64) (*Model, error) {
	if err := check("the covariance", k); err != nil {
		return nil, err
	}
	n, c := k.Dims()
	if n != c {
		return nil, fmt.Errorf("the Laplace approximation: the covariance is %d×%d, not square", n, c)
	}
	return newModel(e, n, 0, k, counts)
}

// LowRank returns the model with the prior covariance VVᵀ for the N×M matrix v,
// such as the transposed [Features] of the subset of regressors.
func LowRank(e *engine.Engine, v *mat.Dense, counts []float64) (*Model, error) {
	if err := check("the factor of the covariance", v); err != nil {
		return nil, err
	}
	n, m := v.Dims()
	return newModel(e, n, m, v, counts)
}

func newModel(e *engine.Engine, n, rank int, factors *mat.Dense, counts []float64) (*Model, error) {
	if counts == nil {
		counts = slices.Repeat([]float64{1}, n)
	}
	if len(counts) != n {
		return nil, fmt.Errorf("the Laplace approximation: %d counts for %d training inputs", len(counts), n)
	}
	for i, c := range counts {
		if !(c > 0) || math.IsInf(c, 1) {
			return nil, fmt.Errorf("the Laplace approximation: training input %d (counted from 0) has %g labels; a positive "+
				"number is required", i, c)
		}
	}
	m := &Model{e: e, n: n, rank: rank}
	var err error
	if m.factors, err = e.Keep(e.Matrix(factors)); err != nil {
		return nil, fmt.Errorf("the Laplace approximation: %w", err)
	}
	if m.counts, err = e.Keep(e.Column(counts)); err != nil {
		m.factors.Close()
		return nil, fmt.Errorf("the Laplace approximation: %w", err)
	}
	return m, nil
}

func check(name string, a *mat.Dense) error {
	if err := finite.Matrix(name, a); err != nil {
		return fmt.Errorf("the Laplace approximation: %w", err)
	}
	return nil
}

// Step is the outcome of a Newton step for D versions of the labels.
type Step struct {
	// Latent is f at the training inputs, N×D.
	Latent *mat.Dense
	// Dual holds the coefficients that predictions are linear in: a = K⁻¹f
	// (N×D) for a full covariance, α with f = Vα (M×D) for one of low rank. The
	// posterior mean at test inputs is crossᵀ·Dual, with cross as in
	// [Model.Variance].
	Dual *mat.Dense
}

// Step takes a Newton step from f (length N) for each column of labels (N×D),
// which are sums where an input has several.
func (m *Model) Step(ctx context.Context, f []float64, labels *mat.Dense) (*Step, error) {
	if labels == nil || labels.IsEmpty() {
		return nil, errors.New("step of the Laplace approximation: no labels")
	}
	rows, draws := labels.Dims()
	if rows != m.n {
		return nil, fmt.Errorf("step of the Laplace approximation: labels are %d×%d for %d training inputs", rows, draws, m.n)
	}
	if err := check("the matrix of labels", labels); err != nil {
		return nil, err
	}
	out, err := m.run(ctx, m.stepProgram(draws), f, engine.Values{"y": m.e.Matrix(labels)})
	if err != nil {
		return nil, err
	}
	r := engine.Read(out)
	return &Step{Latent: r.Dense("f"), Dual: r.Dense("dual")}, r.Err()
}

// SquaredNorm returns fᵀK⁻¹f for the f and the coefficients of one draw of a
// step, or of any linear combination of steps.
func (m *Model) SquaredNorm(f, dual []float64) float64 {
	if m.rank > 0 {
		f = dual // f = Vα, so that αᵀα is the smallest that gives f
	}
	sum := 0.0
	for i, v := range dual {
		sum += f[i] * v
	}
	return sum
}

// Spectrum returns the eigenvalues of C = ½(K⁻¹ + W)⁻¹ at f in descending order
// and its eigenvectors as rows of a k×N matrix: k is N for a full covariance and
// M for one of low rank, where the other eigenvalues are zero. The Newton step
// moves by C·Δy where the labels change by Δy. Eigenvalues that are zero but for
// rounding may come out negative, and have no meaningful vectors.
func (m *Model) Spectrum(ctx context.Context, f []float64) (values []float64, vectors *mat.Dense, err error) {
	out, err := m.run(ctx, m.spectrumProgram(), f, nil)
	if err != nil {
		return nil, nil, err
	}
	e, err := engine.Dense(out["spectrum"])
	if err != nil {
		return nil, nil, err
	}
	k, columns := e.Dims()
	values, vectors = mat.Col(nil, 0, e), mat.DenseCopyOf(e.Slice(0, k, 1, columns))
	if m.rank == 0 {
		return values, vectors, nil
	}
	// The eigenvectors p of ½TTᵀ give those of ½TᵀT, Tᵀp/‖Tᵀp‖.
	t, err := engine.Dense(out["t"])
	if err != nil {
		return nil, nil, err
	}
	wide := new(mat.Dense)
	wide.Mul(vectors, t)
	for i, v := range values {
		row := wide.RawRowView(i)
		norm := math.Sqrt(2 * max(v, 0))
		if norm == 0 {
			norm = 1
		}
		for j := range row {
			row[j] /= norm
		}
	}
	return values, wide, nil
}

// Variances returns, for P test inputs and each of the latent functions fs, the part of
// the posterior variance that depends on the training inputs, with W at f.
//
// For a full covariance, cross is the covariance between training and test
// inputs (N×P), and the result is k_*ᵀ(K + W⁻¹)⁻¹k_*, by which the prior
// variance is reduced. For one of low rank, cross holds the features of the
// test inputs (M×P), and the result is the variance of the subset of
// regressors, φ_*ᵀ(I + VᵀWV)⁻¹φ_*; DTC adds k_** − φ_*ᵀφ_* to it
// (Quiñonero-Candela and Rasmussen 2005).
func (m *Model) Variances(ctx context.Context, fs [][]float64, cross *mat.Dense) ([][]float64, error) {
	if err := check("the covariance of the test inputs", cross); err != nil {
		return nil, err
	}
	want := m.n
	if m.rank > 0 {
		want = m.rank
	}
	rows, points := cross.Dims()
	if rows != want {
		return nil, fmt.Errorf("posterior variance: the covariance of the test inputs is %d×%d; %d rows are expected", rows,
			points, want)
	}
	kept, err := m.e.Keep(m.e.Matrix(cross))
	if err != nil {
		return nil, fmt.Errorf("posterior variance: %w", err)
	}
	defer kept.Close()
	all := make([][]float64, len(fs))
	err = m.e.ParallelFor(ctx, len(fs), 1, func(i, _ int) error {
		out, err := m.run(ctx, m.varianceProgram(points), fs[i], engine.Values{"cross": kept})
		if err == nil {
			all[i], err = engine.Floats(out["variance"])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Variance is Variances for one latent function.
func (m *Model) Variance(ctx context.Context, f []float64, cross *mat.Dense) ([]float64, error) {
	all, err := m.Variances(ctx, [][]float64{f}, cross)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// run runs a program at f. The covariance stays where it is.
func (m *Model) run(ctx context.Context, p engine.Program, f []float64, inputs engine.Values) (engine.Values, error) {
	if len(f) != m.n {
		return nil, fmt.Errorf("%s: the latent function has %d values for %d training inputs", p.Name, len(f), m.n)
	}
	for i, v := range f {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: the latent function is %g at training input %d (counted from 0)", p.Name, v, i)
		}
	}
	s, err := m.e.Session(p)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := errors.Join(s.Pin("factors", m.factors), s.Pin("count", m.counts)); err != nil {
		return nil, err
	}
	all := engine.Values{"f": m.e.Column(f)}
	for name, v := range inputs {
		all[name] = v
	}
	return s.Run(ctx, all)
}

// key names a program of the model's shape.
func (m *Model) key(what string, columns int) string {
	return fmt.Sprintf("laplace %s %d %d %d", what, m.n, m.rank, columns)
}

// factorisation is what all programs begin with.
type factorisation struct {
	*engine.Builder
	factors  *gorgonia.Node // K or V
	f, count *gorgonia.Node // the latent function and the numbers of labels
	s        *gorgonia.Node // √W
	l        *gorgonia.Node // Cholesky factor of B or of I + VᵀWV
}

// factor adds LLᵀ = B = I + W^½KW^½ (n×n), or I + VᵀWV (rank×rank) where the
// covariance is of low rank.
func (m *Model) factor(b *engine.Builder) factorisation {
	cols := m.n
	if m.rank > 0 {
		cols = m.rank
	}
	n := factorisation{Builder: b, factors: b.Input("factors", m.n, cols), f: b.Input("f", m.n, 1),
		count: b.Input("count", m.n, 1)}
	n.s = b.LogisticScale(n.f, n.count) // W^½ as a column
	if m.rank == 0 {
		n.l = b.Cholesky(b.IdentityPlusScaled(n.factors, n.s))
	} else {
		n.l = b.Cholesky(b.IdentityPlusGram(b.ScaleRows(n.s, n.factors))) // (W^½V)ᵀW^½V = VᵀWV
	}
	return n
}

// stepProgram computes "f", the latent function after a Newton step (n×draws),
// and the coefficients "dual" that it comes from, for the labels "y" (n×draws).
func (m *Model) stepProgram(draws int) engine.Program {
	return engine.Program{Name: "Newton step of the Laplace approximation", Key: m.key("step", draws),
		Build: func(b *engine.Builder) {
			n := m.factor(b)
			// b = Wf + (y + n)/2 − nπ (Algorithm 3.1, line 5), one column a draw.
			target := b.NewtonTarget(n.f, n.count, b.Input("y", m.n, draws))
			var dual *gorgonia.Node
			if m.rank == 0 {
				dual = n.dual(target)
			} else {
				dual = n.coefficients(target)
			}
			b.Output("f", b.Mul(n.factors, dual)) // f = Ka, or Vα
			b.Output("dual", dual)
		}}
}

// dual is a = b − W^½B⁻¹W^½Kb (Algorithm 3.1, line 6), n×draws.
func (n factorisation) dual(target *gorgonia.Node) *gorgonia.Node {
	kb := n.Mul(n.factors, target)
	x := n.CholeskySolve(n.l, n.ScaleRows(n.s, kb)) // B⁻¹W^½Kb
	return n.Sub(target, n.ScaleRows(n.s, x))
}

// coefficients is α = (I + VᵀWV)⁻¹Vᵀb, rank×draws.
func (n factorisation) coefficients(target *gorgonia.Node) *gorgonia.Node {
	vb := n.Mul(n.Transpose(n.factors), target)
	return n.CholeskySolve(n.l, vb)
}

// spectrumProgram decomposes C = ½(K − TᵀT) with T = L⁻¹W^½K, or, where the
// covariance is of low rank and C = ½TᵀT with T = L⁻¹Vᵀ, the smaller ½TTᵀ.
func (m *Model) spectrumProgram() engine.Program {
	return engine.Program{Name: "spectrum of the Laplace approximation's cloaking matrix", Key: m.key("spectrum", 0),
		Build: func(b *engine.Builder) {
			n := m.factor(b)
			if m.rank == 0 {
				b.Output("spectrum", b.LargestEigen(m.n, n.cloakingMatrix()))
			} else {
				b.Output("spectrum", b.LargestEigen(m.rank, n.smallGram()))
			}
		}}
}

// cloakingMatrix is C = ½K − ½TᵀT with T = L⁻¹W^½K, n×n.
func (n factorisation) cloakingMatrix() *gorgonia.Node {
	t := n.TriangularSolve(n.l, n.ScaleRows(n.s, n.factors))
	gram := n.ColumnGram(0.5, t)
	half := n.Mul(n.Constant(0.5), n.factors)
	return n.Sub(half, gram)
}

// smallGram is ½TTᵀ (rank×rank), and outputs T = L⁻¹Vᵀ (rank×n), by which its
// eigenvectors become those of C.
func (n factorisation) smallGram() *gorgonia.Node {
	t := n.TriangularSolve(n.l, n.Transpose(n.factors))
	n.Output("t", t)
	return n.RowGram(0.5, t)
}

// varianceProgram computes the "variance" (length points) that [Model.Variance]
// returns: the squared norms of the columns of L⁻¹W^½K_* for a full "cross"
// covariance (Algorithm 3.2, lines 5 and 6), of L⁻¹Φ_* for one of low rank.
func (m *Model) varianceProgram(points int) engine.Program {
	return engine.Program{Name: "posterior variance of the Laplace approximation", Key: m.key("variance", points),
		Build: func(b *engine.Builder) {
			n := m.factor(b)
			var cross *gorgonia.Node
			if m.rank == 0 {
				cross = b.ScaleRows(n.s, b.Input("cross", m.n, points))
			} else {
				cross = b.Input("cross", m.rank, points)
			}
			v := b.TriangularSolve(n.l, cross)
			b.Output("variance", b.Sum(b.Square(v), 0))
		}}
}

// conditionWarning is where the digits of the features get few: at a condition
// number of the inducing inputs' covariance above its inverse.
const conditionWarning = 1e-12

// Features returns Φ = L⁻¹K_m* (M×P) with LLᵀ = K_mm: the covariance of the
// subset of regressors at the P inputs is ΦᵀΦ = K_*m K_mm⁻¹ K_m* (Eq. 7). kmm
// is the covariance of the M inducing inputs, cross theirs with the P inputs.
// It fails with an *op.NotPositiveDefiniteError.
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

// featuresProgram computes the "features" Φ = L⁻¹K_m* (m×points) with
// LLᵀ = K_mm (Eq. 7) and the reciprocal condition number of K_mm, "rcond".
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
