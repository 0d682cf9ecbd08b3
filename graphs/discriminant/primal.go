package discriminant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// Criterion selects the directions of [FitPrimal]: those of [Fit], [FitPrincipal] or [FitDesensitised].
type Criterion int

// The criteria.
const (
	Discriminant Criterion = iota
	Principal
	Desensitised
)

// primalRows is the number of samples whose features exist at a time.
const primalRows = 2048

// FitPrimal compresses the linear kernel of the features that phi makes of samples x (N×d), or of the samples
// themselves where phi is nil, and returns the map and the compressed features (N×Q). Labels are those that the
// criterion needs; Principal needs none.
//
// No matrix has N² elements: samples are streamed twice, for the scatter S = X̄ᵀX̄ (r×r) of the r centred features
// with C = X̄ᵀU, and for their compressed features. It takes O(Nr² + r³) operations, in float64 on every engine. The
// results are those of the kernel matrix K̄ = X̄X̄ᵀ, up to rounding, since X̄ᵀ(K̄ + ρI)⁻¹ = (S + ρI)⁻¹X̄ᵀ:
//
//	UᵀK̄X_j = CᵀY_j,  K̄X_j = X̄Y_j,  Y_j = (S + ρI)^−j C,
//
// and D of [FitDesensitised] is X̄MX̄ᵀ with M = (I + CCᵀ/ρ)⁻¹.
func FitPrimal(ctx context.Context, e *engine.Engine, c Criterion, phi *Map, x *mat.Dense, labels []int, o Options,
) (*Map, *mat.Dense, error) {
	name := kernel.Linear(1)
	if phi != nil {
		name = phi.Kernel
	}
	fail := func(err error) (*Map, *mat.Dense, error) {
		return nil, nil, fmt.Errorf("compressing kernel %v: %w", name, err)
	}
	classes, err := checkPrimal(c, x, labels, o)
	if err != nil {
		return fail(err)
	}
	m, err := momentsOf(ctx, e, phi, x, classes)
	if err != nil {
		return fail(err)
	}
	var w *mat.Dense // r×Q
	if c == Discriminant {
		w, err = m.discriminant(e, name, o)
	} else {
		w, err = m.spread(c, o)
	}
	if err != nil {
		return fail(err)
	}
	var shift mat.VecDense
	shift.MulVec(w.T(), mat.NewVecDense(len(m.mean), m.mean))
	to := &Map{Kernel: kernel.Linear(1), Points: UnitVectors(len(m.mean)), Coefficients: w,
		Shift: shift.RawVector().Data}
	if phi != nil {
		to = phi.After(to)
	}
	z, err := to.Apply(ctx, e, x)
	if err != nil {
		return fail(err)
	}
	if c != Discriminant {
		to.orient(z)
	}
	return to, z, nil
}

// checkPrimal returns the classes, nil for none, or an error for arguments that cannot be compressed.
func checkPrimal(c Criterion, x *mat.Dense, labels []int, o Options) (*classes, error) {
	if c == Discriminant {
		return checkFit(kernel.Linear(1), x, labels, o)
	}
	if err := checkSamples(x); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	if o.Components < 1 || o.Components > n-1 {
		return nil, fmt.Errorf("%d components of %d samples: there are 1 to %d", o.Components, n, n-1)
	}
	if c == Principal {
		return nil, nil
	}
	return checkDesensitised(n, labels, o)
}

// orient makes the largest element of each column of the features (N×Q) positive.
func (m *Map) orient(z *mat.Dense) {
	for c := range m.Shift {
		sign := signOf(mat.Col(nil, c, z))
		for _, a := range []*mat.Dense{z, m.Coefficients} {
			column := a.ColView(c).(*mat.VecDense)
			column.ScaleVec(sign, column)
		}
		m.Shift[c] *= sign
	}
}

// moments are sums over the features of samples.
type moments struct {
	mean      []float64     // r
	scatter   *mat.SymDense // S, r×r
	contrasts *mat.Dense    // C, r×(L−1); nil without classes
}

