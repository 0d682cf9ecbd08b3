package op

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/kernels"
)

// WeightedGram is the operation (C, w) → C diag(w) Cᵀ, exactly symmetric. C is p×n, w is
// n×1 with non-negative elements. It is the M = Σ_j w_j c_j c_jᵀ of an optimal design.
// As SSᵀ with S = C diag(√w), BLAS computes one triangle only, p²n operations instead of
// 2p²n, and no diagonal element is negative. A negative weight is an error, on both
// backends.
func WeightedGram() Op {
	return Op{def: &definition{
		name: "WeightedGram", in: []int{2, 2}, out: 2, shape: gramShape,
		run64: weightedGram[float64], run32: weightedGram[float32],
		launch: func(t Stream) {
			c := t.In(0)
			scaled := t.Scratch(c.Rows, c.Cols) // C diag(√w)
			t.Launch(kernels.ScaleRoot{In: c, S: t.In(1), Out: scaled, Rows: c.Rows, Cols: c.Cols, Failed: t.Failure()})
			t.Syrk(blas.Upper, blas.NoTrans, c.Rows, c.Cols, 1, scaled, t.Out())
			mirrorOn(t, t.Out())
		},
		diff: []bool{true, true},
		// ∂C = (G + Gᵀ) C diag(w), ∂w_j = c_jᵀ G c_j.
		sym: func(f *formula, in gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			g := f.plusTranspose(grad)
			return gorgonia.Nodes{f.apply(scaledProduct(), g, in[0], in[1]), f.apply(QuadraticForms(), in[0], grad)}
		},
		cases: func(s *sampler) []Case {
			c, w := s.normal(20, 67), s.positive(67, 1)
			return []Case{
				applied("WeightedGram", WeightedGram(), 100, c, w),
				derived("WeightedGram, derivative by C", WeightedGram(), 0, 1000, c, w),
				derived("WeightedGram, derivative by w", WeightedGram(), 1, 1000, c, w),
			}
		},
	}}
}

// weightedGram multiplies C diag(√w) by its transpose, one triangle of it.
func weightedGram[T cpublas.Float](c call[T]) error {
	a, w := c.in[0], c.in[1].data
	root := make([]T, len(w))
	for j, v := range w {
		if v < 0 {
			return fmt.Errorf("weight %d is %g: weights must not be negative", j, float64(v))
		}
		root[j] = T(math.Sqrt(float64(v)))
	}
	scaled := borrow[T](len(a.data))
	defer release(scaled)
	s := *scaled
	for i := range a.rows {
		to := s[i*a.cols:]
		for j, v := range a.row(i) {
			to[j] = v * root[j]
		}
	}
	if err := dense.Syrk(c.pool, blas.Upper, blas.NoTrans, a.rows, a.cols, 1, s, a.cols, 0, c.out.data,
		a.rows); err != nil {
		return err
	}
	return mirror(c.pool, c.out)
}

// gramShape is p×p for a p×n matrix and n×1 weights.
func gramShape(in []tensor.Shape) (tensor.Shape, error) {
	if in[1][0] != in[0][1] || in[1][1] != 1 {
		return nil, fmt.Errorf("weights %v for a matrix %v, want %d×1", in[1], in[0], in[0][1])
	}
	return tensor.Shape{in[0][0], in[0][0]}, nil
}

