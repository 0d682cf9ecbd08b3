package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// refuse expects an error of a program's construction.
func refuse(t *testing.T, build func(b *Builder), want string) {
	t.Helper()
	_, err := Build(Program{Name: "test", Build: build}, tensor.Float64)
	if err == nil || err.Error() != "building the graph of test: "+want {
		t.Errorf("got %v\nwant %q", err, want)
	}
}

// Programs that gorgonia would compute wrongly are refused.
func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *Builder)
		want  string
	}{
		{"two inputs of one name",
			func(b *Builder) { b.Output("o", b.Add(b.Input("a", 2, 2), b.Input("a", 2, 2))) },
			`two inputs are called "a"`},
		{"no output",
			func(b *Builder) { b.Input("a", 2, 2) },
			"it has no output"},
		{"two outputs of one name",
			func(b *Builder) { a := b.Input("a", 2, 2); b.Output("o", a); b.Output("o", a) },
			`two outputs are called "o"`},
		{"an empty input",
			func(b *Builder) { b.Output("o", b.Input("a", 0, 2)) },
			`input "a" is 0×2: it is empty`},
		{"an empty tensor",
			func(b *Builder) { b.Output("o", b.Tensor("a", 2, 0, 3)) },
			`input "a" has the shape [2 0 3]: it is empty`},
		{"an output without a node",
			func(b *Builder) { b.Output("o", nil) },
			`output "o" is no node`},
		{"a panic of the program",
			func(*Builder) { panic("boom") },
			"panic: boom"},
		{"an error of the program",
			func(b *Builder) { b.Fail(errors.New("boom")) },
			"boom"},
		{"an operand that is no node",
			func(b *Builder) { b.Output("o", b.Add(b.Input("a", 2, 2), nil)) },
			"sum: operand 1 (counted from 0) is no node"},
		{"operands of the wrong shape",
			func(b *Builder) { b.Output("o", b.Trace(b.Eigen(b.Input("a", 2, 2)))) },
			"Trace of 3×2: shape (3, 2), want a square matrix"},
	} {
		t.Run(c.name, func(t *testing.T) { refuse(t, c.build, c.want) })
	}
}

// gorgonia's machines take nodes of one hash for one. FNV-1a gives these two
// names the same 32 bits; they were found by search.
func TestBuildRefusesHashCollision(t *testing.T) {
	_, err := Build(Program{Name: "test", Build: func(b *Builder) {
		b.Output("o", b.Sub(b.Input("mymijm", 2, 2), b.Input("zabgdu", 2, 2)))
	}}, tensor.Float64)
	if err == nil || !strings.Contains(err.Error(), "same hash") {
		t.Errorf("got %v", err)
	}
}

// gorgonia's shape of a slice in steps differs from its result.
func TestBuildRefusesSliceWithRemainder(t *testing.T) {
	_, err := Build(Program{Name: "test", Build: func(b *Builder) {
		b.Output("o", gorgonia.Must(gorgonia.Slice(b.Input("a", 4, 7), nil, gorgonia.S(0, 7, 3))))
	}}, tensor.Float64)
	const want = "is (4, 3), and gorgonia takes it for (4, 2)"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A tensor constant is copied to the device once, for all runs, in the shape that the graph has for it.
func TestTensorConstants(t *testing.T) {
	e, f := onFake(t)
	turned := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))
	if err := turned.T(); err != nil {
		t.Fatal(err)
	}
	s, err := e.Session(Program{Name: "test", Build: func(b *Builder) {
		b.Output("o", b.Add(b.Input("a", 3, 2), gorgonia.NewConstant(turned)))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for run := range 3 {
		out, err := s.Run(t.Context(), Values{"a": TensorOf([]float64{0, 0, 0, 0, 0, 10}, 3, 2)})
		if err != nil {
			t.Fatal(err)
		}
		if got := Read(out).Floats("o"); !slices.Equal(got, []float64{1, 4, 2, 5, 3, 16}) || f.uploads != 2+run {
			t.Errorf("run %d has %v after %d uploads", run, got, f.uploads)
		}
	}
}

// Operations of gorgonia with wrong derivatives are refused by name, with or without a derivative.
func TestBuildRefusesLosses(t *testing.T) {
	integers := func(b *Builder, name string, shape ...int) *gorgonia.Node {
		return gorgonia.Must(gorgonia.ConvType(b.Tensor(name, shape...), b.DType(), tensor.Int))
	}
	temporal := func(b *Builder, x *gorgonia.Node) *gorgonia.Node {
		return gorgonia.Must(gorgonia.CTCLoss(x, integers(b, "labels", 3, 4), integers(b, "lengths", 3),
			integers(b, "counts", 3), gorgonia.ReductionMean))
	}
	boxes := func(x *gorgonia.Node, targets ...*gorgonia.Node) *gorgonia.Node {
		return gorgonia.Must(gorgonia.YOLOv3(x, []float32{10, 13, 16, 30}, []int{0, 1}, 64, 2, 0.5, targets...))
	}
	for _, c := range []struct {
		name  string
		shape []int
		out   func(b *Builder, x *gorgonia.Node) *gorgonia.Node
		want  string
	}{
		{"temporal classification", []int{6, 3, 5}, temporal, "CTCLoss{}() is refused: gorgonia's derivative is right for "},
		{"boxes", []int{1, 14, 4, 4}, func(_ *Builder, x *gorgonia.Node) *gorgonia.Node { return boxes(x) },
			"YOLO{}(anchors: ([10 13 16 30])) is refused: gorgonia takes the first anchors "},
		{"boxes with targets", []int{1, 14, 4, 4}, func(b *Builder, x *gorgonia.Node) *gorgonia.Node {
			return boxes(x, b.Tensor("targets", 1, 1, 4, 4))
		}, "YOLO{}(anchors: ([10 13 16 30])) is refused: gorgonia takes the first anchors "},
	} {
		for _, derivative := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, "/", derivative), func(t *testing.T) {
				_, err := Build(Program{Name: "test", Build: func(b *Builder) {
					x := b.Tensor("x", c.shape...)
					out := c.out(b, x)
					if derivative {
						out = b.Gradient(b.Sum(out), x)[0]
					}
					b.Output("o", out)
				}}, tensor.Float32)
				if err == nil || !strings.HasPrefix(err.Error(), "building the graph of test: "+c.want) {
					t.Errorf("got %v\nwant %q", err, c.want)
				}
			})
		}
	}
}

