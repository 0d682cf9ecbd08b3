package region

import (
	"context"
	"fmt"
	"math"
)

// Quadrature is the result of an integration.
type Quadrature struct {
	Values []float64 // one a distance
	Change float64   // by the last doubling of the nodes
	Nodes  int
}

// Tolerances of the change by doubling the nodes, relative to the largest value,
// G(0).
const (
	// quadratureTolerance ends the doubling. Rounding is below it.
	quadratureTolerance = 1e-13
	// quadratureWorst is the largest accepted error with the most nodes.
	quadratureWorst    = 1e-9
	maxQuadratureNodes = 1 << 20
)

// InnerProducts computes Proposition 2's ⟨K(·,x), K(·,x′)⟩ in one dimension for
// the distances r = |x − x′|,
//
//	G(r) = (2π)^{-1/2} ∫ cos(ωr) R̃_K(ω) / (1 − R̃_H(ω)/R̃_K(ω)) dω.
//
// Here R̃_H/R̃_K = exp(−κ(ε² + ω²)): the integrand has poles at ω = ±iε, which
// reach the real line on the boundary of Example 3's region (ε = 0, where the
// integral diverges), and the next ones beyond |ω| = √(2π/κ). The substitution
// ω = s·sinh u with s = ε keeps all of them about π/4 or more away from the real
// line of u, however small ε is, so that the trapezoidal rule in u converges
// geometrically with nodes in proportion to log(1/ε). Far from the boundary s is
// the width of R̃_K instead.
//
// Each doubling of the nodes keeps the sums of those before. It returns an error where
// 2^20 nodes do not suffice, which distances of very many correlation lengths ask for.
func (r Region) InnerProducts(ctx context.Context, distances []float64) (*Quadrature, error) {
	width := 2 * math.Sqrt(r.Theta0) // R̃_K(ω) = (2θ₀)^{-1/2} exp(−(ω/width)²)
	kappa := (r.Theta0 - r.Theta) / (4 * r.Theta * r.Theta0)
	// log R̃_H/R̃_K at 0, −κε²: half of log(c²θ₀/θ); −∞ for c = 0.
	logRatio := math.Log1p(-r.margin()/r.Theta) / 2
	s := width
	if e := math.Sqrt(-logRatio / kappa); e < s { // κ = 0: no poles
		s = e
	}
	limit := math.Asinh(7 * width / s) // exp(−7²) = 5e-22
	sums := make([]float64, len(distances))
	add := func(u, weight float64) {
		w := s * math.Sinh(u)
		// −Expm1 is 1 − R̃_H/R̃_K without cancellation where the ratio is close to one.
		v := weight * s * math.Cosh(u) * math.Exp(-(w/width)*(w/width)) / -math.Expm1(logRatio-kappa*w*w)
		for i, d := range distances {
			sums[i] += v * math.Cos(w*d)
		}
	}
	scaled := func(h float64) []float64 { // 2/√(2π)/√(2θ₀) = 2/(√π·width)
		out := make([]float64, len(sums))
		for i, v := range sums {
			out[i] = v * h * 2 / (math.Sqrt(math.Pi) * width)
		}
		return out
	}

	nodes := 32
	h := limit / float64(nodes)
	add(0, 0.5)
	for k := 1; k <= nodes; k++ {
		add(float64(k)*h, 1)
	}
	values := scaled(h)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h /= 2
		for k := range nodes { // the nodes in between
			add(float64(2*k+1)*h, 1)
		}
		nodes *= 2
		next := scaled(h)
		change := 0.0
		for i := range next {
			change = math.Max(change, math.Abs(next[i]-values[i]))
		}
		values = next
		allowed := quadratureTolerance
		if nodes >= maxQuadratureNodes {
			allowed = quadratureWorst
		}
		if change <= allowed*values[0] {
			return &Quadrature{values, change, nodes}, nil
		}
		if nodes >= maxQuadratureNodes {
			return nil, fmt.Errorf("the quadrature of Proposition 2 has not converged with %d nodes "+
				"(last change %.1e of G(0) = %.6g): its integrand oscillates too fast for distances up to %.3g "+
				"at theta0 = %v; take a smaller theta0",
				nodes, change, values[0], distances[len(distances)-1], r.Theta0)
		}
	}
}

// margin is θ − c²θ₀, the distance from the lower boundary in one dimension,
// accurate near it: G(0) grows as its inverse square root, and c² and c²θ₀
// rounded would leave it few digits.
func (r Region) margin() float64 {
	square := r.C * r.C
	low := square * r.Theta0
	rest := math.FMA(square, r.Theta0, -low) + math.FMA(r.C, r.C, -square)*r.Theta0
	return (r.Theta - low) - rest
}