// QuadraticForms is the operation (C, G) → q, q_j = c_jᵀ G c_j for the columns
// of C. C is p×n, G is p×p, q is n×1.
//
// It costs 2p²n operations and a p×n product GC in scratch memory; CᵀGC, whose diagonal
// is q, would cost n times the memory of q.
func QuadraticForms() Op {
	return Op{def: &definition{
		name: "QuadraticForms", in: []int{2, 2}, out: 2, shape: formsShape,
		run64: quadraticForms[float64], run32: quadraticForms[float32],
		launch: func(t Stream) {
			c, g := t.In(0), t.In(1)
			gc := t.Scratch(c.Rows, c.Cols)
			t.Gemm(blas.NoTrans, blas.NoTrans, c.Rows, c.Cols, c.Rows, 1, g, c, gc)
			sumColumnsOn(t, kernels.SumColumns{A: c, B: gc, Divisor: 1, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("QuadraticForms", QuadraticForms(), 1000, s.normal(40, 67), s.definite(40))}
		},
	}}
}

// quadraticForms is the CPU kernel of QuadraticForms. The rows of C and GC are
// multiplied as they lie in memory, which sums each q_j over the rows in order.
func quadraticForms[T cpublas.Float](c call[T]) error {
	a, g := c.in[0], c.in[1]
	product := borrow[T](len(a.data))
	defer release(product)
	ga := *product
	if err := dense.Gemm(c.pool, blas.NoTrans, blas.NoTrans, a.rows, a.cols, a.rows, 1, g.data, a.rows, a.data, a.cols,
		0, ga, a.cols); err != nil {
		return err
	}
	clear(c.out.data)
	for i := range a.rows {
		row := ga[i*a.cols:]
		for j, v := range a.row(i) {
			c.out.data[j] += v * row[j]
		}
	}
	return nil
}

// formsShape is n×1 for a p×n matrix and a p×p form.
func formsShape(in []tensor.Shape) (tensor.Shape, error) {
	if in[1][0] != in[1][1] || in[1][0] != in[0][0] {
		return nil, fmt.Errorf("a form %v for columns of a matrix %v", in[1], in[0])
	}
	return tensor.Shape{in[0][1], 1}, nil
}

// ColumnNorms is the operation X → q, q_j = ‖x_j‖² for the columns of X. X is p×n, q is
// n×1. Of L⁻¹C with M = LLᵀ they are the squared Mahalanobis norms c_jᵀM⁻¹c_j, without M⁻¹.
func ColumnNorms() Op {
	return Op{def: &definition{
		name: "ColumnNorms", in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{in[0][1], 1}, nil },
		run64: columnNorms[float64], run32: columnNorms[float32],
		launch: func(t Stream) {
			x := t.In(0)
			sumColumnsOn(t, kernels.SumColumns{A: x, B: x, Divisor: 1, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("ColumnNorms", ColumnNorms(), 100, s.normal(big, 67))}
		},
	}}
}

// columnNorms is the CPU kernel of ColumnNorms: each sum is over the rows in order.
func columnNorms[T cpublas.Float](c call[T]) error {
	x := c.in[0]
	clear(c.out.data)
	for i := range x.rows {
		for j, v := range x.row(i) {
			c.out.data[j] += v * v
		}
	}
	return nil
}

// scaledProduct is the operation (G, C, w) → G C diag(w).
// It is the derivative of WeightedGram by C. G is p×p, C and the result are p×n, w is
// n×1.
func scaledProduct() Op {
	return Op{def: &definition{
		name: "ScaledProduct", in: []int{2, 2, 2}, out: 2, shape: sameShape(1),
		run64: scaledColumns[float64], run32: scaledColumns[float32],
		launch: func(t Stream) {
			g, c := t.In(0), t.In(1)
			gc := t.Scratch(c.Rows, c.Cols)
			t.Gemm(blas.NoTrans, blas.NoTrans, c.Rows, c.Cols, c.Rows, 1, g, c, gc)
			t.Launch(kernels.Scale{In: gc, S: t.In(2), Out: t.Out(), Rows: c.Rows, Cols: c.Cols, ByCol: true})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("ScaledProduct", scaledProduct(), 100, s.symmetric(20), s.normal(20, 67), s.positive(67, 1))}
		},
	}}
}