// The error of an operation names it, with the shapes of its operands.
func TestBuilderNamesOperationAndShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		add  func(b *Builder, a, v, s *gorgonia.Node) *gorgonia.Node // of 3×2, 2×1 and a scalar
		want string                                                  // how the error begins
	}{
		{"Cholesky", func(b *Builder, a, _, _ *gorgonia.Node) *gorgonia.Node { return b.Cholesky(a) },
			"Cholesky of 3×2: shape (3, 2), want a square matrix"},
		{"CholeskyShifted", func(b *Builder, a, _, s *gorgonia.Node) *gorgonia.Node { return b.CholeskyShifted(a, s) },
			"CholeskyShifted of 3×2, scalar: "},
		{"a parameter", func(b *Builder, a, _, _ *gorgonia.Node) *gorgonia.Node { return b.LargestEigen(9, b.RowGram(1, a)) },
			"LargestEigen of 3×3: 9 eigenvalues of a matrix (3, 3)"},
		{"product", func(b *Builder, a, v, _ *gorgonia.Node) *gorgonia.Node { return b.Mul(v, a) }, "product of 2×1, 3×2: "},
		{"sum", func(b *Builder, a, v, _ *gorgonia.Node) *gorgonia.Node { return b.Add(a, v) }, "sum of 3×2, 2×1: "},
		{"difference", func(b *Builder, a, v, _ *gorgonia.Node) *gorgonia.Node { return b.Sub(v, a) },
			"difference of 2×1, 3×2: "},
		{"element-wise product", func(b *Builder, a, v, _ *gorgonia.Node) *gorgonia.Node { return b.Hadamard(a, v) },
			"element-wise product of 3×2, 2×1: "},
		{"element-wise quotient", func(b *Builder, a, v, _ *gorgonia.Node) *gorgonia.Node { return b.Divide(a, v) },
			"element-wise quotient of 3×2, 2×1: "},
		{"sum of elements", func(b *Builder, a, _, _ *gorgonia.Node) *gorgonia.Node { return b.Sum(a, 5) },
			"sum of elements of 3×2: "},
		{"reshape", func(b *Builder, a, _, _ *gorgonia.Node) *gorgonia.Node { return b.Reshape(a, 5, 5) },
			"reshape of 3×2: "},
		{"concatenation", func(b *Builder, a, v, _ *gorgonia.Node) *gorgonia.Node { return b.Concat(1, a, v) },
			"concatenation of 3×2, 2×1: "},
		{"gradient", func(b *Builder, a, v, _ *gorgonia.Node) *gorgonia.Node { return b.Gradient(a, v)[0] },
			"gradient of 3×2, 2×1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Build(Program{Name: "test", Build: func(b *Builder) {
				b.Output("o", c.add(b, b.Input("a", 3, 2), b.Input("v", 2, 1), b.Scalar("s")))
			}}, tensor.Float64)
			if want := "building the graph of test: " + c.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v\nwant %q first", err, want)
			}
		})
	}
}

