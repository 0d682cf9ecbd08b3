// Package discriminant compresses kernels by discriminant component analysis and combines the
// compressive kernels, as graph programs: the method of Chanyaswad, Chang and Kung, "A
// compressive multi-kernel method for privacy-preserving machine learning" (2017), whose
// equations are cited.
//
// # Compression
//
// With the centred kernel matrix K̄ = CKC of N samples in L classes, kernel discriminant
// component analysis (KDCA, Eq. 8) finds the vectors a of the largest λ in
//
//	(K_B + ρ'K̄) a = λ (K̄² + ρK̄) a,  aᵀ(K̄² + ρK̄)a = 1.
//
// K_B (Eq. 10) is K̄UUᵀK̄, where the orthonormal columns of U (N×(L−1)) span the class indicators
// orthogonal to the constant. On the range of K̄ the problem is therefore
//
//	(λ(K̄ + ρI) − ρ'I) a = UUᵀK̄a,
//
// so that λ is an eigenvalue of the small matrix F(δ), δ = ρ'/λ, with
//
//	F(δ) = UᵀK̄(K̄ + (ρ−δ)I)⁻¹U = Σ_j δ^(j−1) UᵀK̄X_j,  X_j = (K̄ + ρI)^−j U,
//
// and z is its eigenvector, a ∝ Σ_j δ^(j−1) X_j z. One Cholesky factor and a few solves replace
// the generalised eigenproblem of order N, whose right matrix is singular. There are L−1 such λ
// above ρ'/ρ; further directions do not separate the classes.
//
// The compressive kernel K̄AAᵀK̄ (Eq. 13) is kept as its factor Z = K̄A (N×Q). The rows of Z are
// features: a kernel machine on the compressive kernel is a linear one on them.
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
	"privkern/graphs/internal/finite"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

// Options are the parameters of the compression.
//
// ρ and ρ' have the unit of an eigenvalue of K̄, so that their effect depends on N and on the
// scale of the kernel.
type Options struct {
	// Ridge is ρ > 0, by which the scatter of all samples is regularised.
	Ridge float64
	// SignalRidge is ρ' ≥ 0, in the numerator of the discriminant power.
	SignalRidge float64
	// Components is Q, the rank of the compressive kernel, from 1 to L−1.
	Components int
}

// Projection is a compressive kernel: a kernel, its projection A, and the data to project further
// samples.
type Projection struct {
	kernel kernel.Kernel
	points *mat.Dense // N×d, the training samples
	// a is A, N×Q; its columns sum to zero.
	a *mat.Dense
	// shift is mᵀA (Q) for the means m of the rows of the training kernel matrix, because test
	// kernels are centred with training statistics.
	shift []float64
	dtype tensor.Dtype

	// Power holds the discriminant powers λ of the components, Q, descending.
	Power []float64
	// Features is Z = K̄A, N×Q. It is not scaled; see [NewSet].
	Features *mat.Dense
}

// The numbers J of powers X_j in the first and in the last attempt.
const (
	firstSolves = 5
	mostSolves  = 80
)

// The fixed point of a component's power ends at a relative change of δ of powerTolerance, or of
// the rounding error of the largest eigenvalue if that is more. It is an error if it takes more
// than mostPowers steps.
const (
	powerTolerance = 1e-14
	mostPowers     = 200
)

// Fit compresses a kernel for the classes of the rows of x (N×d).
//
// It returns an *op.NotPositiveDefiniteError if K̄ + ρI is not positive definite, which happens
// for kernels that are not positive semidefinite, such as the sigmoid. A float32 engine computes
// in float64, and gets a warning, where the condition is too large for float32.
//
// Labels may be any integers. Components are in descending order of their power. It is an error
// if a component's power does not exceed ρ'/ρ, because directions that do not separate the
// classes have powers up to that value.
func Fit(ctx context.Context, e *engine.Engine, k kernel.Kernel, x *mat.Dense, labels []int,
	o Options) (*Projection, error) {
	classes, err := checkFit(k, x, labels, o)
	if err != nil {
		return nil, fmt.Errorf("compressing kernel %v: %w", k, err)
	}
	f := fit{ctx: ctx, e: e, kernel: k, x: x, basis: classes.basis(), options: o, dtype: e.ElementType(),
		powers: mostPowers}
	defer f.release()
	for solves := firstSolves; ; solves *= 2 {
		p, err := f.try(solves)
		var weak *weakComponentError
		if errors.As(err, &weak) && solves < mostSolves {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("compressing kernel %v: %w", k, err)
		}
		return p, nil
	}
}

