package op_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// recorder is a device without memory: it records launches and checks that the memory that
// they read and write has been handed out and is large enough.
type recorder struct {
	in     []tensor.Shape
	out    tensor.Shape
	memory map[uintptr]int // elements of the memory handed out, by address
	next   uintptr
	kernel []kernels.Kernel
	calls  int // of the libraries, and copies
	err    error
}

var _ op.Stream = (*recorder)(nil)

func newRecorder(out tensor.Shape, in []tensor.Shape) *recorder {
	r := &recorder{in: in, out: out, memory: map[uintptr]int{}, next: 1 << 20}
	r.memory[1] = max(1, out.TotalSize())
	for i, s := range in {
		r.memory[uintptr(2+i)] = max(1, s.TotalSize())
	}
	return r
}

func (r *recorder) Operands() int            { return len(r.in) }
func (r *recorder) In(i int) kernels.Matrix  { return kernels.MatrixOf(uintptr(2+i), r.in[i]...) }
func (r *recorder) Shape(i int) tensor.Shape { return r.in[i] }
func (r *recorder) Out() kernels.Matrix      { return kernels.MatrixOf(1, r.out...) }
func (r *recorder) OutShape() tensor.Shape   { return r.out }
func (r *recorder) Single() bool             { return false }

func (r *recorder) hand(elements int) uintptr {
	r.next++
	r.memory[r.next] = elements
	return r.next
}

func (r *recorder) Scratch(rows, cols int) kernels.Matrix {
	return kernels.Matrix{At: r.hand(rows * cols), Rows: rows, Cols: cols}
}
func (r *recorder) Doubles(n int) kernels.Doubles { return kernels.Doubles(r.hand(n)) }
func (r *recorder) Numbers(v []float64) kernels.Doubles {
	return r.Doubles(len(v))
}
func (r *recorder) Truths(n int, of func() ([]bool, error)) kernels.Truth {
	if v, err := of(); err != nil || len(v) != n {
		r.Fail(fmt.Errorf("%d truth values of %d, %w", len(v), n, err))
	}
	return kernels.Truth(r.hand(n))
}

func (r *recorder) Send(to kernels.Matrix, of func() (gorgonia.Value, error)) {
	r.check("send", to)
	v, err := of()
	if err != nil {
		r.Fail(err)
	} else if n := v.Shape().TotalSize(); n != to.Size() {
		r.Fail(fmt.Errorf("%d elements for %d", n, to.Size()))
	}
	r.calls++
}

func (r *recorder) Deliver(d kernels.Doubles, n int, _ func([]float64)) {
	if r.memory[uintptr(d)] < n {
		r.Fail(fmt.Errorf("%d numbers of %d", n, r.memory[uintptr(d)]))
	}
}
func (r *recorder) Failure() kernels.Flag { return kernels.Flag(r.hand(1)) }

func (r *recorder) Part(a kernels.Matrix, from, rows, cols int) kernels.Matrix {
	r.check("part", a)
	if from < 0 || from+cols > r.memory[a.At] {
		r.Fail(fmt.Errorf("a part from element %d on of %d", from, r.memory[a.At]))
	}
	return kernels.Matrix{At: r.hand(r.memory[a.At] - from), Rows: rows, Cols: cols}
}

// check refuses a matrix that nobody handed out, or that is larger than its
// memory.
func (r *recorder) check(what string, all ...kernels.Matrix) {
	for _, m := range all {
		if n, ok := r.memory[m.At]; !ok || (m.Rows-1)*m.Cols >= n {
			r.Fail(fmt.Errorf("%s: a matrix %d×%d in %d elements", what, m.Rows, m.Cols, n))
		}
	}
}

func (r *recorder) Launch(k kernels.Kernel) {
	if g := k.Grid(); g.Blocks < 1 || g.X*g.Y < 1 || g.X*g.Y > 1024 {
		r.Fail(fmt.Errorf("%T: a grid %+v", k, g))
	}
	known := func(other kernels.Kernel) bool { return reflect.TypeOf(other) == reflect.TypeOf(k) }
	if !slices.ContainsFunc(kernels.All(), known) {
		r.Fail(fmt.Errorf("%T is not in kernels.All, so that nothing compares it with the source", k))
	}
	r.arguments(reflect.ValueOf(k))
	r.kernel = append(r.kernel, k)
}

