package logistic

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/graphs/engine"
)

// objective is J(θ) = Σᵢ ℓ(θ; xᵢ, yᵢ) + λ|θ|²/2 + bᵀθ for θ of C×p, see [perturbation].
type objective struct {
	engine *engine.Engine
	x      *mat.Dense // n×p, rows of norm ≤ 1
	labels []int      // n
	c, p   int
	lambda float64
	b      *mat.Dense // C×p
}

// chunk is the number of rows of a product.
const chunk = 1024

// each runs f on chunks of rows, and returns the sum of what they write to C×p.
func (o *objective) each(ctx context.Context, f func(lo, hi int, x, out *mat.Dense)) (*mat.Dense, error) {
	total, err := ground.InChunks(ctx, o.engine, len(o.labels), chunk, o.c*o.p, func(lo, hi int, out []float64) {
		f(lo, hi, o.x.Slice(lo, hi, 0, o.p).(*mat.Dense), mat.NewDense(o.c, o.p, out))
	})
	if err != nil {
		return nil, err
	}
	return mat.NewDense(o.c, o.p, total), nil
}

// gradient returns ∇J(θ), and the probabilities of the classes of each row (n×C).
func (o *objective) gradient(ctx context.Context, theta *mat.Dense) (g, probabilities *mat.Dense, err error) {
	probabilities = mat.NewDense(len(o.labels), o.c, nil)
	g, err = o.each(ctx, func(lo, hi int, x, out *mat.Dense) {
		p := probabilities.Slice(lo, hi, 0, o.c).(*mat.Dense)
		p.Mul(x, theta.T())
		residuals := mat.NewDense(hi-lo, o.c, nil)
		for i := range hi - lo {
			row, r := p.RawRowView(i), residuals.RawRowView(i)
			softmax(row)
			copy(r, row)
			r[o.labels[lo+i]]--
		}
		out.Mul(residuals.T(), x)
	})
	if err == nil {
		addScaled(g, o.lambda, theta)
		g.Add(g, o.b)
	}
	return g, probabilities, err
}

// softmax makes scores probabilities, in place.
func softmax(row []float64) {
	most := floats.Max(row)
	for k, v := range row {
		row[k] = math.Exp(v - most)
	}
	floats.Scale(1/floats.Sum(row), row)
}

func addScaled(a *mat.Dense, s float64, b *mat.Dense) {
	floats.AddScaled(a.RawMatrix().Data, s, b.RawMatrix().Data)
}

func norm(a *mat.Dense) float64 { return floats.Norm(a.RawMatrix().Data, 2) }

func dot(a, b *mat.Dense) float64 { return floats.Dot(a.RawMatrix().Data, b.RawMatrix().Data) }

// rounding bounds the distance of the computed gradient from the real one at θ. With the unit u = 2⁻⁵³, a score has
// the error (p+1)u|θₖ||x|, all those of a row (p+1)u|θ|, and less the largest one 2u|θ| more; a softmax is Lipschitz
// with the constant 1/2, and adds a relative error of (C+8)u, with 4u for each exponential function. The residuals have
// norms of √2 at most, and the sum of n of them times rows, in any order, has the error (n+1)u·n√2; what is added at
// the end has 3u of its parts. The factor of two covers squares of u.
func (o *objective) rounding(theta *mat.Dense) float64 {
	const u = 0x1p-53
	n, size := float64(len(o.labels)), norm(theta)
	row := (float64(o.p)+3)*size/2 + float64(o.c) + 10
	return 2 * u * (n*row + n*(n+1)*math.Sqrt2 + 3*(n*math.Sqrt2+o.lambda*size+norm(o.b)))
}

// hessian returns a function that multiplies by the Hessian at θ, whose probabilities are given.
func (o *objective) hessian(ctx context.Context, probabilities *mat.Dense) func(v *mat.Dense) (*mat.Dense, error) {
	return func(v *mat.Dense) (*mat.Dense, error) {
		out, err := o.each(ctx, func(lo, hi int, x, out *mat.Dense) {
			var t mat.Dense
			t.Mul(x, v.T())
			for i := range hi - lo {
				row, p := t.RawRowView(i), probabilities.RawRowView(lo+i)
				mean := floats.Dot(row, p)
				for k := range row {
					row[k] = p[k] * (row[k] - mean)
				}
			}
			out.Mul(t.T(), x)
		})
		if err == nil {
			addScaled(out, o.lambda, v)
		}
		return out, err
	}
}