// checkFit returns the classes of the labels, or an error for arguments that cannot be compressed.
func checkFit(k kernel.Kernel, x *mat.Dense, labels []int, o Options) (*classes, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if err := checkSamples(x); err != nil {
		return nil, err
	}
	c, err := newClasses(labels)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	switch {
	case len(labels) != n:
		return nil, fmt.Errorf("%d labels for %d samples", len(labels), n)
	case c.number() < 2:
		return nil, errors.New("all samples are of one class: there is nothing to discriminate")
	case !(o.Ridge > 0) || math.IsInf(o.Ridge, 1):
		return nil, fmt.Errorf("ρ = %g: it must be positive and finite", o.Ridge)
	case !(o.SignalRidge >= 0) || math.IsInf(o.SignalRidge, 1):
		return nil, fmt.Errorf("ρ' = %g: it must be zero or positive, and finite", o.SignalRidge)
	case o.Components < 1 || o.Components > c.number()-1:
		return nil, fmt.Errorf("%d components: with %d classes there are 1 to %d that separate them; further ones hold "+
			"noise alone",
			o.Components, c.number(), c.number()-1)
	}
	return c, nil
}

// checkSamples returns an error for an empty matrix and for values that are not finite.
func checkSamples(x *mat.Dense) error {
	if x == nil || x.IsEmpty() {
		return errors.New("there are no samples")
	}
	return finite.Matrix("the matrix of samples", x)
}

// fit is the state of one compression.
type fit struct {
	ctx     context.Context
	e       *engine.Engine
	kernel  kernel.Kernel
	x       *mat.Dense
	basis   *mat.Dense // U, N×m with m = L−1
	options Options
	dtype   tensor.Dtype
	powers  int // limit on the steps of a component's fixed point

	// The factor of the first attempt, from which the next ones go on, nil for none; and the last results.
	factor engine.Values
	last   solutions
	// rcond is the smaller one of two reciprocal condition numbers, without that of the weakest component.
	rcond float64
}

// release frees the factor.
func (f *fit) release() {
	f.factor.Close()
	f.factor = nil
}

// solutions holds the outputs of solveProgram: the powers [X_1 … X_J] and their images [K̄X_1 …
// K̄X_J] (N×Jm), the small products of the images with Uᵀ (m×Jm), and the means of the rows of K
// (N).
type solutions struct {
	powers, images, small *mat.Dense
	means                 []float64
}

// try compresses with a number J of powers of (K̄ + ρI)⁻¹. With the weights δ^(j−1) z, a and K̄a
// are combinations of the columns of X_1 … X_J and of their images, O(NJm) operations per
// component. They are scaled to aᵀ(K̄² + ρK̄)a = ‖K̄a‖² + ρ aᵀK̄a = 1, the constraint under
// Eq. (8).
func (f *fit) try(solves int) (*Projection, error) {
	s, err := f.solve(solves)
	if err != nil {
		return nil, err
	}
	n, m := f.basis.Dims()
	q := f.options.Components
	p := &Projection{kernel: f.kernel, points: f.x, a: mat.NewDense(n, q, nil), shift: make([]float64, q), dtype: f.dtype,
		Power: make([]float64, q), Features: mat.NewDense(n, q, nil)}
	for c := range q {
		power, weights, err := f.fixedPoint(s, solves, c)
		if err != nil {
			return nil, err
		}
		a, image := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		a.MulVec(s.powers, mat.NewVecDense(solves*m, weights))
		image.MulVec(s.images, mat.NewVecDense(solves*m, weights))
		norm := mat.Dot(image, image) + f.options.Ridge*mat.Dot(a, image) // aᵀ(K̄² + ρK̄)a
		if !(norm > 0) {
			return nil, fmt.Errorf("component %d has the squared norm %g: the kernel is not positive semidefinite in its "+
				"direction", c+1, norm)
		}
		a.ScaleVec(1/math.Sqrt(norm), a)
		image.ScaleVec(1/math.Sqrt(norm), image)
		p.Power[c] = power
		p.Features.SetCol(c, image.RawVector().Data)
		mean := mat.Sum(a) / float64(n)
		for i := range n {
			v := a.AtVec(i) - mean // zero but for rounding
			p.a.Set(i, c, v)
			p.shift[c] += s.means[i] * v
		}
	}
	return p, nil
}

