package corpus

import (
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// reductions returns sums, means and maxima over all elements and along one or several axes.
func reductions() (graphs []Graph) {
	for _, f := range []struct {
		name string
		f    func(a *gorgonia.Node, along ...int) (*gorgonia.Node, error)
	}{
		{"sum", gorgonia.Sum}, {"mean", gorgonia.Mean}, {"maximum", gorgonia.Max},
	} {
		for _, c := range []struct {
			of    string
			shape []int
			along []int
		}{
			{"a vector", []int{7}, nil},
			{"a vector", []int{7}, []int{0}},
			{"a matrix", []int{5, 7}, nil},
			{"a matrix", []int{5, 7}, []int{0}},
			{"a matrix", []int{5, 7}, []int{1}},
			{"a matrix", []int{5, 7}, []int{0, 1}},
			{"a column", []int{5, 1}, nil},
			{"a column", []int{5, 1}, []int{0}},
			{"a column", []int{5, 1}, []int{1}},
			{"a row", []int{1, 7}, []int{0}},
			{"a row", []int{1, 7}, []int{1}},
			{"a rank-3 tensor", []int{2, 3, 4}, nil},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{0}},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{1}},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{2}},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{0, 1}},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{1, 2}},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, nil},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, []int{0}},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, []int{1}},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, []int{2}},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, []int{3}},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, []int{1, 2}},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, []int{2, 3}},
			{"a rank-4 tensor", []int{2, 3, 4, 2}, []int{0, 2, 3}},
		} {
			g := one(fmt.Sprintf("%s of %s along %s", f.name, c.of, axes(c.along)), normal(c.shape...),
				func(x *gorgonia.Node) (*gorgonia.Node, error) { return f.f(x, c.along...) })
			g.Condition = 10
			graphs = append(graphs, g)
		}
	}
	return graphs
}

// axes formats the axes of an operation.
func axes(along []int) string {
	if len(along) == 0 {
		return "all axes"
	}
	return "axes " + strings.Trim(fmt.Sprint(along), "[]")
}

// norms returns softmax, its relatives, norms, and compositions of reductions.
func norms() (graphs []Graph) {
	for _, f := range []struct {
		name string
		f    func(x *gorgonia.Node, axes ...int) (*gorgonia.Node, error)
	}{
		{"softmax", gorgonia.SoftMax}, {"log-softmax", gorgonia.LogSoftMax}, {"sparsemax", gorgonia.Sparsemax},
	} {
		for _, c := range []struct {
			of    string
			shape []int
			along []int
		}{
			{"a vector", []int{7}, nil},
			{"a matrix", []int{5, 7}, nil},
			{"a matrix", []int{5, 7}, []int{0}},
			{"a matrix", []int{5, 7}, []int{1}},
			{"a row", []int{1, 7}, nil},
			{"a column", []int{5, 1}, nil},
			{"a rank-3 tensor", []int{2, 3, 4}, nil},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{0}},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{1}},
			{"a rank-3 tensor", []int{2, 3, 4}, []int{2}},
		} {
			along := "the default axis"
			if c.along != nil {
				along = axes(c.along)
			}
			g := one(f.name+" of "+c.of+" along "+along, normal(c.shape...),
				func(x *gorgonia.Node) (*gorgonia.Node, error) { return f.f(x, c.along...) })
			g.Condition = 100
			graphs = append(graphs, g)
		}
	}
	for axis := range 2 {
		for _, p := range []int{1, 2, 3} {
			g := one(fmt.Sprintf("%d-norm of a matrix along axis %d", p, axis), positive(5, 7),
				func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Norm(x, axis, p) })
			g.Condition = 100
			graphs = append(graphs, g)
		}
	}
	logarithm := func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.LogSumExp(x, 0) }
	keep := func(expandLeft bool, axis int) unary {
		return func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.KeepDims(x, expandLeft, func(x *gorgonia.Node) (*gorgonia.Node, error) {
				return gorgonia.Sum(x, axis)
			})
		}
	}
	composed := []Graph{
		one("log of the sum of exponentials of a vector", normal(7), logarithm),
		one("log of the sum of exponentials of a matrix along axis 0", normal(5, 7), logarithm),
		one("mean with its axis kept on the left", normal(5, 7), keep(true, 0)),
		one("sum with its axis kept on the right", normal(5, 7), keep(false, 1)),
		one("variance of the columns", normal(5, 7), func(x *gorgonia.Node) (*gorgonia.Node, error) {
			mean := gorgonia.Must(gorgonia.Mean(x, 0))
			centred := gorgonia.Must(gorgonia.BroadcastSub(x, mean, nil, []byte{0}))
			return gorgonia.Mean(gorgonia.Must(gorgonia.Square(centred)), 0)
		}),
		one("sum of squares after two sums", normal(2, 3, 4), func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sum(x, 2)))), 1)
		}),
	}
	for i := range composed {
		composed[i].Condition = 100
	}
	both := func(in gorgonia.Nodes) gorgonia.Nodes {
		p := gorgonia.Must(gorgonia.SoftMax(in[0]))
		return gorgonia.Nodes{p, gorgonia.Must(gorgonia.Log(p))}
	}
	return append(append(graphs, composed...),
		Graph{Name: "softmax and its logarithm", In: []Input{normal(5, 7)}, Build: both, Condition: 100},
		alone(one("sparsemax of a rank-3 tensor", normal(2, 3, 4), func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Sparsemax(x)
		})))
}