// arguments checks the memory that the fields of a kernel name.
func (r *recorder) arguments(v reflect.Value) {
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue // a parameter that is no memory
		}
		switch a := v.Field(i).Interface().(type) {
		case kernels.Matrix:
			if a != (kernels.Matrix{}) || !optional(v, v.Type().Field(i).Name) {
				r.check(v.Type().Name(), a)
			}
		case kernels.Doubles:
			if a != 0 || !optional(v, v.Type().Field(i).Name) {
				r.handedOut(v, i, uintptr(a))
			}
		case kernels.Flag:
			r.handedOut(v, i, uintptr(a))
		case kernels.Truth:
			r.handedOut(v, i, uintptr(a))
		case kernels.Integers:
			r.handedOut(v, i, uintptr(a))
		default:
			if v.Type().Field(i).Anonymous {
				r.arguments(v.Field(i))
			}
		}
	}
}

// optional reports whether a kernel does without a parameter: sums of columns have one of two results.
func optional(kernel reflect.Value, field string) bool {
	switch k := kernel.Interface().(type) {
	case kernels.SumColumns:
		return field == "B" || (k.Parts == 0) != (k.Out.At == 0)
	case kernels.AddParts:
		return (k.Parts == 0) != (k.Out.At == 0)
	}
	return field == "Shift" || strings.HasPrefix(kernel.Type().Name(), "Finish")
}

func (r *recorder) handedOut(v reflect.Value, field int, at uintptr) {
	if _, ok := r.memory[at]; !ok {
		r.Fail(fmt.Errorf("%s: %s has no memory", v.Type().Name(), v.Type().Field(field).Name))
	}
}

func (r *recorder) Copy(to, from kernels.Matrix) {
	r.check("copy", to, from)
	if to.Size() != from.Size() {
		r.Fail(fmt.Errorf("a copy of %d elements to %d", from.Size(), to.Size()))
	}
	r.calls++
}

func (r *recorder) Gemm(tA, tB blas.Transpose, m, n, k int, _ float64, a, b, c kernels.Matrix) {
	r.check("gemm", a, b, c)
	size := func(t blas.Transpose, rows, cols int) [2]int {
		if t == blas.Trans {
			return [2]int{cols, rows}
		}
		return [2]int{rows, cols}
	}
	if want, got := size(tA, m, k), [2]int{a.Rows, a.Cols}; got != want {
		r.Fail(fmt.Errorf("gemm: A is %v, want %v", got, want))
	}
	if want, got := size(tB, k, n), [2]int{b.Rows, b.Cols}; got != want {
		r.Fail(fmt.Errorf("gemm: B is %v, want %v", got, want))
	}
	if c.Cols != n {
		r.Fail(fmt.Errorf("gemm: C has %d columns, want %d", c.Cols, n))
	}
	r.calls++
}

func (r *recorder) AddGemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b, c kernels.Matrix) {
	r.Gemm(tA, tB, m, n, k, alpha, a, b, c)
}

func (r *recorder) Product(_, _ bool, batch, m, n, k int, a, b, c kernels.Matrix) {
	r.check("product", a, b, c)
	for i, want := range []int{batch * m * k, batch * k * n, batch * m * n} {
		if got := []kernels.Matrix{a, b, c}[i].Size(); got != want {
			r.Fail(fmt.Errorf("product: matrix %d has %d elements, want %d", i, got, want))
		}
	}
	r.calls++
	r.kernel = append(r.kernel, kernels.BatchedProduct{}) // where cuBLAS is missing
}