// fixedPoint returns the power of a component (counted from 0), and the weights δ^(j−1) z (Jm) of
// the columns of the solutions in it.
//
// It iterates δ ← ρ'/λ from δ = 0, with λ the component's eigenvalue of F(δ). At an eigenvalue κ
// of K̄ the function κ/(κ+ρ−δ) changes by a share of about δ/(κ+ρ), so that a few steps suffice
// if ρ' is well below ρλ. The series of F has powers of δ/(κ+ρ) ≤ δ/ρ, so that its remainder is
// at most the last term times (δ/ρ)/(1−δ/ρ). If that exceeds 1e-15 of the first term, a
// weakComponentError asks for more powers.
func (f *fit) fixedPoint(s *solutions, solves, component int) (power float64, weights []float64, err error) {
	_, m := f.basis.Dims()
	delta, z, change, converged := 0.0, []float64(nil), 0.0, false
	for range f.powers {
		var largest float64
		if power, largest, z, err = eigenpair(series(s.small, m, solves, delta), m-1-component); err != nil {
			return 0, nil, err
		}
		if !(power > 0) {
			return 0, nil, fmt.Errorf("component %d has the discriminant power %g: the kernel does not separate the classes in "+
				"that many components", component+1, power)
		}
		next := min(f.options.SignalRidge/power, f.options.Ridge) // the series ends at ρ
		// The error of an eigenvalue is about m units of roundoff, 2⁻⁵³, of the largest one.
		tolerance := max(powerTolerance, 4*float64(m)*0x1p-53*largest/power)
		if converged = math.Abs(next-delta) <= tolerance*next; converged {
			break
		}
		change, delta = math.Abs(next-delta)/next, next
	}
	weak := &weakComponentError{component: component, power: power, noise: f.options.SignalRidge / f.options.Ridge}
	if !converged {
		weak.change, weak.steps = change, f.powers
	}
	if !converged || power <= weak.noise {
		return 0, nil, weak
	}
	weights = make([]float64, solves*m)
	scale, first, last := 1.0, 0.0, 0.0
	for j := range solves {
		last = 0
		for i, v := range z {
			weights[j*m+i] = scale * v
		}
		for i := range m {
			last += math.Abs(scale * mat.Dot(s.small.Slice(i, i+1, j*m, (j+1)*m).(*mat.Dense).RowView(0), mat.NewVecDense(m, z)))
		}
		if j == 0 {
			first = last
		}
		scale *= delta
	}
	if last*delta > 1e-15*first*(f.options.Ridge-delta) {
		return 0, nil, weak
	}
	return power, weights, nil
}

// weakComponentError is the error of a component whose δ is too close to ρ for the number of
// powers, or whose fixed point has not converged.
type weakComponentError struct {
	component    int
	power, noise float64
	change       float64 // the last change of a fixed point that has not converged, else 0
	steps        int     // of that fixed point
}

// Error distinguishes a fixed point that has not converged from a component that is no better
// than noise.
func (e *weakComponentError) Error() string {
	if e.change > 0 {
		return fmt.Sprintf("component %d: the fixed point of its discriminant power, about %.2g, stopped after %d steps, "+
			"the most that are allowed: the last one changed it by %.1e of itself, and at most %.0e is wanted; take a "+
			"smaller ρ or ρ', or fewer components", e.component+1, e.power, e.steps, e.change, powerTolerance)
	}
	return fmt.Sprintf("component %d, with a discriminant power of about %.2g, does not stand out from directions that "+
		"have no part in separating the classes and up to ρ'/ρ = %.2g: the kernel matrix is too small against ρ; take a "+
		"smaller ρ or ρ', or fewer components",
		e.component+1, e.power, e.noise)
}

