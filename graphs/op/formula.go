package op

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
)

// formula adds the nodes of a derivative. It keeps its first error, after which
// it adds nothing. Nodes may have the leading dimensions of a batch.
type formula struct {
	err  error
	lead int // leading dimensions of the batch that is differentiated
}

// node adds one node, unless an error came before.
func (f *formula) node(add func() (*gorgonia.Node, error)) (n *gorgonia.Node) {
	if f.err == nil {
		n, f.err = add()
	}
	return n
}

// apply adds an operation of this package.
func (f *formula) apply(o Op, in ...*gorgonia.Node) *gorgonia.Node {
	return f.node(func() (*gorgonia.Node, error) { return o.Apply(in...) })
}

// mul is the matrix product AB, hadamard A∘B element by element, scale sA for a scalar s,
// neg −A and transpose Aᵀ, for each member of a batch.
func (f *formula) mul(a, b *gorgonia.Node) *gorgonia.Node {
	if f.lead > 0 {
		return f.apply(MatrixProduct(), a, b)
	}
	return f.node(func() (*gorgonia.Node, error) { return gorgonia.Mul(a, b) })
}

func (f *formula) hadamard(a, b *gorgonia.Node) *gorgonia.Node {
	return f.node(func() (*gorgonia.Node, error) { return gorgonia.HadamardProd(a, b) })
}

func (f *formula) scale(a, s *gorgonia.Node) *gorgonia.Node {
	if f.lead > 0 {
		return f.apply(ScaledBy(), a, s)
	}
	return f.hadamard(a, s)
}

func (f *formula) neg(a *gorgonia.Node) *gorgonia.Node {
	return f.node(func() (*gorgonia.Node, error) { return gorgonia.Neg(a) })
}

func (f *formula) transpose(a *gorgonia.Node) *gorgonia.Node {
	return f.node(func() (*gorgonia.Node, error) {
		if f.lead == 0 {
			return gorgonia.Transpose(a)
		}
		axes := make([]int, a.Dims())
		for i := range axes {
			axes[i] = i
		}
		n := len(axes)
		axes[n-2], axes[n-1] = n-1, n-2
		return gorgonia.Transpose(a, axes...)
	})
}

// plusTranspose is A + Aᵀ.
func (f *formula) plusTranspose(a *gorgonia.Node) *gorgonia.Node {
	t := f.transpose(a)
	return f.node(func() (*gorgonia.Node, error) { return gorgonia.Add(a, t) })
}

// overMembers is the sum over the members of a batch.
func (f *formula) overMembers(a *gorgonia.Node) *gorgonia.Node {
	for range f.lead {
		a = f.node(func() (*gorgonia.Node, error) { return gorgonia.Sum(a, 0) })
	}
	return a
}

// MatrixProduct is the operation (A, B) → AB, n×m for an n×k A and a k×m B: gorgonia's
// product for batches, whose members may share an operand.
func MatrixProduct() Op {
	return Op{def: &definition{
		name: "MatrixProduct", in: []int{2, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if in[0][1] != in[1][0] {
				return nil, fmt.Errorf("a product of shapes %v and %v", in[0], in[1])
			}
			return tensor.Shape{in[0][0], in[1][1]}, nil
		},
		run64: multiplyMatrices[float64], run32: multiplyMatrices[float32],
		launch: func(t Stream) {
			a, b := t.In(0), t.In(1)
			t.Gemm(blas.NoTrans, blas.NoTrans, a.Rows, b.Cols, a.Cols, 1, a, b, t.Out())
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("MatrixProduct", MatrixProduct(), 100, s.normal(small, 29), s.normal(29, 7))}
		},
	}}
}

// multiplyMatrices is the CPU kernel of MatrixProduct.
func multiplyMatrices[T cpublas.Float](c call[T]) error {
	a, b := c.in[0], c.in[1]
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, a.rows, b.cols, a.cols, 1, a.data, a.cols, b.data, b.cols, 0, c.out.data,
		b.cols)
	return nil
}

// symmetricPart is the operation A → ½(A + Aᵀ), exactly symmetric, for a square A.
func symmetricPart() Op {
	return Op{def: &definition{
		name: "SymmetricPart", in: []int{2}, out: 2, shape: square,
		run64: symmetrise[float64], run32: symmetrise[float32],
		launch: func(t Stream) {
			t.Copy(t.Out(), t.In(0))
			t.Launch(kernels.Symmetrise{A: t.Out(), N: t.Out().Rows})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("SymmetricPart", symmetricPart(), 1, s.normal(small, small))}
		},
	}}
}

// symmetrise is the CPU kernel of symmetricPart: one triangle in squares, of which both halves are in the cache.
func symmetrise[T cpublas.Float](c call[T]) error {
	const side = 16
	a, to, n := c.in[0].data, c.out.data, c.out.rows
	err := c.pool.For(context.Background(), n, rowTile, func(lo, hi int) error {
		for top := lo; top < hi; top += side {
			for left := top; left < n; left += side {
				for i := top; i < min(top+side, hi); i++ {
					for j := max(left, i); j < min(left+side, n); j++ {
						to[i*n+j] = (a[i*n+j] + a[j*n+i]) / 2
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return mirror(c.pool, c.out)
}

// ScaledBy is the operation (A, s) → sA for a matrix A and a scalar s: gorgonia's
// element-wise product with a number for each member of a batch.
func ScaledBy() Op {
	return Op{def: &definition{
		name: "ScaledBy", in: []int{2, 0}, out: 2, shape: sameShape(0),
		run64: scaleElements[float64], run32: scaleElements[float32],
		launch: func(t Stream) {
			t.Launch(kernels.Scale{In: t.In(0), S: t.In(1), Out: t.Out(), Rows: 1, Cols: t.Out().Size()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("ScaledBy", ScaledBy(), 1, s.normal(small, 9), s.scalar(-1.5))}
		},
	}}
}

// scaleElements is the CPU kernel of ScaledBy.
func scaleElements[T cpublas.Float](c call[T]) error {
	s := c.in[1].data[0]
	for i, v := range c.in[0].data {
		c.out.data[i] = v * s
	}
	return nil
}
