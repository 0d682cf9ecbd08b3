package process

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// FastDraw turns ω, n standard normal numbers, into noise N(0, A⁺) of the strong solution,
// A = K_XS q⁻¹ K_SX − K_XX − V, for q = K_SS − Ξ (γ×γ) and cross = K_XS (n×γ), without
// forming or decomposing A: it is √(A⁺)ω with A⁺ = (A + √A²)/2 (Section 6 of the paper).
//
// The Lanczos method with full orthogonalisation takes J products with A, n² + 2nγ
// operations each, and 2nJ for every orthogonalisation; the function is taken of the J×J
// tridiagonal matrix. It ends where the noise changes by no more than tolerance times its
// length over lanczosCheck steps, and returns the steps. J is about the number of
// eigenvalues of A that are not negligible, which does not grow with n for a smooth
// kernel.
func (p *Observations) FastDraw(
	cross, q *mat.Dense, omega []float64, tolerance float64,
) (z []float64, steps int, err error) {
	s, err := p.sensitiveRange(cross, q)
	if err != nil {
		return nil, 0, err
	}
	n := len(omega)
	k := &krylov{apply: func(x *mat.VecDense) *mat.VecDense {
		var known, inner, y, rest mat.VecDense
		known.MulVec(cross.T(), x)
		inner.MulVec(s.u.T(), &known)
		for i, v := range s.values {
			inner.SetVec(i, inner.AtVec(i)/v)
		}
		known.MulVec(s.u, &inner)
		y.MulVec(cross, &known)
		rest.MulVec(p.cov, x)
		y.SubVec(&y, &rest)
		return &y
	}}
	length := floats.Norm(omega, 2)
	if length == 0 {
		return make([]float64, n), 0, nil
	}
	v := mat.NewVecDense(n, append([]float64(nil), omega...))
	v.ScaleVec(1/length, v)
	k.basis = []*mat.VecDense{v}
	var before []float64
	for more := true; more; {
		more = k.step() && len(k.diagonal) < n
		if more && len(k.diagonal)%lanczosCheck != 0 {
			continue
		}
		if z, err = k.root(length); err != nil {
			return nil, 0, err
		}
		if before != nil && floats.Distance(z, before, 2) <= tolerance*floats.Norm(z, 2) {
			break
		}
		before = z
	}
	return z, len(k.diagonal), nil
}

// lanczosCheck is after how many steps the noise is looked at.
const lanczosCheck = 8

// krylov is an orthonormal basis of a Krylov space and the tridiagonal matrix in it.
type krylov struct {
	apply         func(x *mat.VecDense) *mat.VecDense
	basis         []*mat.VecDense
	diagonal, off []float64
}

// step adds a row to the tridiagonal matrix and a vector to the basis; false where the
// space is complete to rounding.
func (k *krylov) step() bool {
	j := len(k.basis) - 1
	w := k.apply(k.basis[j])
	k.diagonal = append(k.diagonal, mat.Dot(w, k.basis[j]))
	for range 2 { // twice is enough (Parlett)
		for _, v := range k.basis {
			w.AddScaledVec(w, -mat.Dot(w, v), v)
		}
	}
	length := mat.Norm(w, 2)
	size := floats.Norm(k.diagonal, math.Inf(1))
	if len(k.off) > 0 {
		size = math.Max(size, floats.Max(k.off))
	}
	if !(length > 10*epsilon64*size) {
		return false
	}
	w.ScaleVec(1/length, w)
	k.off, k.basis = append(k.off, length), append(k.basis, w)
	return true
}

// root is √(A⁺) of the first vector of the basis, times length.
func (k *krylov) root(length float64) ([]float64, error) {
	steps := len(k.diagonal)
	t := mat.NewSymDense(steps, nil)
	for i, v := range k.diagonal {
		t.SetSym(i, i, v)
		if i+1 < steps {
			t.SetSym(i, i+1, k.off[i])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(t, true) {
		return nil, fmt.Errorf("the eigenvalues of a tridiagonal matrix of order %d did not converge", steps)
	}
	var u mat.Dense
	e.VectorsTo(&u)
	values := e.Values(nil)
	out := mat.NewVecDense(k.basis[0].Len(), nil)
	for i := range steps {
		c := 0.0
		for l, v := range values {
			c += u.At(i, l) * math.Sqrt((v+math.Sqrt(v*v))/2) * u.At(0, l)
		}
		out.AddScaledVec(out, length*c, k.basis[i])
	}
	return out.RawVector().Data, nil
}