// series returns F(δ) (m×m) by Horner's scheme in δ on the small products, in O(Jm²) operations.
// The two halves of the nearly symmetric products are averaged, so that the result is exactly
// symmetric.
func series(small *mat.Dense, m, solves int, delta float64) *mat.SymDense {
	f := mat.NewSymDense(m, nil)
	for i := range m {
		for k := i; k < m; k++ {
			v := 0.0
			for j := solves - 1; j >= 0; j-- {
				v = v*delta + (small.At(i, j*m+k)+small.At(k, j*m+i))/2
			}
			f.SetSym(i, k, v)
		}
	}
	return f
}

// eigenpair returns eigenvalue index of a (m×m), in ascending order, the largest eigenvalue, and
// the eigenvector of the first, with the sign of signOf.
func eigenpair(a *mat.SymDense, index int) (value, largest float64, vector []float64, err error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return 0, 0, nil, &op.NoConvergenceError{Order: a.SymmetricDim()}
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	vector = mat.Col(nil, index, &v)
	floats.Scale(signOf(vector), vector)
	values := eigen.Values(nil)
	return values[index], values[len(values)-1], vector, nil
}

// solve runs the program, in float64 if float32 does not suffice.
func (f *fit) solve(solves int) (*solutions, error) {
	for {
		s, rcond, err := f.run(solves)
		if f.dtype == tensor.Float64 {
			if err == nil && suspect(rcond, 0x1p-53) {
				f.e.Warn("compressing kernel %v: computed but suspect, condition number about %.0e", f.kernel, 1/rcond)
			}
			return s, f.explain(err)
		}
		var notPD *op.NotPositiveDefiniteError
		if err != nil && !errors.As(err, &notPD) {
			return nil, err
		}
		if err == nil && !suspect(rcond, single) {
			return s, nil
		}
		f.e.Warn("compressing kernel %v: too ill-conditioned for float32, computed in float64", f.kernel)
		f.dtype = tensor.Float64
		f.release()
	}
}

// explain adds the cause and the remedy to the error of a matrix that is not positive definite.
// The centred matrix of a positive semidefinite kernel is positive semidefinite, up to rounding.
func (f *fit) explain(err error) error {
	if _, ok := errors.AsType[*op.NotPositiveDefiniteError](err); ok {
		return fmt.Errorf("its centred matrix has an eigenvalue below −ρ = −%g, so the compression is not defined: take a "+
			"positive semidefinite kernel, or a larger ρ: %w", f.options.Ridge, err)
	}
	return err
}

// single is the unit of roundoff of float32, rounded up to the documented parity of engines.
const single = 1e-7

// suspect reports whether ten units of roundoff times the condition number exceed 1 %.
func suspect(rcond, unit float64) bool { return rcond < 10*unit/1e-2 || math.IsNaN(rcond) }