// majorant returns a factor of XᵀX/2 + λI, which bounds the Hessian's block of each class (Böhning 1992).
func (o *objective) majorant(ctx context.Context) (*mat.Cholesky, error) {
	sum, err := ground.InChunks(ctx, o.engine, len(o.labels), chunk, o.p*o.p, func(lo, hi int, out []float64) {
		mat.NewSymDense(o.p, out).SymOuterK(0.5, o.x.Slice(lo, hi, 0, o.p).T())
	})
	if err != nil {
		return nil, err
	}
	total := mat.NewSymDense(o.p, sum)
	for j := range o.p {
		total.SetSym(j, j, total.At(j, j)+o.lambda)
	}
	var out mat.Cholesky
	if !out.Factorize(total) {
		return nil, fmt.Errorf("regularisation = %g: it is too small against the rows for double precision", o.lambda)
	}
	return &out, nil
}

// mostSteps and mostProducts bound the steps of Newton's method, and the products of one step.
const (
	mostSteps    = 200
	mostProducts = 500
)

// minimise returns θ with |∇J(θ)| ≤ γ, rounding included: by Newton's method, whose steps are those of conjugate
// gradients, halved until the gradient falls.
func (o *objective) minimise(ctx context.Context, gamma float64) (*mat.Dense, error) {
	factor, err := o.majorant(ctx)
	if err != nil {
		return nil, err
	}
	theta := mat.NewDense(o.c, o.p, nil)
	g, probabilities, err := o.gradient(ctx, theta)
	for step := 0; err == nil; step++ {
		size := norm(g)
		if bound := size*(1+0x1p-50*float64(o.c*o.p+4)) + o.rounding(theta); bound <= gamma {
			return theta, nil
		} else if step == mostSteps {
			return nil, fmt.Errorf("the minimum of the objective is not reached: after %d steps the gradient's norm is "+
				"not bounded by %g; use a larger regularisation", mostSteps, gamma)
		}
		var direction *mat.Dense
		share := min(0.1, math.Sqrt(size/float64(len(o.labels)+1)))
		if direction, err = o.direction(ctx, factor, g, probabilities, share); err != nil {
			break
		}
		for t := 1.0; ; t /= 2 {
			next := mat.DenseCopyOf(theta)
			addScaled(next, -t, direction)
			var ng, np *mat.Dense
			if ng, np, err = o.gradient(ctx, next); err != nil {
				break
			}
			if norm(ng) <= (1-t/10)*size || t < 1e-6 {
				theta, g, probabilities = next, ng, np
				break
			}
		}
	}
	return nil, err
}

// direction solves H d = g up to a share of |g|.
func (o *objective) direction(ctx context.Context, factor *mat.Cholesky, g, probabilities *mat.Dense, share float64) (
	*mat.Dense, error) {
	product := o.hessian(ctx, probabilities)
	precondition := func(r *mat.Dense) *mat.Dense {
		var z mat.Dense
		if err := factor.SolveTo(&z, r.T()); err != nil {
			return r // too ill-conditioned to be of use
		}
		return mat.DenseCopyOf(z.T())
	}
	d, r := mat.NewDense(o.c, o.p, nil), mat.DenseCopyOf(g)
	z := precondition(r)
	v := mat.DenseCopyOf(z)
	rz, target := dot(r, z), share*norm(g)
	for range mostProducts {
		if norm(r) <= target {
			break
		}
		hv, err := product(v)
		if err != nil {
			return nil, err
		}
		curvature := dot(v, hv)
		if !(curvature > 0) {
			break
		}
		addScaled(d, rz/curvature, v)
		addScaled(r, -rz/curvature, hv)
		z = precondition(r)
		next := dot(r, z)
		v.Scale(next/rz, v)
		v.Add(v, z)
		rz = next
	}
	return d, nil
}
