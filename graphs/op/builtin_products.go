package op

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// linearOperator is the field of a linAlgBinOp with the number of its operator.
const linearOperator = "āBinaryOperator"

// gorgonia's numbers of the products.
const (
	matrixMatrix = iota
	matrixVector
	vectorVector
	outerProduct
	batchedMatrixMatrix
)

// products are the operations of linear algebra. All launches are [Stream.Product]: C = op(A) op(B)
// for a batch, in which vectors are matrices of one row or column.
func products() []Builtin {
	matrices := product("product", matrixMatrix, matrixProductOn, matrixProductCases)
	matrices.host = largeProductOnHost
	return []Builtin{
		matrices,
		product("product with a vector", matrixVector, vectorProductOn, vectorProductCases),
		product("dot product", vectorVector, dotProductOn, dotProductCases),
		product("outer product", outerProduct, outerProductOn, outerProductCases),
		product("batched product", batchedMatrixMatrix, batchedProductOn, batchedProductCases),
		contraction(),
	}
}

// product is one of the products. tA and tB of its launch are set for transposed operands.
func product(name string, operator int, launch func(t Stream, tA, tB bool), cases func(*sampler) []Case) Builtin {
	return Builtin{Name: name, kind: "linAlgBinOp", cases: cases,
		queue: func(p *parameters) func(Stream) {
			if p.code(linearOperator) != operator {
				return nil
			}
			tA, tB := p.truth("transA"), p.truth("transB")
			return func(t Stream) { launch(t, tA, tB) }
		}}
}

// sides returns the numbers of rows and columns of op(A) for an r×c A.
func sides(r, c int, transposed bool) (rows, cols int) {
	if transposed {
		return c, r
	}
	return r, c
}

// conform reports whether the inner lengths of a product agree, and records an error otherwise.
func conform(t Stream, left, right int) bool {
	if left != right {
		t.Fail(fmt.Errorf("a product of shapes %v and %v", t.Shape(0), t.Shape(1)))
	}
	return left == right
}

// matrixProductOn queues op(A) op(B).
func matrixProductOn(t Stream, tA, tB bool) {
	a, b := t.In(0), t.In(1)
	m, k := sides(a.Rows, a.Cols, tA)
	l, n := sides(b.Rows, b.Cols, tB)
	if conform(t, k, l) {
		t.Product(tA, tB, 1, m, n, k, a, b, t.Out())
	}
}

// matrixProductCases are those of a product of matrices: derivatives have
// transpositions.
func matrixProductCases(s *sampler) (all []Case) {
	mul := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Mul(in[0], in[1]) }
	for _, c := range []struct {
		name    string
		m, k, n int
	}{{"product", 70, 41, 33}, {"product of a row and a column", 1, 37, 1}, {"product of a column and a row", 5, 1, 7},
		{"product of numbers", 1, 1, 1}} {
		in := []Operand{s.normal(c.m, c.k), s.normal(c.k, c.n)}
		all = append(all, built(c.name, 100, in, mul),
			slope(c.name+", derivative by the first", 0, 1e4, in, mul),
			slope(c.name+", derivative by the second", 1, 1e4, in, mul))
	}
	return all
}

// vectorProductOn queues op(A) b, m×k times k.
func vectorProductOn(t Stream, tA, _ bool) {
	a, b := t.In(0), t.In(1)
	m, k := sides(a.Rows, a.Cols, tA)
	if conform(t, k, b.Size()) {
		t.Product(tA, false, 1, m, 1, k, a, b, t.Out())
	}
}

// vectorProductCases are those of a product with a vector.
func vectorProductCases(s *sampler) (all []Case) {
	mul := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Mul(in[0], vectorOf(in[1])) }
	for _, c := range []struct {
		name string
		m, k int
	}{{"product with a vector", 70, 41}, {"product of a square with a vector", 7, 7},
		{"product of a row with a vector", 1, 37}} {
		in := []Operand{s.normal(c.m, c.k), s.normal(c.k, 1)}
		all = append(all, built(c.name, 100, in, mul))
		if c.m > 1 { // a vector of one element is a scalar to the host
			all = append(all, slope(c.name+", derivative by the first", 0, 1e4, in, mul),
				slope(c.name+", derivative by the second", 1, 1e4, in, mul))
		}
	}
	return all
}

