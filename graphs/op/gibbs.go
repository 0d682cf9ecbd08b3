package op

import (
	"context"
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// GibbsParams are the parameters of Gibbs and of its derivatives.
type GibbsParams struct {
	Variance      float64 // of Gibbs
	ByLengthscale bool    // of the derivative: by the lengthscales, not by the points
}

// Gibbs is the nonstationary kernel (X, Y, Lx, Ly) → K of Gibbs (1997), Eq.
// (11) of Smith, Álvarez and Lawrence:
//
//	K_ij = variance · Π_k √(2 a_k b_k / (a_k²+b_k²)) · exp(−Σ_k (x_k−y_k)² / (a_k²+b_k²))
//
// for a = row i of Lx and b = row j of Ly, the lengthscales of the points in
// each dimension, which must be positive. X and Lx are n×d, Y and Ly are m×d.
// The matrix of X with itself is exactly symmetric, with exactly variance on
// its diagonal.
func Gibbs(variance float64) Op {
	name := fmt.Sprintf("Gibbs(variance=%x)", variance)
	d := &definition{name: name, params: GibbsParams{Variance: variance}, in: []int{2, 2, 2, 2}, out: 2, shape: gibbsShape, diff: []bool{true, true, true, true},
		sym: func(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			x, y, lx, ly := in[0], in[1], in[2], in[3]
			w, err := gorgonia.HadamardProd(out, grad)
			if err != nil {
				return nil, err
			}
			wT, err := gorgonia.Transpose(w)
			if err != nil {
				return nil, err
			}
			var grads [4]*gorgonia.Node
			for i, by := range []struct {
				lengthscale bool
				in          gorgonia.Nodes
			}{
				{false, gorgonia.Nodes{x, y, lx, ly, w}}, {false, gorgonia.Nodes{y, x, ly, lx, wT}},
				{true, gorgonia.Nodes{x, y, lx, ly, w}}, {true, gorgonia.Nodes{y, x, ly, lx, wT}},
			} {
				if grads[i], err = gibbsGradient(by.lengthscale).Apply(by.in...); err != nil {
					return nil, err
				}
			}
			return grads[:], nil
		}}
	return Op{d.kernels(
		func(c call[float64]) error { return gibbsMatrix(c, variance) },
		func(c call[float32]) error { return gibbsMatrix(c, variance) })}
}

func gibbsShape(in []tensor.Shape) (tensor.Shape, error) {
	if !in[0].Eq(in[2]) || !in[1].Eq(in[3]) {
		return nil, fmt.Errorf("points %v, %v with lengthscales %v, %v: there must be one lengthscale for each coordinate",
			in[0], in[1], in[2], in[3])
	}
	return pairs(in)
}

func gibbsMatrix[T cpublas.Float](c call[T], variance float64) error {
	x, y, lx, ly := c.in[0], c.in[1], c.in[2], c.in[3]
	return c.pool.For(context.Background(), x.rows, rowTile, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			xi, ai, row := x.row(i), lx.row(i), c.out.row(i)
			for j := range row {
				yj, bj := y.row(j), ly.row(j)
				ratio, exponent := 1.0, 0.0
				for k, v := range xi {
					a, b := float64(ai[k]), float64(bj[k])
					q := a*a + b*b
					diff := float64(v) - float64(yj[k])
					ratio *= 2 * (a * b) / q
					exponent += diff * diff / q
				}
				row[j] = T(variance * math.Sqrt(ratio) * math.Exp(-exponent))
			}
		}
		return nil
	})
}

// gibbsGradient is the operation (X, Y, Lx, Ly, W) → the n×d derivative by X or
// by Lx, for W = K∘G. With q = a²+b² and t = x−y:
//
//	∂log k/∂x = −2t/q,  ∂log k/∂a = 1/(2a) − a/q + 2a t²/q².
func gibbsGradient(byLengthscale bool) Op {
	name := "GibbsGradient(X)"
	if byLengthscale {
		name = "GibbsGradient(L)"
	}
	d := &definition{name: name, params: GibbsParams{ByLengthscale: byLengthscale}, in: []int{2, 2, 2, 2, 2}, out: 2, shape: sameShape(0)}
	return Op{d.kernels(
		func(c call[float64]) error { return gibbsPullback(c, byLengthscale) },
		func(c call[float32]) error { return gibbsPullback(c, byLengthscale) })}
}

func gibbsPullback[T cpublas.Float](c call[T], byLengthscale bool) error {
	x, y, lx, ly, w := c.in[0], c.in[1], c.in[2], c.in[3], c.in[4]
	return c.pool.For(context.Background(), x.rows, rowTile, func(lo, hi int) error {
		sum := make([]float64, x.cols)
		for i := lo; i < hi; i++ {
			clear(sum)
			xi, ai := x.row(i), lx.row(i)
			for j, wij := range w.row(i) {
				yj, bj := y.row(j), ly.row(j)
				for k, v := range xi {
					a, b := float64(ai[k]), float64(bj[k])
					q := a*a + b*b
					diff := float64(v) - float64(yj[k])
					slope := -2 * diff / q
					if byLengthscale {
						slope = 1/(2*a) - a/q + 2*a*(diff/q)*(diff/q)
					}
					sum[k] += float64(wij) * slope
				}
			}
			for k, s := range sum {
				c.out.row(i)[k] = T(s)
			}
		}
		return nil
	})
}
