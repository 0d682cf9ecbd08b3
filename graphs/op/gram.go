package op

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// WeightedGram is the operation (C, w) → C diag(w) Cᵀ, exactly symmetric. C is
// p×n, w is n×1 with non-negative elements.
func WeightedGram() Op {
	d := &definition{name: "WeightedGram", in: []int{2, 2}, out: 2, shape: gramShape, diff: []bool{true, true},
		sym: func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			g, err := addTranspose(grad)
			if err != nil {
				return nil, err
			}
			dc, err := scaledProduct().Apply(g, in[0], in[1])
			if err != nil {
				return nil, err
			}
			dw, err := QuadraticForms().Apply(in[0], grad)
			return gorgonia.Nodes{dc, dw}, err
		}}
	return Op{d.kernels(weightedGram[float64], weightedGram[float32])}
}

// QuadraticForms is the operation (C, G) → q, q_j = c_jᵀ G c_j for the columns
// of C. C is p×n, G is p×p, q is n×1.
func QuadraticForms() Op {
	d := &definition{name: "QuadraticForms", in: []int{2, 2}, out: 2, shape: formsShape}
	return Op{d.kernels(quadraticForms[float64], quadraticForms[float32])}
}

// scaledProduct is the operation (G, C, w) → G C diag(w).
func scaledProduct() Op {
	d := &definition{name: "ScaledProduct", in: []int{2, 2, 2}, out: 2, shape: sameShape(1)}
	return Op{d.kernels(scaledColumns[float64], scaledColumns[float32])}
}

func gramShape(in []tensor.Shape) (tensor.Shape, error) {
	if in[1][0] != in[0][1] || in[1][1] != 1 {
		return nil, fmt.Errorf("weights %v for a matrix %v, want %d×1", in[1], in[0], in[0][1])
	}
	return tensor.Shape{in[0][0], in[0][0]}, nil
}

func formsShape(in []tensor.Shape) (tensor.Shape, error) {
	if in[1][0] != in[1][1] || in[1][0] != in[0][0] {
		return nil, fmt.Errorf("a form %v for columns of a matrix %v", in[1], in[0])
	}
	return tensor.Shape{in[0][1], 1}, nil
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
	cpublas.Syrk(blas.Upper, blas.NoTrans, a.rows, a.cols, 1, s, a.cols, 0, c.out.data, a.rows)
	return mirror(nil, c.out)
}

func quadraticForms[T cpublas.Float](c call[T]) error {
	a, g := c.in[0], c.in[1]
	product := borrow[T](len(a.data))
	defer release(product)
	ga := *product
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, a.rows, a.cols, a.rows, 1, g.data, a.rows, a.data, a.cols, 0, ga, a.cols)
	clear(c.out.data)
	for i := range a.rows {
		row := ga[i*a.cols:]
		for j, v := range a.row(i) {
			c.out.data[j] += v * row[j]
		}
	}
	return nil
}

func scaledColumns[T cpublas.Float](c call[T]) error {
	g, a, w := c.in[0], c.in[1], c.in[2].data
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, a.rows, a.cols, a.rows, 1, g.data, a.rows, a.data, a.cols, 0, c.out.data, a.cols)
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
func IdentityPlusGram() Op {
	d := &definition{name: "IdentityPlusGram", in: []int{2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		return tensor.Shape{in[0][1], in[0][1]}, nil
	}}
	return Op{d.kernels(identityPlusGram[float64], identityPlusGram[float32])}
}

func identityPlusGram[T cpublas.Float](c call[T]) error {
	x := c.in[0]
	cpublas.Syrk(blas.Upper, blas.Trans, x.cols, x.rows, 1, x.data, x.cols, 0, c.out.data, x.cols)
	for i := range x.cols {
		c.out.data[i*x.cols+i]++
	}
	return mirror(c.pool, c.out)
}