// scaledColumns is the CPU kernel of scaledProduct.
func scaledColumns[T cpublas.Float](c call[T]) error {
	g, a, w := c.in[0], c.in[1], c.in[2].data
	if err := dense.Gemm(c.pool, blas.NoTrans, blas.NoTrans, a.rows, a.cols, a.rows, 1, g.data, a.rows, a.data, a.cols,
		0, c.out.data, a.cols); err != nil {
		return err
	}
	for i := range a.rows {
		row := c.out.row(i)
		for j := range row {
			row[j] *= w[j]
		}
	}
	return nil
}

// IdentityPlusGram is the operation X → I + XᵀX, exactly symmetric. X is n×m,
// the result m×m.
//
// All eigenvalues are at least one, so that its Cholesky factor exists for every X. It
// is the B = I + σ⁻²VVᵀ of sparse Gaussian processes, whose condition number is the
// squared largest singular value of X, plus one, at most.
func IdentityPlusGram() Op {
	return Op{def: &definition{
		name: "IdentityPlusGram", in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{in[0][1], in[0][1]}, nil },
		run64: identityPlusGram[float64], run32: identityPlusGram[float32],
		launch: func(t Stream) {
			x := t.In(0)
			t.Syrk(blas.Upper, blas.Trans, x.Cols, x.Rows, 1, x, t.Out())
			t.Launch(kernels.AddIdentity{A: t.Out(), N: x.Cols})
			mirrorOn(t, t.Out())
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("IdentityPlusGram", IdentityPlusGram(), 100, s.normal(small, 20))}
		},
	}}
}

// identityPlusGram is the CPU kernel of IdentityPlusGram, m²n operations.
func identityPlusGram[T cpublas.Float](c call[T]) error {
	x := c.in[0]
	err := dense.Syrk(c.pool, blas.Upper, blas.Trans, x.cols, x.rows, 1, x.data, x.cols, 0, c.out.data, x.cols)
	if err != nil {
		return err
	}
	for i := range x.cols {
		c.out.data[i*x.cols+i]++
	}
	return mirror(c.pool, c.out)
}

// Scatter is the operation A → s AᵀA, or s AAᵀ with rows set, exactly
// symmetric: of centred samples A (N×p) with s = 1/(N−1) the sample covariance
// (p×p), or the Gram matrix (N×N) with the same eigenvalues other than zero.
// Which of the two is smaller decides: m²n operations for the m×m side.
func Scatter(scale float64, rows bool) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("Scatter(scale=%x,rows=%v)", scale, rows), in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			n := in[0][1]
			if rows {
				n = in[0][0]
			}
			return tensor.Shape{n, n}, nil
		},
		run64: func(c call[float64]) error { return scatter(c, scale, rows) },
		run32: func(c call[float32]) error { return scatter(c, scale, rows) },
		launch: func(t Stream) {
			if a := t.In(0); rows {
				t.Syrk(blas.Upper, blas.NoTrans, a.Rows, a.Cols, scale, a, t.Out())
			} else {
				t.Syrk(blas.Upper, blas.Trans, a.Cols, a.Rows, scale, a, t.Out())
			}
			mirrorOn(t, t.Out())
		},
		cases: func(s *sampler) []Case {
			return []Case{
				applied("Scatter, columns", Scatter(0.1, false), 10, s.normal(small, 45)),
				applied("Scatter, rows", Scatter(0.1, true), 10, s.normal(small, 45)),
			}
		},
	}}
}

// scatter is the CPU kernel of Scatter. One triangle is computed and mirrored.
func scatter[T cpublas.Float](c call[T], scale float64, rows bool) error {
	a := c.in[0]
	n := rowsInUse(a)
	if n == 0 || rows && n < a.rows {
		clear(c.out.data)
	}
	t, order, k := blas.Trans, a.cols, n
	if rows {
		t, order, k = blas.NoTrans, n, a.cols
	}
	if n > 0 {
		err := dense.Syrk(c.pool, blas.Upper, t, order, k, T(scale), a.data, a.cols, 0, c.out.data, c.out.cols)
		if err != nil {
			return err
		}
	}
	return mirror(c.pool, c.out)
}