// momentsOf streams samples. Sums are those of differences from the mean of the first samples, so that a common offset
// costs no accuracy.
func momentsOf(ctx context.Context, e *engine.Engine, phi *Map, x *mat.Dense, c *classes) (*moments, error) {
	n, d := x.Dims()
	r, number := d, 1
	if phi != nil {
		_, r = phi.Coefficients.Dims()
	}
	if c != nil {
		number = c.number()
	}
	origin, gram, sums := []float64(nil), make([]float64, r*r), mat.NewDense(number, r, nil)
	for lo := 0; lo < n; lo += primalRows {
		hi := min(lo+primalRows, n)
		z := mat.DenseCopyOf(x.Slice(lo, hi, 0, d))
		if phi != nil {
			var err error
			if z, err = phi.Apply(ctx, e, z); err != nil {
				return nil, err
			}
		}
		if origin == nil {
			origin = columnMeans(z)
		}
		of := mat.NewDense(hi-lo, number, nil)
		for i := range hi - lo {
			floats.Sub(z.RawRowView(i), origin)
			class := 0
			if c != nil {
				class = c.of[lo+i]
			}
			of.Set(i, class, 1)
		}
		out, err := e.RunAs(ctx, tensor.Float64, productsProgram(hi-lo, r, number), engine.Values{
			"z": engine.NewMatrix(tensor.Float64, z), "e": engine.NewMatrix(tensor.Float64, of)})
		if err != nil {
			return nil, err
		}
		read := engine.Read(out)
		floats.Add(gram, read.Floats("gram"))
		sums.Add(sums, read.Dense("sums"))
		if err := read.Err(); err != nil {
			return nil, err
		}
	}
	m := &moments{mean: make([]float64, r), scatter: mat.NewSymDense(r, gram)}
	for l := range number {
		floats.Add(m.mean, sums.RawRowView(l))
	}
	floats.Scale(1/float64(n), m.mean)
	m.scatter.SymRankOne(m.scatter, -float64(n), mat.NewVecDense(r, append([]float64(nil), m.mean...)))
	floats.Add(m.mean, origin)
	if c != nil {
		m.contrasts = new(mat.Dense)
		m.contrasts.Mul(sums.T(), c.contrasts()) // X̄ᵀU = XᵀU
	}
	return m, nil
}

// columnMeans returns the mean of each column of z (n×r).
func columnMeans(z *mat.Dense) []float64 {
	n, r := z.Dims()
	mean := make([]float64, r)
	for i := range n {
		floats.Add(mean, z.RawRowView(i))
	}
	floats.Scale(1/float64(n), mean)
	return mean
}

// discriminant returns the coefficients (r×Q) of the components of [Fit]: w = Σ_j δ^(j−1) Y_j z, scaled to
// aᵀ(K̄² + ρK̄)a = wᵀSw + ρwᵀw = 1.
func (m *moments) discriminant(e *engine.Engine, of kernel.Kernel, o Options) (*mat.Dense, error) {
	r, count := m.contrasts.Dims()
	var between mat.SymDense
	between.SymOuterK(1, m.contrasts.T()) // UᵀK̄U
	if err := separated(&between, o); err != nil {
		return nil, err
	}
	ridged := mat.NewSymDense(r, nil)
	ridged.CopySym(m.scatter)
	for i := range r {
		ridged.SetSym(i, i, ridged.At(i, i)+o.Ridge)
	}
	var chol mat.Cholesky
	if !chol.Factorize(ridged) || math.IsInf(chol.Cond(), 1) {
		return nil, errors.New("the scatter of its features and ρ are singular in floating point: take a larger ρ")
	}
	if suspect(1/chol.Cond(), 0x1p-53) {
		e.Warn("compressing kernel %v: computed but suspect, condition number about %.0e", of, chol.Cond())
	}
	f := fit{basis: m.contrasts, options: o, powers: mostPowers}
	powers, small := mat.NewDense(r, mostSolves*count, nil), mat.NewDense(count, mostSolves*count, nil)
	w := mat.NewDense(r, o.Components, nil)
	for solves, have := firstSolves, 0; ; solves *= 2 {
		last := m.contrasts
		for j := 0; j < solves; j++ {
			next := powers.Slice(0, r, j*count, (j+1)*count).(*mat.Dense)
			if j >= have {
				if err := chol.SolveTo(next, last); err != nil {
					return nil, err
				}
				small.Slice(0, count, j*count, (j+1)*count).(*mat.Dense).Mul(m.contrasts.T(), next)
			}
			last = next
		}
		have = solves
		err := m.components(&f, w, &solutions{powers: powers.Slice(0, r, 0, solves*count).(*mat.Dense),
			small: small.Slice(0, count, 0, solves*count).(*mat.Dense)}, solves)
		var weak *weakComponentError
		if !errors.As(err, &weak) || solves >= mostSolves {
			return w, err
		}
	}
}

