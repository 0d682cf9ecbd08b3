package discriminant

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Uniform returns the weights 1/P, the baseline of the others.
func (s *Set) Uniform() []float64 {
	w := make([]float64, len(s.blocks))
	for l := range w {
		w[l] = 1 / float64(len(w))
	}
	return w
}

// SNR returns the signal-to-noise ratio of each kernel (Eq. 20), the sum of the singular values of
//
//	[K̂² + ρK̂]⁺ K̂_B,  K̂_B = K̂UUᵀK̂,
//
// with U of the utility labels and the pseudo-inverse on the range of K̂. In the eigenvectors E
// of K̂ the matrix is (S + ρ)⁻¹ W S, with the eigenvalues S and W = EᵀUUᵀE. It is not symmetric,
// so that the sum differs from its trace, and depends on the kernel even with ρ = 0.
//
// The ridge damps the elements W_ij s_j/(s_i + ρ) of small s_i. The paper has this ratio in the
// intrinsic space (18) and in the empirical space (19). The traces of both agree, the sums of
// singular values do not; (20) is the second.
func (s *Set) SNR(ridge float64) ([]float64, error) {
	if err := checkRidge(ridge); err != nil {
		return nil, err
	}
	snr := make([]float64, len(s.blocks))
	for l, r := range s.ranges {
		m := r.between(s.blocks[l], s.utility, s.utilitySums)
		for i, si := range r.s {
			for j, sj := range r.s {
				m.Set(i, j, m.At(i, j)*sj/(si+ridge))
			}
		}
		var err error
		if snr[l], err = nuclearNorm(m); err != nil {
			return nil, fmt.Errorf("SNR of kernel %d (counted from 0): %w", l, err)
		}
	}
	return snr, nil
}

// UtilityToPrivacy returns the utility-to-privacy ratio of each kernel (Eq. 23), the sum of the
// singular values of
//
//	[K̂_BP + ρK̂]⁺ K̂_BU
//
// on the range of K̂: (S W_P S + ρS)⁺ S W_U S with S and W as for SNR. It is large for a kernel
// that separates the utility classes in directions in which it does not separate the privacy
// classes. With ρ = 0, directions in which the privacy classes are equal contribute nothing,
// because the pseudo-inverse is that of K̂_BP.
func (s *Set) UtilityToPrivacy(ridge float64) ([]float64, error) {
	if err := checkRidge(ridge); err != nil {
		return nil, err
	}
	ratio := make([]float64, len(s.blocks))
	for l, r := range s.ranges {
		k := len(r.s)
		b := s.blocks[l]
		privacy, utility := r.between(b, s.privacy, s.privacySums), r.between(b, s.utility, s.utilitySums)
		m := mat.NewSymDense(k, nil)
		for i := range k {
			for j := i; j < k; j++ {
				v := r.s[i] * r.s[j] * privacy.At(i, j)
				if i == j {
					v += ridge * r.s[i]
				}
				m.SetSym(i, j, v)
			}
		}
		inverse, err := pseudoInverse(m)
		if err != nil {
			return nil, fmt.Errorf("utility-to-privacy ratio of kernel %d (counted from 0): %w", l, err)
		}
		utility.Apply(func(i, j int, v float64) float64 { return r.s[i] * v * r.s[j] }, utility)
		var product mat.Dense
		product.Mul(inverse, utility)
		if ratio[l], err = nuclearNorm(&product); err != nil {
			return nil, fmt.Errorf("utility-to-privacy ratio of kernel %d (counted from 0): %w", l, err)
		}
	}
	return ratio, nil
}

// checkRidge returns an error for a ridge that is negative or not finite.
func checkRidge(ridge float64) error {
	if !(ridge >= 0) || math.IsInf(ridge, 1) {
		return fmt.Errorf("the ridge term is %g: it must be zero or positive, and finite", ridge)
	}
	return nil
}