// run runs the program, or goes on from its factor. rcond is the smallest of three reciprocal condition numbers:
//
//   - that of the solve;
//   - the size of an image relative to U, κ/(κ+ρ), an eigenvalue of F(0), for the weakest component;
//   - the mean of the centred diagonal relative to the largest mean of a row, because centring cancels as
//     many digits.
func (f *fit) run(solves int) (s *solutions, rcond float64, err error) {
	n, m := f.basis.Dims()
	in := engine.Values{"u": engine.NewMatrix(f.dtype, f.basis), "rho": engine.NewScalar(f.dtype, f.options.Ridge)}
	if f.factor == nil {
		s, err = f.attempt(solves, in)
	} else {
		_, columns := f.last.powers.Dims()
		in["factor"], in["have"] = f.factor["factor"], engine.NewMatrix(f.dtype, f.last.powers)
		in["last"] = engine.NewMatrix(f.dtype, f.last.powers.Slice(0, n, columns-m, columns).(*mat.Dense))
		var out engine.Values
		if out, err = f.e.RunAs(f.ctx, f.dtype, furtherProgram(n, m, columns/m, solves), in); err == nil {
			s, err = f.last.read(out)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	f.last = *s
	weakest, _, _, err := eigenpair(series(s.small, m, solves, 0), m-f.options.Components)
	if err != nil || !(weakest > 0) { // solutions have overflowed, or all is rounding
		weakest = 0
	}
	return s, min(f.rcond, weakest), nil
}

// attempt runs the first program, and keeps its factor.
func (f *fit) attempt(solves int, in engine.Values) (*solutions, error) {
	n, d := f.x.Dims()
	_, m := f.basis.Dims()
	in["x"] = engine.NewMatrix(f.dtype, f.x)
	out, err := f.e.RunAs(f.ctx, f.dtype, solveProgram(f.kernel, n, d, m, solves), in, engine.Stay("factor"))
	if err != nil {
		return nil, err
	}
	f.factor = engine.Values{"factor": out["factor"]}
	r := engine.Read(out)
	f.last = solutions{means: r.Floats("means")}
	trace := r.Scalar("trace")
	f.rcond = r.Scalar("rcond")
	if err := r.Err(); err != nil {
		return nil, err
	}
	level := 0.0 // the largest mean of a row
	for _, v := range f.last.means {
		level = max(level, math.Abs(v))
	}
	if spread := trace / float64(n); spread < level {
		f.rcond = min(f.rcond, spread/level)
	}
	return f.last.read(out)
}

// read returns the solutions of a run, with the means of the first one.
func (s *solutions) read(out engine.Values) (*solutions, error) {
	r := engine.Read(out)
	read := &solutions{powers: r.Dense("solutions"), images: r.Dense("images"), small: r.Dense("small"), means: s.means}
	return read, r.Err()
}

// projectRows is the number of samples of one run of projectProgram.
const projectRows = 512

// Project returns the features (T×Q) of further samples (T×d): the rows of the test kernel,
// centred with the training means m, times A. For a sample with the kernel values k (N) they are
//
//	Aᵀ(k − m) = Aᵀk − shift;
//
// centring by the mean of k has no effect, because the columns of A sum to zero. It takes O(TN(d+Q))
// operations, in the element type of Fit.
func (p *Projection) Project(ctx context.Context, e *engine.Engine, y *mat.Dense) (*mat.Dense, error) {
	if err := checkSamples(y); err != nil {
		return nil, fmt.Errorf("projecting by kernel %v: %w", p.kernel, err)
	}
	rows, d := y.Dims()
	if _, want := p.points.Dims(); d != want {
		return nil, fmt.Errorf("projecting by kernel %v: the samples have %d columns, those it was fitted to %d", p.kernel,
			d, want)
	}
	_, q := p.a.Dims()
	z := mat.NewDense(rows, q, nil)
	fixed := engine.Values{"x": engine.NewMatrix(p.dtype, p.points), "a": engine.NewMatrix(p.dtype, p.a)}
	for lo := 0; lo < rows; lo += projectRows {
		hi := min(lo+projectRows, rows)
		if err := p.project(ctx, e, fixed, y.Slice(lo, hi, 0, d).(*mat.Dense),
			z.Slice(lo, hi, 0, q).(*mat.Dense)); err != nil {
			return nil, err
		}
	}
	return z, nil
}

// project writes the features (t×Q) of samples y (t×d) to z.
func (p *Projection) project(ctx context.Context, e *engine.Engine, fixed engine.Values, y, z *mat.Dense) error {
	n, d := p.points.Dims()
	rows, q := z.Dims()
	out, err := e.RunAs(ctx, p.dtype, projectProgram(p.kernel, rows, n, d, q),
		engine.Values{"x": fixed["x"], "a": fixed["a"], "y": engine.NewMatrix(p.dtype, y)})
	if err != nil {
		return err
	}
	product, err := engine.Dense(out["product"])
	if err != nil {
		return err
	}
	for i := range rows {
		row := z.RawRowView(i)
		for j, v := range product.RawRowView(i) {
			row[j] = v - p.shift[j]
		}
	}
	return nil
}
