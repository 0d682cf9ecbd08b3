package discriminant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// WeakKernelError reports a kernel in which the classes differ too little for the components that are asked for.
type WeakKernelError struct {
	Components, Directions int     // asked for, and those in which the classes differ
	Spread                 float64 // β, the scatter between classes of the first component that is missing
	Ridge, SignalRidge     float64 // ρ and ρ'
	Suggested              float64 // a ρ' with which all components are found; 0 where none is known
}

func (e *WeakKernelError) Error() string {
	text := fmt.Sprintf("%d components: the classes are apart in %d directions; ", e.Components, e.Directions)
	if e.Suggested > 0 {
		text += fmt.Sprintf("in the next one the scatter between them is %.2g, which is lost against ρ' = %g (rho_prime), "+
			"with ρ = %g (rho): take rho_prime=%g, ", e.Spread, e.SignalRidge, e.Ridge, e.Suggested)
	} else {
		text += "the kernel has no more, whatever ρ: take "
	}
	if e.Directions > 0 {
		text += fmt.Sprintf("components=%d, ", e.Directions)
	}
	return text + "standardised data, or another kernel"
}

// screenRows is the number of samples on which [CheckSeparation] looks first, and screenMargin how many times the
// least scatter between their classes it must be to look no further.
const (
	screenRows   = 500
	screenMargin = 16
)

// CheckSeparation returns a *WeakKernelError, before anything of N² elements is computed, where [Fit] would find no
// Components directions of the classes, and the error of Fit for invalid arguments.
//
// UᵀK̄(K̄ + (ρ−δ)I)⁻¹U is at most B(B + (ρ−δ)I)⁻¹ for B = UᵀK̄U, by Jensen's inequality for operator concave
// functions, so that the power of component c is at most (β_c + ρ')/(β_c + ρ) for the eigenvalue β_c of B, (L−1)×(L−1).
// B takes O(N²d) operations, streamed, and is computed only where some samples of each class leave doubt: for most data
// the check takes milliseconds.
func CheckSeparation(ctx context.Context, e *engine.Engine, k kernel.Kernel, x *mat.Dense, labels []int, o Options,
) error {
	fail := func(err error) error { return fmt.Errorf("compressing kernel %v: %w", k, err) }
	classes, err := checkFit(k, x, labels, o)
	if err != nil {
		return fail(err)
	}
	if rows := classes.screened(screenRows); len(rows) < len(labels) {
		some, of := mat.NewDense(len(rows), x.RawMatrix().Cols, nil), make([]int, len(rows))
		for i, row := range rows {
			some.SetRow(i, x.RawRowView(row))
			of[i] = labels[row]
		}
		few, err := newClasses(of)
		if err != nil {
			return fail(err)
		}
		b, err := between(ctx, e, k, some, few)
		if err != nil {
			return fail(err)
		}
		b.ScaleSym(1./screenMargin, b)
		if separated(b, o) == nil {
			return nil
		}
	}
	b, err := between(ctx, e, k, x, classes)
	if err != nil {
		return fail(err)
	}
	if err := separated(b, o); err != nil {
		return fail(err)
	}
	return nil
}

// screened returns evenly spaced samples of each class, at least two of it or all, together about most.
func (c *classes) screened(most int) []int {
	step := (len(c.of) + most - 1) / most
	var rows []int
	seen := make([]int, c.number())
	for i, l := range c.of {
		if seen[l]%step == 0 || seen[l] == 1 {
			rows = append(rows, i)
		}
		seen[l]++
	}
	return rows
}

// between returns B = UᵀKU, in float64.
func between(ctx context.Context, e *engine.Engine, k kernel.Kernel, x *mat.Dense, c *classes) (*mat.SymDense, error) {
	u := c.basis()
	if isLinear(k) {
		var sums mat.Dense
		sums.Mul(x.T(), u)
		var b mat.SymDense
		b.SymOuterK(1, sums.T())
		return &b, nil
	}
	p := &Projection{kernel: k, points: x, a: u, shift: make([]float64, c.number()-1), dtype: tensor.Float64}
	image, err := p.Project(ctx, e, x)
	if err != nil {
		return nil, err
	}
	var b mat.Dense
	b.Mul(u.T(), image)
	return mat.NewSymDense(c.number()-1, b.RawMatrix().Data), nil
}

// separated returns a *WeakKernelError where an eigenvalue of B (see [CheckSeparation]) among the first Components is
// too small.
func separated(b *mat.SymDense, o Options) error {
	var eigen mat.EigenSym
	if !eigen.Factorize(b, false) {
		return errors.New("the eigenvalues of the scatter between classes were not found")
	}
	values := eigen.Values(nil)
	m := len(values)
	for c := range o.Components {
		beta := values[m-1-c]
		if beta > rangeTolerance*values[m-1] && !lost(beta, o.Ridge, o.SignalRidge) {
			continue
		}
		weak := &WeakKernelError{Components: o.Components, Directions: c, Spread: max(beta, 0), Ridge: o.Ridge,
			SignalRidge: o.SignalRidge}
		if last := values[m-o.Components]; last > rangeTolerance*values[m-1] {
			power := math.Floor(math.Log10(min(last, o.Ridge) / 100))
			weak.Suggested, _ = strconv.ParseFloat(fmt.Sprintf("1e%.0f", power), 64) // math.Pow may be an ulp off
		}
		return weak
	}
	return nil
}

// lost reports whether the series of a component with the scatter β between classes does not end within mostSolves
// powers: its terms fall by δ/(β + ρ) with δ = ρ'(β + ρ)/(β + ρ'), see fixedPoint.
func lost(beta, ridge, signal float64) bool {
	if !(beta > 0) {
		return true
	}
	delta := signal * (beta + ridge) / (beta + signal)
	return delta >= ridge || math.Pow(delta/(beta+ridge), mostSolves-1)*delta > 1e-15*(ridge-delta)
}