// After an error everything that a program may add does nothing, and the error
// stays the first one.
func TestBuilderKeepsItsFirstError(t *testing.T) {
	refuse(t, func(b *Builder) {
		a := b.Input("a", 3, 2)
		l := b.Cholesky(a)
		if l == nil || len(l.Shape()) != 2 {
			t.Errorf("a failed operation returned %v: a program that looks at its shape would panic", l)
		}
		nodes := len(b.graph.Expr.AllNodes())
		b.Mul(b.Transpose(a), a)
		if n := len(b.graph.Expr.AllNodes()); n != nodes {
			t.Errorf("%d nodes were added after an error", n-nodes)
		}
		b.Mul(l, a)
		b.Input("b", 0, 0)
		b.Fail(errors.New("a second error"))
		b.Apply(op.LogDet(), nil)
		for _, grad := range b.Gradient(l, a, a) {
			b.Output("gradient", b.Sum(b.Transpose(grad), 0))
		}
		panic("a third")
	}, "Cholesky of 3×2: shape (3, 2), want a square matrix")
}

// Every operation of the builder computes the formula of its comment.
func TestFormulas(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	y := mat.NewDense(2, 3, []float64{2, 2, 2, 4, 4, 4})
	for _, c := range []struct {
		name string
		add  func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node
		want []float64
	}{
		{"Mul", func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node { return b.Mul(x, b.Transpose(y)) },
			[]float64{12, 24, 30, 60}},
		{"Mul by a scalar", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Mul(b.Constant(2), x) },
			[]float64{2, 4, 6, 8, 10, 12}},
		{"Add", func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node { return b.Add(x, y) }, []float64{3, 4, 5, 8, 9, 10}},
		{"Sub", func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node { return b.Sub(x, y) }, []float64{-1, 0, 1, 0, 1, 2}},
		{"Hadamard", func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node { return b.Hadamard(x, y) },
			[]float64{2, 4, 6, 16, 20, 24}},
		{"Divide", func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node { return b.Divide(x, y) },
			[]float64{.5, 1, 1.5, 1, 1.25, 1.5}},
		{"Neg", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Neg(x) }, []float64{-1, -2, -3, -4, -5, -6}},
		{"Square", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Square(x) },
			[]float64{1, 4, 9, 16, 25, 36}},
		{"Sin", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Sin(x) },
			[]float64{math.Sin(1), math.Sin(2), math.Sin(3), math.Sin(4), math.Sin(5), math.Sin(6)}},
		{"Sum", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Sum(x) }, []float64{21}},
		{"Sum along the rows", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Sum(x, 0) },
			[]float64{5, 7, 9}},
		{"Sum along the columns", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Sum(x, 1) },
			[]float64{6, 15}},
		{"Reshape", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.Reshape(x, 3, 2) },
			[]float64{1, 2, 3, 4, 5, 6}},
		{"Concat below", func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node { return b.Sum(b.Concat(0, x, y), 1) },
			[]float64{6, 15, 6, 12}},
		{"Concat beside", func(b *Builder, x, y *gorgonia.Node) *gorgonia.Node { return b.Sum(b.Concat(1, x, y), 1) },
			[]float64{12, 27}},
		{"ColumnGram", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.ColumnGram(2, x) },
			[]float64{34, 44, 54, 44, 58, 72, 54, 72, 90}},
		{"RowGram", func(b *Builder, x, _ *gorgonia.Node) *gorgonia.Node { return b.RowGram(.5, x) },
			[]float64{7, 16, 16, 38.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Program{Name: c.name, Key: c.name, Build: func(b *Builder) {
				b.Output("o", c.add(b, b.Input("x", 2, 3), b.Input("y", 2, 3)))
			}}
			out, err := open(t, "float64", 1).Run(t.Context(), p,
				Values{"x": NewMatrix(tensor.Float64, x), "y": NewMatrix(tensor.Float64, y)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Floats(out["o"])
			if err != nil || !mat.EqualApprox(mat.NewVecDense(len(got), got), mat.NewVecDense(len(c.want), c.want), 1e-15) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// Programs are built at once: the race detector finds variables of gorgonia that have no lock.
func TestBuildsAtOnce(t *testing.T) {
	p := Program{Name: "test", Build: func(b *Builder) {
		for i := range 40 {
			name := fmt.Sprint("x", i)
			b.Output(name, b.LargestOfWindows(b.Tensor(name, 1, 1, 4, 4), 2, 2))
		}
	}}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := Build(p, tensor.Float64); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