// arrangements returns operations that move elements without arithmetic.
func arrangements() (graphs []Graph) {
	for _, c := range []struct {
		shape []int
		axes  []int
	}{
		{[]int{5, 7}, nil}, {[]int{5, 7}, []int{1, 0}}, {[]int{5, 1}, nil}, {[]int{2, 3, 4}, nil},
		{[]int{2, 3, 4}, []int{0, 2, 1}}, {[]int{2, 3, 4}, []int{1, 0, 2}}, {[]int{2, 3, 4}, []int{2, 0, 1}},
		{[]int{2, 3, 4}, []int{1, 2, 0}}, {[]int{2, 3, 4, 2}, []int{0, 3, 1, 2}},
	} {
		graphs = append(graphs, one(fmt.Sprintf("transpose of %v by %v", c.shape, c.axes), normal(c.shape...),
			func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Transpose(x, c.axes...) }))
	}
	for _, c := range []struct{ from, to []int }{
		{[]int{6}, []int{2, 3}}, {[]int{6}, []int{6, 1}}, {[]int{6, 1}, []int{6}}, {[]int{5, 6}, []int{6, 5}},
		{[]int{5, 6}, []int{30}}, {[]int{5, 6}, []int{5, 2, 3}}, {[]int{2, 3, 4}, []int{6, -1}},
		{[]int{2, 3, 4}, []int{4, 3, 2}}, {[]int{1, 1}, []int{1}},
	} {
		graphs = append(graphs, one(fmt.Sprintf("reshape of %v to %v", c.from, c.to), normal(c.from...),
			func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Reshape(x, tensor.Shape(c.to).Clone()) }))
	}
	for _, c := range []struct {
		axis     int
		operands [][]int
	}{
		{0, [][]int{{7}, {3}}}, {0, [][]int{{1}, {1}}}, {0, [][]int{{5, 7}, {2, 7}}}, {1, [][]int{{5, 7}, {5, 2}}},
		{1, [][]int{{5, 1}, {5, 1}, {5, 1}}}, {0, [][]int{{1, 7}, {1, 7}}}, {0, [][]int{{2, 3, 4}, {1, 3, 4}}},
		{1, [][]int{{2, 3, 4}, {2, 2, 4}}}, {2, [][]int{{2, 3, 4}, {2, 3, 2}, {2, 3, 4}}},
	} {
		in := make([]Input, len(c.operands))
		for i, shape := range c.operands {
			in[i] = normal(shape...)
		}
		graphs = append(graphs, Graph{Name: fmt.Sprintf("concatenation of %v along axis %d", c.operands, c.axis), In: in,
			Build: func(in gorgonia.Nodes) gorgonia.Nodes {
				return gorgonia.Nodes{gorgonia.Must(gorgonia.Concat(c.axis, in...))}
			}})
	}
	parts := func(axis, n int) func(in gorgonia.Nodes) gorgonia.Nodes {
		return func(in gorgonia.Nodes) gorgonia.Nodes {
			parts, err := gorgonia.Unconcat(in[0], axis, n)
			if err != nil {
				panic(err)
			}
			return append(gorgonia.Nodes{gorgonia.Must(gorgonia.HadamardProd(parts[0], parts[n-1]))}, parts...)
		}
	}
	centred := func(x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Sub(gorgonia.Must(gorgonia.Add(x, gorgonia.Must(gorgonia.Transpose(x)))), constant(x, 1))
	}
	return append(graphs,
		one("ravel of a rank-3 tensor", normal(2, 3, 4), gorgonia.Ravel),
		one("a matrix and its transpose", normal(5, 5), centred),
		one("element of a vector", normal(7), element(3)),
		alone(one("element of a vector", normal(7), element(3))),
		one("element of a matrix", normal(5, 7), element(2, 4)),
		alone(one("element of a matrix", normal(5, 7), element(2, 4))),
		one("diagonal matrix of a vector", normal(5), gorgonia.DiagFlat),
		alone(one("diagonal matrix of a vector", normal(5), gorgonia.DiagFlat)),
		one("upsampled image", normal(1, 2, 3, 3), func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Upsample2D(x, 2)
		}),
		Graph{Name: "halves of a matrix", In: []Input{normal(6, 4)}, Build: parts(0, 2)},
		Graph{Name: "thirds of a matrix by columns", In: []Input{normal(4, 6)}, Build: parts(1, 3)},
		Graph{Name: "sixths of a matrix by columns", In: []Input{normal(4, 6)}, Build: parts(1, 6)},
		Graph{Name: "lengths of the axes of a matrix", In: []Input{normal(5, 7)}, Constant: true,
			Build: func(in gorgonia.Nodes) gorgonia.Nodes {
				rows, columns := gorgonia.Must(gorgonia.SizeOf(0, in[0])), gorgonia.Must(gorgonia.SizeOf(1, in[0]))
				return gorgonia.Nodes{rows, columns, gorgonia.Must(gorgonia.Mul(rows, columns))}
			}})
}

