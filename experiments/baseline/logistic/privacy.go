package logistic

import (
	"errors"
	"fmt"
	"math"

	"privkern/experiments/mechanism"
)

// perturbation is the public part of objective perturbation: C classes, and rows of a protected unit, of which terms
// differ between neighbours, 2m under substitution of m rows and m under addition and removal. Its proof:
//
// J(θ) = Σᵢ ℓ(θ; xᵢ, yᵢ) + λ|θ|²/2 + bᵀθ has the loss ℓ = log Σₖ exp(θₖ·x) − θ_y·x, rows with |x| ≤ 1 and b ~ N(0,
// σ²I). Its minimiser t is a one-to-one function of b with a smooth inverse b = −∇J₀(t), where J₀ is J without b; it
// has the density φ(b/σ) det ∇²J₀(t) up to a constant. For neighbours D and D' the privacy loss at t is
//
//	log p(t)/p'(t) = (|b+v|² − |b|²)/(2σ²) + log det ∇²J₀(t) − log det ∇²J₀'(t), v = ∇J₀(t) − ∇J₀'(t)
//
// (Chaudhuri, Monteleoni and Sarwate 2011; Kifer, Smith and Thakurta 2012).
//
// The determinants. Both Hessians are a common A ⪰ λI and those of the rows of the unit, Σ (diag p − ppᵀ) ⊗ xxᵀ: of
// a rank r ≤ m(C−1) and a trace at most m(1 − 1/C). So the difference of the logarithms is at most log det(I + A⁻¹H) ≤
// r log(1 + tr(H)/(rλ)) ≤ c = m(C−1) log(1 + 1/(Cλ)), by the means of the eigenvalues.
//
// The quadratic. v is a function of t, and so of b: what follows uses where it lies alone. The gradient of a row is
// (p − e_y) ⊗ x, in the convex hull of (eₖ − e_y) ⊗ x for k = 1..C, of which the one with k = y is 0. So v is in that
// of the sums of ± one such vertex for each term: these are fixed, and do not depend on t. The quadratic is convex in
// v, and so at most its largest value at the vertices V; and for each fixed one, under D, it is the privacy loss of
// Gaussian noise of |V|/σ. With G(ε; μ) the δ of Gaussian noise of μ, and as 1 − e^(ε−L) increases with L,
//
//	δ(ε) = E max(0, 1 − e^(ε−L)) ≤ Σ_V E max(0, 1 − e^(ε−c−L_V)) = Σ_V G(ε−c; |V|/σ), ε ≥ c,
//
// where V = 0 adds nothing. A vertex of which j terms are not 0 has |V| ≤ j√2, and there are binomial(terms, j) (C−1)^j
// of them. (Redberg, Koskela and Wang, "Improving the privacy and practicality of objective perturbation for
// differentially private linear learners", NeurIPS 2023, Theorem 3.1, bound the same loss by twice one G, for
// gradients ±x of one row that is added or removed. That a logistic gradient has the sign of its class makes it once.)
type perturbation struct {
	classes, rows, terms int
}

// determinants is c.
func (p perturbation) determinants(lambda float64) float64 {
	return float64(p.rows*(p.classes-1)) * math.Log1p(1/(float64(p.classes)*lambda)) * (1 + 1e-12)
}

// change is the largest |v|.
func (p perturbation) change() float64 { return math.Sqrt2 * float64(p.terms) }

// delta is the bound Σ_V G(ε; |V|/σ); +Inf where it is beyond double precision.
func (p perturbation) delta(epsilon, sigma float64) float64 {
	sum, count := 0.0, 1.0
	for j := 1; j <= p.terms; j++ {
		count *= float64(p.terms-j+1) / float64(j) * float64(p.classes-1)
		g, err := mechanism.GaussianDelta(epsilon, sigma/(math.Sqrt2*float64(j)))
		if err != nil {
			return math.Inf(1)
		}
		sum += count * max(g, 1e-307)
	}
	return sum
}

// sigma is the smallest σ with that bound at most δ, and a share of 1e-9 more, which covers the rounding of the bound,
// less than 1e-10 of it: it falls at least as fast as σ grows.
func (p perturbation) sigma(epsilon, delta, lambda float64) (float64, error) {
	left := epsilon - p.determinants(lambda)
	if !(left > 0) {
		return 0, fmt.Errorf("regularisation = %g: the curvature of a row takes all of epsilon; use a larger one, or a "+
			"larger epsilon", lambda)
	}
	low, high := 0.0, 1.0
	for ; !(p.delta(left, high) <= delta); high *= 2 {
		if low = high; high > 1e100 {
			return 0, errors.New("no noise of objective perturbation reaches delta in double precision; use a larger epsilon, " +
				"fewer classes, or fewer rows of a person")
		}
	}
	for high-low > 1e-11*high {
		if mid := low + (high-low)/2; p.delta(left, mid) <= delta {
			high = mid
		} else {
			low = mid
		}
	}
	return high * (1 + 1e-9), nil
}

// regularisation returns λ and its σ for n rows of p features: of a few, that with the least error at one
// coordinate of θ whose size is that of a prior of variance τ², where the loss has the curvature h = n/(Cp):
//
//	(λ²τ² + σ²)/(h + λ)².
func (p perturbation) regularisation(epsilon, delta, n, features float64) (lambda, sigma float64, err error) {
	least := math.Inf(1)
	for l := 1 / 64.; l < 1e9; l *= math.Sqrt2 {
		s, failed := p.sigma(epsilon, delta, l)
		if failed != nil {
			err = failed
			continue
		}
		curvature := n / (float64(p.classes) * features)
		if e := (l*l*priorVariance + s*s) / ((curvature + l) * (curvature + l)); e < least {
			least, lambda, sigma = e, l, s
		}
	}
	if !math.IsInf(least, 1) {
		err = nil
	}
	return lambda, sigma, err
}

// priorVariance is τ², that of the weights of a class.
const priorVariance = 4