// dotProductOn queues aᵀb.
func dotProductOn(t Stream, _, _ bool) {
	a, b := t.In(0), t.In(1)
	if k := a.Size(); conform(t, k, b.Size()) {
		t.Product(false, false, 1, 1, 1, k, a, b, t.Out())
	}
}

// dotProductCases are those of a product of vectors.
func dotProductCases(s *sampler) []Case {
	mul := onVectors(gorgonia.Mul)
	in := []Operand{s.normal(1, 370), s.normal(1, 370)}
	return []Case{
		built("dot product", 100, in, mul),
		slope("dot product, derivative by the first", 0, 1e4, in, mul),
		slope("dot product, derivative by the second", 1, 1e4, in, mul),
	}
}

// outerProductOn queues a bᵀ.
func outerProductOn(t Stream, _, _ bool) {
	a, b := t.In(0), t.In(1)
	t.Product(false, false, 1, a.Size(), b.Size(), 1, a, b, t.Out())
}

// outerProductCases are those of an outer product. gorgonia's own derivative of it has
// wrong shapes; derivatives of products with vectors use it.
func outerProductCases(s *sampler) []Case {
	return []Case{built("outer product", 1, []Operand{s.normal(1, 37), s.normal(1, 21)}, onVectors(gorgonia.OuterProd))}
}

// batchedProductOn queues the products of each pair of matrices.
func batchedProductOn(t Stream, tA, tB bool) {
	x, y := t.Shape(0), t.Shape(1)
	if len(x) < 2 || len(x) != len(y) {
		t.Fail(fmt.Errorf("a batched product of shapes %v and %v", x, y))
		return
	}
	last := len(x) - 2
	batch := sizeOf(x[:last])
	m, k := sides(x[last], x[last+1], tA)
	l, n := sides(y[last], y[last+1], tB)
	if conform(t, k, l) && conform(t, batch, sizeOf(y[:last])) {
		t.Product(tA, tB, batch, m, n, k, t.In(0), t.In(1), t.Out())
	}
}

// batchedProductCases are those of batched products, small and large.
func batchedProductCases(s *sampler) (all []Case) {
	for _, c := range []struct {
		name   string
		tA, tB bool
	}{{"batched product", false, false}, {"batched product, first transposed", true, false},
		{"batched product, second transposed", false, true}} {
		const batch, m, k, n = 6, 17, 35, 9
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			rows, cols := sides(m, k, c.tA)
			rows2, cols2 := sides(k, n, c.tB)
			return gorgonia.BatchedMatMul(shaped(in[0], 2, 3, rows, cols), shaped(in[1], 2, 3, rows2, cols2), c.tA, c.tB)
		}
		in := []Operand{s.normal(batch, m*k), s.normal(batch, k*n)}
		all = append(all, built(c.name, 100, in, graph), slope(c.name+", derivative by the first", 0, 1e4, in, graph),
			slope(c.name+", derivative by the second", 1, 1e4, in, graph))
	}
	large := []Operand{s.normal(2*257, 256), s.normal(2*256, 258)}
	return append(all, built("batched product of large matrices", 100, large,
		func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			return gorgonia.BatchedMatMul(shaped(in[0], 2, 257, 256), shaped(in[1], 2, 256, 258))
		}))
}

