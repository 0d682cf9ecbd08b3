package reconstruct

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// view has inputs and features in the units of known rows: v = (x − mean)/sd, and the same of features.
type view struct {
	of                        *Map
	mean, sd                  []float64 // of inputs, d; sd is 0 of constant ones, of which nothing is told
	featureMean, featureScale []float64 // Q; the scale is 1/sd, and 0 of a constant feature
	low, high                 []float64 // of v, d
}

// search minimises ½ Σ_q ((z_q(x) − t_q)/sd_q)² + ½ λ |v − v₀|² over a box.
type search struct {
	*view
	target   []float64 // t in units of known rows, Q
	centre   []float64 // v₀
	lambda   float64
	jacobian *mat.Dense // Q×d, by v
}

// Searches: the most steps, and the relative gain of a step at which they end.
const (
	mostSteps = 40
	leastGain = 1e-10
)

// residual returns (z − t)/sd at v, with the derivatives where they are asked for.
func (s *search) residual(v []float64, derivatives bool) []float64 {
	x := make([]float64, len(v))
	for j := range v {
		x[j] = s.mean[j] + s.sd[j]*v[j]
	}
	var jacobian *mat.Dense
	if derivatives {
		jacobian = s.jacobian
	}
	z := s.of.At(x, jacobian)
	for q := range z {
		z[q] = s.featureScale[q]*(z[q]-s.featureMean[q]) - s.target[q]
		if derivatives {
			row := jacobian.RawRowView(q)
			floats.Mul(row, s.sd)
			floats.Scale(s.featureScale[q], row)
		}
	}
	return z
}

// loss is the objective at v with a residual.
func (s *search) loss(v, residual []float64) float64 {
	d := floats.Distance(v, s.centre, 2)
	return (floats.Dot(residual, residual) + s.lambda*d*d) / 2
}

// from descends from a place by the method of Levenberg and Marquardt, with steps cut at the box, and returns where it
// ends.
func (s *search) from(start []float64) (v []float64, loss float64) {
	v = s.inside(append([]float64(nil), start...))
	residual := s.residual(v, true)
	loss = s.loss(v, residual)
	damping := 1e-3
	for range mostSteps {
		next := s.inside(s.step(v, residual, damping))
		r := s.residual(next, false)
		l := s.loss(next, r)
		if !(l < loss) {
			if damping *= 8; damping > 1e12 {
				break
			}
			continue
		}
		gain := loss - l
		v, loss = next, l
		damping = max(damping/8, 1e-12)
		if gain <= leastGain*loss || loss == 0 {
			break
		}
		residual = s.residual(v, true)
	}
	return v, loss
}

// inside cuts v at the box, in place.
func (s *search) inside(v []float64) []float64 {
	for j := range v {
		v[j] = max(s.low[j], min(s.high[j], v[j]))
	}
	return v
}

// step returns v + δ for the δ that minimises ½|r + Jδ|² + ½λ|e + δ|² + ½μ|δ|² with e = v − v₀ and the damping μ:
//
//	δ = −(λ/a) e − Jᵀ(JJᵀ + aI)⁻¹(r − (λ/a) J e),  a = λ + μ.
//
// It takes O(Q²d) operations.
func (s *search) step(v, residual []float64, damping float64) []float64 {
	q, d := s.jacobian.Dims()
	a := s.lambda + damping
	shrink := s.lambda / a
	e := make([]float64, d)
	floats.SubTo(e, v, s.centre)
	gram := mat.NewSymDense(q, nil)
	right := mat.NewVecDense(q, nil)
	for i := range q {
		row := s.jacobian.RawRowView(i)
		for k := range i + 1 {
			gram.SetSym(i, k, floats.Dot(row, s.jacobian.RawRowView(k)))
		}
		gram.SetSym(i, i, gram.At(i, i)+a)
		right.SetVec(i, residual[i]-shrink*floats.Dot(row, e))
	}
	out := make([]float64, d)
	floats.AddScaledTo(out, v, -shrink, e)
	var factor mat.Cholesky
	if !factor.Factorize(gram) {
		return v // a larger damping follows
	}
	var y mat.VecDense
	if err := factor.SolveVecTo(&y, right); err != nil {
		return v
	}
	for i := range q {
		floats.AddScaled(out, -y.AtVec(i), s.jacobian.RawRowView(i))
	}
	if slices.ContainsFunc(out, math.IsNaN) {
		return v
	}
	return out
}