// between returns W = EᵀUUᵀE (k×k) with E = ZVS^(−½), from UᵀZ = Tᵀ·sums for the class sums
// (L×Q). W has a rank of at most L−1 and eigenvalues from 0 to 1, the shares of the range that
// the classes explain.
func (r kernelRange) between(b block, c *classes, sums *mat.Dense) *mat.Dense {
	var uz, uq, w mat.Dense
	rows, _ := sums.Dims()
	if c.number() < 2 { // one class: no contrast
		return mat.NewDense(len(r.s), len(r.s), nil)
	}
	uz.Mul(c.contrasts().T(), sums.Slice(0, rows, b.from, b.to))
	uq.Mul(&uz, r.v)
	uq.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(r.s[j]) }, &uq)
	w.Mul(uq.T(), &uq)
	return &w
}

// nuclearNorm returns the sum of the singular values.
func nuclearNorm(m *mat.Dense) (float64, error) {
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDNone) {
		return 0, errors.New("the singular values did not converge")
	}
	return floats.Sum(svd.Values(nil)), nil
}

// pseudoInverse returns M⁺. Eigenvalues below rangeTolerance of the largest are treated as zero,
// because their reciprocals are rounding errors.
func pseudoInverse(m *mat.SymDense) (*mat.Dense, error) {
	r, err := rangeOf(m)
	if err != nil {
		return nil, err
	}
	scaled := mat.DenseCopyOf(r.v)
	scaled.Apply(func(_, j int, v float64) float64 { return v / r.s[j] }, scaled)
	var inverse mat.Dense
	inverse.Mul(scaled, r.v.T())
	return &inverse, nil
}

// UnitNorm returns scores scaled to Euclidean norm one (Eq. 21), or an error for scores that are
// negative or all zero.
func UnitNorm(scores []float64) ([]float64, error) {
	norm := floats.Norm(scores, 2)
	if !(norm > 0) || math.IsInf(norm, 1) {
		return nil, fmt.Errorf("the scores %v cannot be scaled to weights of norm one", scores)
	}
	w := make([]float64, len(scores))
	for i, v := range scores {
		if v < 0 {
			return nil, fmt.Errorf("the score of kernel %d (counted from 0) is %g", i, v)
		}
		w[i] = v / norm
	}
	return w, nil
}

// Alignment returns the weights of norm one that maximise the alignment ⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖) of
// the combined kernel with the one-hot utility labels Y (Cortes, Mohri and Rostamizadeh 2010,
// Proposition 3): μ = v/‖v‖ for the v ≥ 0 that minimises
//
//	vᵀMv − 2vᵀa,  M_kl = ⟨K̂_k, K̂_l⟩_F,  a_k = ⟨K̂_k, YYᵀ⟩_F,
//
// a convex problem in P variables. Y is not centred, because the kernels are. The norm of μ is
// arbitrary, because the alignment does not depend on the scale of K.
func (s *Set) Alignment() ([]float64, error) {
	p := len(s.blocks)
	m := mat.NewSymDense(p, nil)
	for k, bk := range s.blocks {
		for l := k; l < p; l++ {
			bl, sum := s.blocks[l], 0.0
			for i := bk.from; i < bk.to; i++ {
				for j := bl.from; j < bl.to; j++ {
					sum += s.gram.At(i, j) * s.gram.At(i, j)
				}
			}
			m.SetSym(k, l, sum)
		}
	}
	a := s.targets(s.utilitySums)
	v, err := nonNegative(m, a, 10*len(a)+10)
	if err != nil {
		return nil, fmt.Errorf("alignment: %w", err)
	}
	return UnitNorm(v)
}

// UtilityPrivacyAlignment returns the solution of Eq. (26), which maximises the ratio of the
// alignments with the utility and the privacy labels, both one-hot. Its form a_p a_pᵀ has rank
// one, so that all weight is on the kernel with the largest a_u/a_p, the first of several. Ratios
// are compared by products, without divisions.
func (s *Set) UtilityPrivacyAlignment() ([]float64, error) {
	utility, privacy := s.targets(s.utilitySums), s.targets(s.privacySums)
	best := 0
	for l, p := range privacy {
		if !(p > 0) {
			return nil, fmt.Errorf("utility-privacy alignment: kernel %d (counted from 0) has the alignment %g with the "+
				"privacy labels, so that the ratio has no maximum", l, p)
		}
		if utility[l]*privacy[best] > utility[best]*p {
			best = l
		}
	}
	w := make([]float64, len(s.blocks))
	w[best] = 1
	return w, nil
}