// contraction is a sum of products over pairs of axes of two tensors,
//
//	c_(p, q) = Σ_r a_(p, r) b_(r, q)
//
// for the multi-indices r of these axes, p and q of the others: a product of matrices, once the
// axes of the sum are the last of the first tensor and the first of the second.
func contraction() Builtin {
	return Builtin{Name: "tensor contraction", kind: "tensordotOp",
		queue: func(p *parameters) func(Stream) {
			along := [2][]int{p.integers("aAxes"), p.integers("bAxes")}
			return func(t Stream) { contractOn(t, along) }
		},
		cases: func(s *sampler) (all []Case) {
			for _, c := range []struct {
				name         string
				a, b         []int
				aAxes, bAxes []int
			}{
				{"tensor contraction", []int{3, 4, 5}, []int{4, 3, 2}, []int{1, 0}, []int{0, 1}},
				{"tensor contraction of matrices", []int{7, 5}, []int{5, 9}, []int{1}, []int{0}},
				{"tensor contraction of first axes", []int{5, 7}, []int{5, 9}, []int{0}, []int{0}},
				{"tensor contraction with a vector", []int{3, 5, 4}, []int{5}, []int{1}, []int{0}},
			} {
				graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
					return gorgonia.Tensordot(c.aAxes, c.bAxes, shaped(in[0], c.a...), shaped(in[1], c.b...))
				}
				in := []Operand{s.normal(1, sizeOf(c.a)), s.normal(1, sizeOf(c.b))}
				all = append(all, built(c.name, 100, in, graph), slope(c.name+", derivative by the second", 1, 1e4, in, graph))
				if len(c.b) > 1 { // the host's derivative by the first has no result otherwise
					all = append(all, slope(c.name+", derivative by the first", 0, 1e4, in, graph))
				}
			}
			return all
		}}
}

// contractOn queues a contraction along pairs of axes.
func contractOn(t Stream, along [2][]int) {
	a, rest, inner := foldOn(t, 0, along[0], false)
	b, rest2, inner2 := foldOn(t, 1, along[1], true)
	if !conform(t, inner, inner2) {
		return
	}
	t.Product(false, false, 1, rest, rest2, inner, a, b, t.Out())
}

// foldOn returns an operand as a matrix whose columns, or with first set whose rows, are the
// given axes in their order; the other side are the remaining axes.
func foldOn(t Stream, operand int, axes []int, first bool) (m kernels.Matrix, rest, inner int) {
	shape := t.Shape(operand)
	var kept []int
	rest, inner = 1, 1
	for i, d := range shape {
		if slices.Contains(axes, i) {
			inner *= d
		} else {
			kept = append(kept, i)
			rest *= d
		}
	}
	order, rows, cols := slices.Concat(kept, axes), rest, inner
	if first {
		order, rows, cols = slices.Concat(axes, kept), inner, rest
	}
	m = t.In(operand)
	if !slices.IsSorted(order) {
		m = permuteOn(t, m, shape, order, t.Scratch(rows, cols))
	}
	m.Rows, m.Cols = rows, cols
	return m, rest, inner
}

// permuteOn queues a copy with the axes in another order, and returns where it is.
func permuteOn(t Stream, in kernels.Matrix, shape tensor.Shape, order []int, out kernels.Matrix) kernels.Matrix {
	if view, ok := permutedView(t, shape, order); ok {
		t.Launch(kernels.Gather{In: in, Out: out, N: sizeOf(shape), View: view})
	}
	return out
}

// permutedView returns a view with the axes in another order.
func permutedView(t Stream, shape tensor.Shape, order []int) (kernels.View, bool) {
	strides := shape.CalcStrides()
	if len(order) != len(strides) {
		t.Fail(fmt.Errorf("axes %v of shape %v", order, shape))
		return kernels.View{}, false
	}
	lengths, steps := make([]int, len(order)), make([]int, len(order))
	for i, axis := range order {
		if axis < 0 || axis >= len(strides) {
			t.Fail(fmt.Errorf("axes %v of shape %v", order, shape))
			return kernels.View{}, false
		}
		lengths[i], steps[i] = shape[axis], strides[axis]
	}
	return viewOf(t, 0, lengths, steps)
}
