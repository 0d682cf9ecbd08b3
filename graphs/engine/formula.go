package engine

import (
	"fmt"
	"strings"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// The operations of gorgonia that every backend has kernels for. Operands are
// matrices unless the comment names other shapes; an operand of the wrong shape is the
// builder's error.

// node adds one operation, unless there was an error before.
func (b *Builder) node(operation string, in gorgonia.Nodes, add func() (*gorgonia.Node, error)) *gorgonia.Node {
	if b.err != nil {
		return b.none
	}
	for i, n := range in {
		if n == nil {
			b.Fail(fmt.Errorf("%s: operand %d (counted from 0) is no node", operation, i))
			return b.none
		}
	}
	var out *gorgonia.Node
	err := protect(func() (err error) { out, err = add(); return err })
	if err != nil {
		b.Fail(fmt.Errorf("%s of %s: %w", operation, shapes(in), err))
		return b.none
	}
	return out
}

// shapes prints the shapes of operands, such as "3×2, scalar".
func shapes(in gorgonia.Nodes) string {
	texts := make([]string, len(in))
	for i, n := range in {
		if texts[i] = "scalar"; !n.IsScalar() {
			texts[i] = strings.ReplaceAll(strings.Trim(fmt.Sprint(n.Shape()), "()"), ", ", "×")
		}
	}
	return strings.Join(texts, ", ")
}

// Functions of gorgonia that add an operation.
type (
	unary  = func(x *gorgonia.Node) (*gorgonia.Node, error)
	binary = func(x, y *gorgonia.Node) (*gorgonia.Node, error)
)

// unary adds an operation on one operand, binary on two.
func (b *Builder) unary(operation string, f unary, x *gorgonia.Node) *gorgonia.Node {
	return b.node(operation, gorgonia.Nodes{x}, func() (*gorgonia.Node, error) { return f(x) })
}

func (b *Builder) binary(operation string, f binary, x, y *gorgonia.Node) *gorgonia.Node {
	return b.node(operation, gorgonia.Nodes{x, y}, func() (*gorgonia.Node, error) { return f(x, y) })
}

// Mul is X Y, the matrix product, or the product with a scalar where one of the
// operands is one.
func (b *Builder) Mul(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("product", gorgonia.Mul, x, y)
}

// Add is X + Y; one of them may be a scalar.
func (b *Builder) Add(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("sum", gorgonia.Add, x, y)
}

// Sub is X − Y; one of them may be a scalar.
func (b *Builder) Sub(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("difference", gorgonia.Sub, x, y)
}

// SubRow is X − 1y, the row y (1×m) taken off every row of X (n×m).
func (b *Builder) SubRow(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("difference of rows", func(x, y *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.BroadcastSub(x, y, nil, []byte{0})
	}, x, y)
}

// Hadamard is X ∘ Y, element by element; one of them may be a scalar.
func (b *Builder) Hadamard(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("element-wise product", gorgonia.HadamardProd, x, y)
}

// ScaleColumns is X ∘ 1y: every row of X (n×m) element by element times the row y (1×m).
func (b *Builder) ScaleColumns(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("product of rows", func(x, y *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.BroadcastHadamardProd(x, y, nil, []byte{0})
	}, x, y)
}

// Divide is X / Y, element by element.
func (b *Builder) Divide(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("element-wise quotient", gorgonia.HadamardDiv, x, y)
}

// Larger is the larger of X and Y, element by element.
func (b *Builder) Larger(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("larger of two", gorgonia.MaxBetween, x, y)
}

// Greater is 1 where X > Y, element by element, and 0 elsewhere.
func (b *Builder) Greater(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary("comparison", func(x, y *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Gt(x, y, true)
	}, x, y)
}

// Neg is −X.
func (b *Builder) Neg(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("negative", gorgonia.Neg, x)
}

// Square is X ∘ X.
func (b *Builder) Square(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("square", gorgonia.Square, x)
}

// Exp is the exponential of every element.
func (b *Builder) Exp(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("exponential", gorgonia.Exp, x)
}

// Log1p is log(1 + x) of every element.
func (b *Builder) Log1p(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("logarithm of one plus", gorgonia.Log1p, x)
}

// Sqrt is the square root of every element.
func (b *Builder) Sqrt(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("square root", gorgonia.Sqrt, x)
}

// Sin is the sine of every element, in radians.
func (b *Builder) Sin(x *gorgonia.Node) *gorgonia.Node { return b.unary("sine", gorgonia.Sin, x) }

// Tanh is the hyperbolic tangent of every element.
func (b *Builder) Tanh(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("hyperbolic tangent", gorgonia.Tanh, x)
}

// Softmax is exp(x_ij) / Σ_l exp(x_il), by rows.
func (b *Builder) Softmax(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("softmax", func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.SoftMax(x, 1) }, x)
}

// Transpose is Xᵀ.
func (b *Builder) Transpose(x *gorgonia.Node) *gorgonia.Node {
	return b.node("transpose", gorgonia.Nodes{x}, func() (*gorgonia.Node, error) { return gorgonia.Transpose(x) })
}