// targets returns ⟨K̂_l, YYᵀ⟩_F = ‖YᵀZ_l‖²_F for each kernel, from the class sums YᵀZ (L×r).
func (s *Set) targets(sums *mat.Dense) []float64 {
	a := make([]float64, len(s.blocks))
	rows, _ := sums.Dims()
	for l, b := range s.blocks {
		norm := mat.Norm(sums.Slice(0, rows, b.from, b.to), 2)
		a[l] = norm * norm
	}
	return a
}

// nonNegative minimises vᵀMv − 2vᵀa over v ≥ 0 for a positive semidefinite M (P×P) by the
// active-set method of Lawson and Hanson ("Solving least squares problems", 1974, Chapter 23).
//
// At the solution the slope a − Mv is zero for active elements and at most tolerance for others.
// In each step the element of the steepest slope becomes active, the problem is solved without
// bounds on the active set, and elements that become negative on the way leave it. Each solve
// lowers the objective, so that no active set occurs twice. An element that is a linear
// combination of active ones is skipped. It is an error if the method has not ended after the
// given number of steps.
func nonNegative(m *mat.SymDense, a []float64, most int) ([]float64, error) {
	n := len(a)
	v, active, skipped := make([]float64, n), make([]bool, n), make([]bool, n)
	tolerance := 1e-13 * floats.Norm(a, math.Inf(1))
	steepest := 0.0
	for range most {
		enter, largest := -1, tolerance
		for i := range n {
			if active[i] || skipped[i] {
				continue
			}
			slope := a[i]
			for j, x := range v {
				slope -= m.At(i, j) * x
			}
			if slope > largest {
				enter, largest = i, slope
			}
		}
		if enter < 0 {
			return v, nil
		}
		active[enter], steepest = true, largest
		for {
			u, ok := restricted(m, a, active)
			if !ok || u[enter] <= 0 && v[enter] == 0 {
				active[enter], skipped[enter] = false, true
				break
			}
			step, leave := 1.0, -1
			for i := range n {
				if active[i] && u[i] <= 0 {
					if t := v[i] / (v[i] - u[i]); leave < 0 || t < step {
						step, leave = t, i
					}
				}
			}
			if leave < 0 {
				v = u
				clear(skipped)
				break
			}
			for i := range n {
				v[i] += step * (u[i] - v[i])
			}
			for i := range n {
				if active[i] && (i == leave || v[i] <= 0) {
					v[i], active[i] = 0, false
				}
			}
		}
	}
	return nil, fmt.Errorf("the quadratic program of the weights stopped after %d steps, the most that are allowed, with "+
		"a slope of %.3g, and at most %.3g is wanted: leave out kernels that are nearly combinations of others",
		most, steepest, tolerance)
}

// restricted minimises over the active elements without bounds, by a Cholesky solve. ok is false
// if their matrix is singular: of a condition number above 1e13.
func restricted(m *mat.SymDense, a []float64, active []bool) (u []float64, ok bool) {
	var at []int
	for i, is := range active {
		if is {
			at = append(at, i)
		}
	}
	u = make([]float64, len(a))
	if len(at) == 0 {
		return u, true
	}
	sub, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, k := range at {
		right.SetVec(i, a[k])
		for j := i; j < len(at); j++ {
			sub.SetSym(i, j, m.At(k, at[j]))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sub) || chol.Cond() > 1e13 {
		return nil, false
	}
	var x mat.VecDense
	if err := chol.SolveVecTo(&x, right); err != nil {
		return nil, false
	}
	for i, k := range at {
		u[k] = x.AtVec(i)
	}
	return u, true
}
