package op

import (
	"context"
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/simd/vector"
)

// Gibbs is the nonstationary kernel (X, Y, Lx, Ly) → K of Gibbs (1997), Eq. (11) of
// Smith, Álvarez and Lawrence:
//
//	K_ij = variance · Π_k √(2 a_k b_k / (a_k²+b_k²)) · exp(−Σ_k (x_k−y_k)² / (a_k²+b_k²))
//
// for a = row i of Lx and b = row j of Ly, the lengthscales of the points in each
// dimension, which must be positive. X and Lx are n×d, Y and Ly are m×d. The matrix of X
// with itself is exactly symmetric, with exactly variance on its diagonal.
//
// The factors of the product are at most one, and one for equal lengthscales. They
// normalise: without them K is not positive semidefinite where the lengthscale varies
// (Rasmussen and Williams 2006, Eq. 4.32). Lengthscales that are not positive are not
// looked for here, and give NaN or a value without meaning.
func Gibbs(variance float64) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("Gibbs(variance=%x)", variance), in: []int{2, 2, 2, 2}, out: 2, shape: gibbsShape,
		run64: func(c call[float64]) error { return gibbsMatrix(c, variance) },
		run32: func(c call[float32]) error { return gibbsMatrix(c, variance) },
		launch: func(t Stream) {
			x, y := t.In(0), t.In(1)
			t.Launch(kernels.Gibbs{X: x, Y: y, LX: t.In(2), LY: t.In(3), N: x.Rows, M: y.Rows, D: x.Cols,
				Variance: variance, Out: t.Out()})
		},
		diff: []bool{true, true, true, true},
		sym: func(f *formula, in gorgonia.Nodes, out, grad *gorgonia.Node) gorgonia.Nodes {
			x, y, lx, ly := in[0], in[1], in[2], in[3]
			w := f.hadamard(out, grad)
			wT := f.transpose(w)
			return gorgonia.Nodes{
				f.apply(gibbsGradient(false), x, y, lx, ly, w), f.apply(gibbsGradient(false), y, x, ly, lx, wT),
				f.apply(gibbsGradient(true), x, y, lx, ly, w), f.apply(gibbsGradient(true), y, x, ly, lx, wT),
			}
		},
		cases: func(s *sampler) (cases []Case) {
			for _, d := range []int{2, 40} {
				in := []Operand{s.normal(small, d), s.normal(29, d), s.positive(small, d), s.positive(29, d)}
				cases = append(cases, applied(fmt.Sprint("Gibbs ", d), Gibbs(2), 1, in...),
					derived(fmt.Sprint("Gibbs, derivative by X ", d), Gibbs(2), 0, 100, in...),
					derived(fmt.Sprint("Gibbs, derivative by LY ", d), Gibbs(2), 3, 100, in...))
			}
			return cases
		},
	}}
}

// gibbsShape is n×m for points n×d and m×d with lengthscales of their own shapes.
func gibbsShape(in []tensor.Shape) (tensor.Shape, error) {
	if !in[0].Eq(in[2]) || !in[1].Eq(in[3]) {
		return nil, fmt.Errorf("points %v, %v with lengthscales %v, %v: there must be one lengthscale for each coordinate",
			in[0], in[1], in[2], in[3])
	}
	return pairs(in)
}

// gibbsMatrix is the CPU kernel of Gibbs: O(nmd) operations, one exponential and one
// square root a pair. The exponents add up and the ratios multiply in float64, so that d
// exponentials become one; both are rounded to the element type then. Products are
// converted, which keeps compilers from fusing them into sums: a²+b² would not be symmetric,
// and the ratio on the diagonal not one. An exponential below the smallest normal number is
// zero.
func gibbsMatrix[T cpublas.Float](c call[T], variance float64) error {
	x, y, lx, ly := c.in[0], c.in[1], c.in[2], c.in[3]
	return c.pool.For(context.Background(), x.rows, rowTile, func(lo, hi int) error {
		roots := borrow[T](y.rows)
		defer release(roots)
		for i := lo; i < hi; i++ {
			xi, ai, row := x.row(i), lx.row(i), c.out.row(i)
			for j := range row {
				yj, bj := y.row(j), ly.row(j)
				ratio, exponent := 1.0, 0.0
				for k, v := range xi {
					a, b := float64(ai[k]), float64(bj[k])
					q := float64(a*a) + float64(b*b)
					diff := float64(v) - float64(yj[k])
					ratio *= 2 * float64(a*b) / q
					exponent += diff * diff / q
				}
				row[j], (*roots)[j] = T(exponent), T(math.Sqrt(ratio))
			}
			vector.ScaledExp(row, row, 0, -1, T(variance))
			for j, r := range *roots {
				row[j] *= r
			}
		}
		return nil
	})
}

// gibbsGradient is the operation (X, Y, Lx, Ly, W) → the n×d derivative by X or
// by Lx, for W = K∘G. With q = a²+b² and t = x−y:
//
//	∂log k/∂x = −2t/q,  ∂log k/∂a = 1/(2a) − a/q + 2a t²/q².
//
// By the product rule ∂K_ij/∂x_ik = K_ij ∂log k/∂x, summed over j with weights W_ij =
// K_ij G_ij, n×m. The derivative by the logarithm is used because K has been computed
// before and needs no second exponential. Y and Ly come by exchanging the two sides and
// transposing W.
func gibbsGradient(byLengthscale bool) Op {
	by := "X"
	if byLengthscale {
		by = "L"
	}
	return Op{def: &definition{
		name: "GibbsGradient(" + by + ")", in: []int{2, 2, 2, 2, 2}, out: 2, shape: sameShape(0),
		run64: func(c call[float64]) error { return gibbsPullback(c, byLengthscale) },
		run32: func(c call[float32]) error { return gibbsPullback(c, byLengthscale) },
		launch: func(t Stream) {
			x, y := t.In(0), t.In(1)
			t.Launch(kernels.GibbsGradient{X: x, Y: y, LX: t.In(2), LY: t.In(3), W: t.In(4), N: x.Rows, M: y.Rows, D: x.Cols,
				Width: lanes(x.Cols), ByLengthscale: byLengthscale, Out: t.Out()})
		},
		cases: func(s *sampler) (cases []Case) {
			for _, d := range []int{2, 40} {
				in := []Operand{s.normal(small, d), s.normal(29, d), s.positive(small, d), s.positive(29, d), s.normal(small, 29)}
				cases = append(cases, applied(fmt.Sprint("GibbsGradient by X ", d), gibbsGradient(false), 100, in...),
					applied(fmt.Sprint("GibbsGradient by L ", d), gibbsGradient(true), 100, in...))
			}
			return cases
		},
	}}
}

// gibbsPullback is the CPU kernel of gibbsGradient. t/q is squared, not t²/q²: for short
// lengthscales q² underflows long before.
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
					q := float64(a*a) + float64(b*b)
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