func element(at ...int) unary {
	return func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.At(x, at...) }
}

// slicings returns slices of every form along every axis.
func slicings() (graphs []Graph) {
	for _, c := range []struct {
		name   string
		shape  []int
		slices []tensor.Slice
	}{
		{"[0]", []int{7}, []tensor.Slice{gorgonia.S(0)}},
		{"[6]", []int{7}, []tensor.Slice{gorgonia.S(6)}},
		{"[2:5]", []int{7}, []tensor.Slice{gorgonia.S(2, 5)}},
		{"[2:3]", []int{7}, []tensor.Slice{gorgonia.S(2, 3)}},
		{"[0:7:2]", []int{7}, []tensor.Slice{gorgonia.S(0, 7, 2)}},
		{"[1:6:3]", []int{7}, []tensor.Slice{gorgonia.S(1, 6, 3)}},
		{"[2]", []int{5, 7}, []tensor.Slice{gorgonia.S(2)}},
		{"[:, 3]", []int{5, 7}, []tensor.Slice{nil, gorgonia.S(3)}},
		{"[2, 3]", []int{5, 7}, []tensor.Slice{gorgonia.S(2), gorgonia.S(3)}},
		{"[1:4]", []int{5, 7}, []tensor.Slice{gorgonia.S(1, 4)}},
		{"[:, 2:6]", []int{5, 7}, []tensor.Slice{nil, gorgonia.S(2, 6)}},
		{"[1:4, 2:6]", []int{5, 7}, []tensor.Slice{gorgonia.S(1, 4), gorgonia.S(2, 6)}},
		{"[1:2]", []int{5, 7}, []tensor.Slice{gorgonia.S(1, 2)}},
		{"[:, 2:3]", []int{5, 7}, []tensor.Slice{nil, gorgonia.S(2, 3)}},
		{"[0:5:2]", []int{5, 7}, []tensor.Slice{gorgonia.S(0, 5, 2)}},
		{"[:, 0:7:3]", []int{5, 7}, []tensor.Slice{nil, gorgonia.S(0, 7, 3)}},
		{"[0:1]", []int{1, 7}, []tensor.Slice{gorgonia.S(0, 1)}},
		{"[:, 0]", []int{5, 1}, []tensor.Slice{nil, gorgonia.S(0)}},
		{"[1]", []int{2, 3, 4}, []tensor.Slice{gorgonia.S(1)}},
		{"[:, 1]", []int{2, 3, 4}, []tensor.Slice{nil, gorgonia.S(1)}},
		{"[:, :, 1]", []int{2, 3, 4}, []tensor.Slice{nil, nil, gorgonia.S(1)}},
		{"[0, :, 0]", []int{2, 3, 4}, []tensor.Slice{gorgonia.S(0), nil, gorgonia.S(0)}},
		{"[0:2]", []int{2, 3, 4}, []tensor.Slice{gorgonia.S(0, 2)}},
		{"[:, 0:2, 1:3]", []int{2, 3, 4}, []tensor.Slice{nil, gorgonia.S(0, 2), gorgonia.S(1, 3)}},
		{"[:, :, 0:4:2]", []int{2, 3, 4}, []tensor.Slice{nil, nil, gorgonia.S(0, 4, 2)}},
	} {
		graphs = append(graphs, one(fmt.Sprintf("%s of %v", c.name, c.shape), normal(c.shape...),
			func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Slice(x, c.slices...) }))
	}
	return graphs
}

