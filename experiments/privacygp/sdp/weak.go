package sdp

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// SolveWeak solves the weakly privacy-aware problem, Eq. (10) of the paper:
//
//	min Tr Σ  subject to  Σ ⪰ 0,  Σ + M − a_i a_iᵀ/q_i ⪰ 0  for i = 1..γ
//
// M: n×n, K_XX + V, positive semi-definite. A: n×γ, its columns a_i = K_{X,s_i}. q: γ numbers
// K(s_i,s_i) − ξ_i, all positive.
//
// The constraints are a_iᵀ(Σ+M)⁻¹a_i ≤ q_i. Write A = L R with L n×ρ and ρ = min(n, γ). By Schur
// complements the problem is
//
//	min { Tr(L Y⁻¹ Lᵀ − M)⁺ : Y ≻ 0 (ρ×ρ), r_iᵀ Y r_i ≤ q_i },
//
// convex with ρ(ρ+1)/2 unknowns where Σ has n(n+1)/2. (With L = A, R = I, and all constraints
// active, Y is the Q of [Σ+M A; Aᵀ Q] ⪰ 0 with diagonal q.) The barrier of the original program in
// Σ and Y,
//
//	Tr Σ − μ log|Σ| − μ log|Σ + M − L Y⁻¹ Lᵀ| − μ log|Y| − μ Σ_i log(q_i − r_iᵀ Y r_i),
//
// is minimised over Σ in closed form, eigenvalue by eigenvalue (see weakBarrier), which leaves
// those few unknowns. Its minimisers are the central path, which converges where (·)⁺ has a kink at
// the optimum as well, for instance where γ > n.
//
// The lower bound: for every n×γ matrix C with ‖C‖₂ ≤ 1,
//
//	Σ_i (c_iᵀa_i)²/q_i − Tr(CᵀMC)
//
// is a dual value (multipliers c_i c_iᵀ with sum ⪯ I). C comes from the iterate, and is divided by
// its norm where that exceeds 1.
//
// An error is returned for an ill-posed problem, for a cancelled context, and where an
// eigen-decomposition does not converge. A poor certificate is no error: where no better C can be
// computed the lower bound is that of C = 0, which is 0. Whether the gap of a returned solution
// suffices is the caller's to judge.
//
// progress receives the position on the central path; it may be nil.
//
// A Newton step takes 9n³ operations for the eigen-decomposition, 2Pn² + P²n + P³/3 for the Hessian
// and its factor with P = ρ(ρ+1)/2, and holds 2P² + 2Pn numbers. Five to ten steps go to each
// reduction of μ, of which there are about nine.
func SolveWeak(ctx context.Context, m *mat.SymDense, a *mat.Dense, q []float64, progress Progress) (*Solution, error) {
	if err := checkProblem(m, a, q); err != nil {
		return nil, err
	}
	b, err := newWeakBarrier(m, a, q)
	if err != nil {
		return nil, err
	}
	f := b.begin(0)
	target := targetGap * math.Max(1, f)
	nu := float64(2*b.n + b.rank + b.g) // the barrier's parameter: the gap at a centred point is ν·μ
	mu := math.Max(f, target) / nu

	var best *Solution
	iterations := 0
	path := newPath(progress, nu*mu, target)
	for {
		path.step()
		last := nu*mu <= target
		tolerance := pathTolerance
		if last {
			tolerance = certifyTolerance
		}
		k, err := centre(ctx, b, mu, tolerance)
		iterations += k
		stalled := errors.Is(err, errStalled)
		if err != nil && !stalled {
			return nil, err
		}
		if last || stalled {
			s, err := b.certify(ctx, b.multipliers())
			if err != nil {
				return nil, err
			}
			if !s.better(best) {
				break // rounding has taken over
			}
			s.tighten(best)
			best = s
			if best.Gap() <= target {
				break
			}
		}
		mu *= reduction
	}
	best, k, err := b.polish(ctx, best)
	if err != nil {
		return nil, err
	}
	best.Iterations = iterations + k
	path.end()
	return best, nil
}

const (
	// targetGap, relative to the trace where that exceeds 1, ends the path.
	targetGap = 1e-10
	// reduction of μ between two centrings, and how exactly to centre before
	// the next reduction and before a certificate.
	reduction        = 0.05
	pathTolerance    = 0.1
	certifyTolerance = 1e-5
	// maxPolish bounds the Newton steps at μ = 0.
	maxPolish = 6
)

// polish takes Newton steps at μ = 0, where the objective is
// Tr(L Y⁻¹ Lᵀ − M)⁺ itself, on the face of the active constraints. It returns
// the best solution seen, best itself where no step improves it.
func (w *weakBarrier) polish(ctx context.Context, best *Solution) (*Solution, int, error) {
	lambda := w.multipliers()
	var active []int
	for i, s := range w.point.slack {
		if s < lambda[i] { // their product is μ
			active = append(active, i)
		}
	}
	w.begin(0)
	for k := range maxPolish {
		if err := ctx.Err(); err != nil {
			return nil, k, err
		}
		step, lambda, ok := w.faceStep(active)
		if !ok {
			return best, k, nil
		}
		if _, ok := w.try(step, 1); !ok {
			return best, k, nil
		}
		w.accept()
		s, err := w.certify(ctx, lambda)
		if err != nil {
			return nil, k, err
		}
		if !s.better(best) {
			return best, k, nil
		}
		s.tighten(best)
		best = s
	}
	return best, maxPolish, nil
}