// TransposeMembers is Xᵀ of each member of a batch: m×p×n for m×n×p.
func (b *Builder) TransposeMembers(x *gorgonia.Node) *gorgonia.Node {
	return b.unary("transposes of members", func(x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Transpose(x, 0, 2, 1)
	}, x)
}

// Sum is the scalar Σ_ij x_ij, or the vector of the sums along the axes: 0 adds
// the rows, 1 the columns.
func (b *Builder) Sum(x *gorgonia.Node, along ...int) *gorgonia.Node {
	return b.node("sum of elements", gorgonia.Nodes{x}, func() (*gorgonia.Node, error) {
		return gorgonia.Sum(x, along...)
	})
}

// Max is the largest element, or the vector of the largest along the axes: 0 compares the
// rows, 1 the columns.
func (b *Builder) Max(x *gorgonia.Node, along ...int) *gorgonia.Node {
	return b.node("largest of elements", gorgonia.Nodes{x}, func() (*gorgonia.Node, error) {
		return gorgonia.Max(x, along...)
	})
}

// Reshape is X with its elements, in row-major order, in another shape.
func (b *Builder) Reshape(x *gorgonia.Node, shape ...int) *gorgonia.Node {
	return b.node("reshape", gorgonia.Nodes{x}, func() (*gorgonia.Node, error) {
		return gorgonia.Reshape(x, tensor.Shape(shape))
	})
}

// Concat is the operands below each other (axis 0) or side by side (axis 1).
func (b *Builder) Concat(axis int, in ...*gorgonia.Node) *gorgonia.Node {
	return b.node("concatenation", in, func() (*gorgonia.Node, error) { return gorgonia.Concat(axis, in...) })
}

// Members gathers members of X along its first axis. The elements of at, a vector, are their
// numbers from 0, rounded down.
func (b *Builder) Members(x, at *gorgonia.Node) *gorgonia.Node {
	return b.node("members", gorgonia.Nodes{x, at}, func() (*gorgonia.Node, error) {
		index, err := gorgonia.ConvType(at, at.Dtype(), tensor.Int)
		if err != nil {
			return nil, err
		}
		return gorgonia.ByIndices(x, index, 0)
	})
}

// Windows are the side×side windows of images (n×channels×height×width), stride apart and with a padding of zeros:
// n×height'×width'×channels·side², so that a convolution is a product with filters.
func (b *Builder) Windows(x *gorgonia.Node, side, pad, stride int) *gorgonia.Node {
	return b.unary("windows", func(x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Im2Col(x, tensor.Shape{side, side}, tensor.Shape{pad, pad}, tensor.Shape{stride, stride},
			tensor.Shape{1, 1})
	}, x)
}

// pooling guards a counter of gorgonia, which numbers the MaxPool2D of a process without a lock.
var pooling sync.Mutex

// LargestOfWindows is the largest element of each side×side window of images, stride apart.
func (b *Builder) LargestOfWindows(x *gorgonia.Node, side, stride int) *gorgonia.Node {
	return b.unary("largest of windows", func(x *gorgonia.Node) (*gorgonia.Node, error) {
		pooling.Lock()
		defer pooling.Unlock()
		return gorgonia.MaxPool2D(x, tensor.Shape{side, side}, []int{0, 0}, []int{stride, stride})
	}, x)
}

// Adjoint is the derivative of an objective by x, for its derivative d by y: y is an operation of x alone.
func (b *Builder) Adjoint(x, y, d *gorgonia.Node) *gorgonia.Node {
	return b.node("adjoint", gorgonia.Nodes{x, y, d}, func() (*gorgonia.Node, error) {
		f, ok := y.Op().(gorgonia.SDOp)
		if !ok {
			return nil, fmt.Errorf("%v has no derivative", y.Op())
		}
		all, err := f.SymDiff(gorgonia.Nodes{x}, y, d)
		if err != nil {
			return nil, err
		}
		return all[0], nil
	})
}

// Gradient is the symbolic derivative of a scalar by some nodes, one each. It adds nodes
// to the graph; the derivative of an operation without one is an error.
func (b *Builder) Gradient(of *gorgonia.Node, by ...*gorgonia.Node) gorgonia.Nodes {
	var grads gorgonia.Nodes
	b.node("gradient", append(gorgonia.Nodes{of}, by...), func() (_ *gorgonia.Node, err error) {
		grads, err = gorgonia.Grad(of, by...)
		return of, err
	})
	if b.err != nil {
		grads = make(gorgonia.Nodes, len(by))
		for i := range grads {
			grads[i] = b.none
		}
	}
	return grads
}

// Apply adds an operation of package op.
func (b *Builder) Apply(o op.Op, in ...*gorgonia.Node) *gorgonia.Node {
	return b.node(o.Name(), in, func() (*gorgonia.Node, error) { return o.Apply(in...) })
}