func (r *recorder) Syrk(_ blas.Uplo, tr blas.Transpose, n, k int, _ float64, a, c kernels.Matrix) {
	r.check("syrk", a, c)
	if got := [2]int{a.Rows, a.Cols}; tr == blas.NoTrans && got != [2]int{n, k} || tr == blas.Trans &&
		got != [2]int{k, n} {
		r.Fail(fmt.Errorf("syrk: A is %v for n=%d, k=%d", got, n, k))
	}
	if c.Rows != n || c.Cols != n {
		r.Fail(fmt.Errorf("syrk: C is %d×%d, want order %d", c.Rows, c.Cols, n))
	}
	r.calls++
}

func (r *recorder) Trsm(side blas.Side, _ blas.Transpose, l, b kernels.Matrix) {
	r.check("trsm", l, b)
	if side == blas.Left && l.Rows != b.Rows || side == blas.Right && l.Cols != b.Cols {
		r.Fail(fmt.Errorf("trsm: L is %d×%d, B %d×%d", l.Rows, l.Cols, b.Rows, b.Cols))
	}
	r.calls++
}

func (r *recorder) Trsv(_ blas.Transpose, l, b kernels.Matrix) {
	r.check("trsv", l, b)
	if b.Cols != 1 || b.Rows != l.Rows {
		r.Fail(fmt.Errorf("trsv: L is %d×%d, b %d×%d", l.Rows, l.Cols, b.Rows, b.Cols))
	}
	r.calls++
}

func (r *recorder) Potrf(l kernels.Matrix, _ kernels.Flag) { r.check("potrf", l); r.calls++ }

func (r *recorder) Syevd(n int, v, w kernels.Doubles) kernels.Flag {
	if r.memory[uintptr(v)] != n*n || r.memory[uintptr(w)] != n {
		r.Fail(fmt.Errorf("syevd: %d and %d numbers for order %d", r.memory[uintptr(v)], r.memory[uintptr(w)], n))
	}
	r.calls++
	return kernels.Flag(r.hand(1))
}

// Batch queues the operation for the first member.
func (r *recorder) Batch(b op.Batch) {
	m := newRecorder(b.Out, b.In)
	b.Launch(m)
	r.kernel, r.calls, r.err = append(r.kernel, m.kernel...), r.calls+m.calls, errors.Join(r.err, m.err)
	if b.Members < 2 || len(b.Shared) != len(b.In) {
		r.Fail(fmt.Errorf("a batch of %d members and operands %v, shared %v", b.Members, b.In, b.Shared))
	}
	for _, k := range m.kernel {
		if kernels.UnitOf(k) == kernels.Elements {
			r.Fail(fmt.Errorf("%T computes no batches", k))
		}
	}
}

func (r *recorder) Fail(err error) { r.err = errors.Join(r.err, err) }