// products returns products of linear algebra.
func products() (graphs []Graph) {
	for _, c := range []struct {
		name string
		f    binary
		a, b []int
	}{
		{"matrix times matrix", gorgonia.Mul, []int{5, 7}, []int{7, 3}},
		{"matrix times vector", gorgonia.Mul, []int{5, 7}, []int{7}},
		{"vector times matrix", gorgonia.Mul, []int{5}, []int{5, 7}},
		{"vector times vector", gorgonia.Mul, []int{7}, []int{7}},
		{"matrix times column", gorgonia.Mul, []int{5, 7}, []int{7, 1}},
		{"row times matrix", gorgonia.Mul, []int{1, 5}, []int{5, 7}},
		{"row times column", gorgonia.Mul, []int{1, 7}, []int{7, 1}},
		{"column times row", gorgonia.Mul, []int{5, 1}, []int{1, 7}},
		{"matrix of one times matrix", gorgonia.Mul, []int{1, 1}, []int{1, 7}},
		{"scalar times matrix", gorgonia.Mul, nil, []int{5, 7}},
		{"vector times scalar", gorgonia.Mul, []int{7}, nil},
		{"outer product", gorgonia.OuterProd, []int{5}, []int{7}},
		{"outer product of vectors of one length", gorgonia.OuterProd, []int{5}, []int{5}},
		{"outer product of columns", gorgonia.OuterProd, []int{5, 1}, []int{7, 1}},
		{"batched product", batched(), []int{2, 3, 4}, []int{2, 4, 5}},
		{"batched product, first transposed", batched(true), []int{2, 4, 3}, []int{2, 4, 5}},
		{"batched product, second transposed", batched(false, true), []int{2, 3, 4}, []int{2, 5, 4}},
		{"batched product, both transposed", batched(true, true), []int{2, 4, 3}, []int{2, 5, 4}},
		{"batched product of matrices and columns", batched(), []int{2, 3, 4}, []int{2, 4, 1}},
		{"batched product of rank four", batched(), []int{2, 2, 3, 4}, []int{2, 2, 4, 5}},
		{"contraction of vectors", contraction([]int{0}, []int{0}), []int{7}, []int{7}},
		{"contraction of vectors of one", contraction([]int{0}, []int{0}), []int{1}, []int{1}},
		{"contraction of a matrix and a vector", contraction([]int{1}, []int{0}), []int{5, 7}, []int{7}},
		{"contraction of matrices", contraction([]int{1}, []int{0}), []int{5, 7}, []int{7, 3}},
		{"contraction of matrices by second axes", contraction([]int{1}, []int{1}), []int{5, 7}, []int{3, 7}},
		{"contraction of matrices by both axes", contraction([]int{0, 1}, []int{0, 1}), []int{5, 7}, []int{5, 7}},
		{"contraction of a rank-3 tensor and a matrix", contraction([]int{2}, []int{0}), []int{2, 3, 4}, []int{4, 5}},
		{"contraction of rank-3 tensors by two axes", contraction([]int{0, 1}, []int{0, 1}), []int{2, 3, 4},
			[]int{2, 3, 5}},
		{"contraction of a rank-3 tensor and a vector", contraction([]int{1}, []int{0}), []int{2, 3, 4}, []int{3}},
	} {
		g := two(c.name, normal(c.a...), normal(c.b...), c.f)
		g.Condition = 100
		graphs = append(graphs, g)
	}
	gram := one("matrix times its transpose", normal(5, 7), func(x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Mul(x, gorgonia.Must(gorgonia.Transpose(x)))
	})
	gram.Condition = 100
	return append(graphs, gram, alone(two("outer product", normal(5), normal(7), gorgonia.OuterProd)),
		alone(two("contraction of a rank-3 tensor and a vector", normal(2, 3, 4), normal(3),
			contraction([]int{1}, []int{0}))))
}

func batched(transposed ...bool) binary {
	return func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.BatchedMatMul(a, b, transposed...) }
}

func contraction(first, second []int) binary {
	return func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Tensordot(first, second, a, b) }
}