// components writes the coefficients of the components to w (r×Q).
func (m *moments) components(f *fit, w *mat.Dense, s *solutions, solves int) error {
	r, q := w.Dims()
	for c := range q {
		_, weights, err := f.fixedPoint(s, solves, c)
		if err != nil {
			return err
		}
		v := mat.NewVecDense(r, nil)
		v.MulVec(s.powers, mat.NewVecDense(len(weights), weights))
		norm := mat.Inner(v, m.scatter, v) + f.options.Ridge*mat.Dot(v, v)
		if !(norm > 0) {
			return fmt.Errorf("component %d has the squared norm %g", c+1, norm)
		}
		v.ScaleVec(1/math.Sqrt(norm), v)
		w.SetCol(c, v.RawVector().Data)
	}
	return nil
}

// spread returns the coefficients (r×Q) of the components of [FitPrincipal], the eigenvectors of S, or of
// [FitDesensitised]: with LLᵀ = I + CCᵀ/ρ and the eigenvectors v of L⁻¹SL⁻ᵀ, L⁻ᵀv/√ρ.
func (m *moments) spread(c Criterion, o Options) (*mat.Dense, error) {
	r := len(m.mean)
	s, ridge := m.scatter, 1.0
	trace := mat.Trace(s)
	var l mat.TriDense
	if c == Desensitised {
		ridge = o.Ridge
		noise := mat.NewSymDense(r, nil)
		noise.SymOuterK(1/ridge, m.contrasts)
		for i := range r {
			noise.SetSym(i, i, noise.At(i, i)+1)
		}
		var chol mat.Cholesky
		if !chol.Factorize(noise) {
			return nil, errors.New("the scatter between classes is too large against ρ: take a larger ρ")
		}
		chol.LTo(&l)
		var half, both mat.Dense
		if err := half.Solve(&l, s); err != nil { // L⁻¹S
			return nil, err
		}
		if err := both.Solve(&l, half.T()); err != nil {
			return nil, err
		}
		s = mat.NewSymDense(r, both.RawMatrix().Data)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, errors.New("the eigenvalues of the scatter of its features were not found")
	}
	values := eigen.Values(nil)
	var vectors, w mat.Dense
	eigen.VectorsTo(&vectors)
	chosen := mat.NewDense(r, min(o.Components, r), nil)
	for k := range o.Components {
		if k >= r || !(values[r-1-k] > spreadTolerance*trace) {
			return nil, fmt.Errorf("%d components: the samples differ in %d directions only; take fewer components",
				o.Components, k)
		}
		chosen.SetCol(k, mat.Col(nil, r-1-k, &vectors))
	}
	if c != Desensitised {
		return chosen, nil
	}
	if err := w.Solve(l.T(), chosen); err != nil {
		return nil, err
	}
	w.Scale(1/math.Sqrt(ridge), &w)
	return &w, nil
}