// graphOf builds a case's graph.
func graphOf(t *testing.T, c op.Case) *engine.Graph {
	t.Helper()
	g, err := engine.Build(engine.Program{Name: c.Name, Draws: true, Build: func(b *engine.Builder) {
		in := make(gorgonia.Nodes, len(c.In))
		for i, o := range c.In {
			if rows, cols := o.Dims(); o.Scalar {
				in[i] = b.Scalar(fmt.Sprint("in", i))
			} else {
				in[i] = b.Input(fmt.Sprint("in", i), rows, cols)
			}
		}
		b.Output("out", c.Node(in))
	}}, tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// record queues every operation of a graph, and returns the operations and the
// kernels that they launched.
func record(t *testing.T, g *engine.Graph) (ops []gorgonia.Op, launched []kernels.Kernel) {
	t.Helper()
	for _, n := range g.Expr.AllNodes() {
		o := n.Op()
		if o == nil {
			continue
		}
		var in []tensor.Shape
		var dtypes []tensor.Dtype
		for it := g.Expr.From(n.ID()); it.Next(); {
			operand := it.Node().(*gorgonia.Node)
			in, dtypes = append(in, operand.Shape()), append(dtypes, operand.Dtype())
		}
		if len(in) == 0 && !op.Random(o) {
			continue // a constant
		}
		launch := op.Launch(o, append(dtypes, n.Dtype())...)
		if launch == nil {
			t.Errorf("%v (%T) has no launch on a CUDA device", o, o)
			continue
		}
		r := newRecorder(n.Shape(), in)
		launch(r)
		if r.err != nil {
			t.Errorf("the launch of %v: %v", o, r.err)
		}
		if len(r.kernel)+r.calls == 0 {
			t.Errorf("the launch of %v does nothing", o)
		}
		ops, launched = append(ops, o), append(launched, r.kernel...)
	}
	return ops, launched
}

// Without a device: every operation has a case and a launch, and the launches are
// in order; every kernel of the source is launched by some case.
func TestEveryOperationHasCaseAndLaunch(t *testing.T) {
	used := map[reflect.Type]bool{}
	check := func(name string, cases []op.Case, is func(gorgonia.Op) bool) {
		t.Run(name, func(t *testing.T) {
			found := false
			for _, c := range cases {
				ops, launched := record(t, graphOf(t, c))
				found = found || slices.ContainsFunc(ops, is)
				for _, k := range launched {
					used[reflect.TypeOf(k)] = true
				}
			}
			if !found {
				t.Errorf("no case of %d contains the operation", len(cases))
			}
		})
	}
	for _, o := range op.All() {
		check(o.Name(), o.Cases(), func(other gorgonia.Op) bool {
			ours, ok := other.(op.Op)
			return ok && ours.Name() == o.Name()
		})
	}
	for _, b := range op.Builtins() {
		check("gorgonia's "+b.Name, b.Cases(), func(other gorgonia.Op) bool { return b.Launch(other) != nil })
	}
	// Package cuda launches these around the members of a batch.
	for _, k := range []kernels.Kernel{kernels.Invalidate{}, kernels.FactorBlock{}, kernels.FactorRows{},
		kernels.PlaceDiagonal{}, kernels.InvertBlocks{}, kernels.JoinBlocks{}, kernels.SymmetricEigen{}} {
		used[reflect.TypeOf(k)] = true
	}
	for _, k := range kernels.All() {
		if !used[reflect.TypeOf(k)] {
			t.Errorf("no case launches the kernel %T", k)
		}
	}
}

// The launch of every operation is one for a batch, with operands that differ and with
// shared ones, or one for each member.
func TestEveryOperationQueuesBatches(t *testing.T) {
	for _, c := range direct() {
		for shared := -1; shared < len(c.In) && (shared < 0 || len(c.In) > 1); shared++ {
			in := batchOf(tensor.Float64, c.In, 3, shared)
			shapes := make([]tensor.Shape, len(in))
			for i, v := range in {
				shapes[i] = v.Shape()
			}
			o := form(t, c.Op, in)
			out, err := o.Shape(shapes...)
			if err != nil {
				t.Fatal(err)
			}
			r := newRecorder(out, shapes)
			op.Launch(o)(r)
			if r.err != nil || len(r.kernel)+r.calls == 0 {
				t.Errorf("%s, operand %d shared: %v", c.Name, shared, r.err)
			}
		}
	}
}

// Names of cases are those of subtests and of programs: each stands for one.
func TestNamesOfCasesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range op.All() {
		for _, c := range o.Cases() {
			if seen[c.Name] {
				t.Errorf("two cases are called %q", c.Name)
			}
			seen[c.Name] = true
		}
	}
	for _, c := range op.BuiltinCases() {
		if seen[c.Name] {
			t.Errorf("two cases are called %q", c.Name)
		}
		seen[c.Name] = true
	}
}

// All lists every operation: every function of the package that returns one.
func TestAllListsEveryOperation(t *testing.T) {
	constructors, listed := map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name != "op" {
			continue
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
				continue
			}
			if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && result.Name == "Op" {
				constructors[f.Name.Name] = true
			}
			if f.Name.Name == "All" {
				ast.Inspect(f, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if name, ok := call.Fun.(*ast.Ident); ok {
							listed[name.Name] = true
						}
					}
					return true
				})
			}
		}
	}
	for name := range constructors {
		if !listed[name] {
			t.Errorf("op.All does not list %s", name)
		}
	}
	if len(constructors) < 30 {
		t.Errorf("%d functions return an operation: the test does not see them", len(constructors))
	}
}
