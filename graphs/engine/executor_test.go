package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// sample is a program with a constant, an input that is used twice, one of
// gorgonia's lazy transposes, an output that other nodes read, and a gradient:
//
//	s = 2·(A + Aᵀ), x = s⁻¹ b, logdet = log|s|, grad = ∂logdet/∂A
func sample() Program {
	return Program{Name: "sample", Key: "sample", Build: func(b *Builder) {
		a, rhs := b.Input("a", 2, 2), b.Input("b", 2, 1)
		s := b.Hadamard(b.Constant(2), b.Add(a, b.Transpose(a)))
		logdet := b.LogDet(s)
		grad := b.Gradient(logdet, a)[0]
		b.Output("s", s)
		b.Output("x", b.Solve(s, rhs))
		b.Output("logdet", logdet)
		b.Output("grad", grad)
	}}
}

func sampleInputs() Values {
	return Values{
		"a": NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{1, 0.5, 0, 2})),
		"b": NewMatrix(tensor.Float64, mat.NewDense(2, 1, []float64{1, 2})),
	}
}

// checkSample compares with s = (4 1; 1 8), |s| = 31, worked out by hand;
// grad = 4·s⁻¹.
func checkSample(t *testing.T, out Values) {
	t.Helper()
	for name, want := range map[string][]float64{
		"s":      {4, 1, 1, 8},
		"x":      {6. / 31, 7. / 31},
		"logdet": {math.Log(31)},
		"grad":   {32. / 31, -4. / 31, -4. / 31, 16. / 31},
	} {
		got, err := Floats(out[name])
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: got %v, %v", name, got, err)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-14 {
				t.Errorf("%s[%d] = %.17g, want %.17g", name, i, got[i], want[i])
			}
		}
	}
}

func newExecutor(t *testing.T, p Program, d Device, fellBack func(string)) *Executor {
	t.Helper()
	g, err := Build(p, tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewExecutor(g, d, fellBack)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestExecutorOnTheHost(t *testing.T) {
	x := newExecutor(t, sample(), newHostDevice(nil, new(spares)), nil)
	defer x.Close()
	inputs := sampleInputs()
	first, err := x.Run(context.Background(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	checkSample(t, first)
	// A later run must not write into the outputs of an earlier one.
	other := sampleInputs()
	other["a"] = NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{5, 0, 0, 5}))
	if _, err := x.Run(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	checkSample(t, first)
	if got, _ := Floats(inputs["a"]); got[1] != 0.5 {
		t.Errorf("the input was changed: %v", got)
	}
}

// On a device with its own memory nothing leaks, nothing is freed twice, and
// nothing is used after it was freed; constants and pinned inputs are uploaded
// once.
func TestExecutorOnADevice(t *testing.T) {
	f := newFake(t)
	x := newExecutor(t, sample(), f, func(op string) { t.Errorf("%s fell back", op) })
	constants := f.uploads
	if constants == 0 {
		t.Error("the constant was not uploaded")
	}
	resident := f.live()
	inputs := sampleInputs()
	if err := x.Pin("a", inputs["a"]); err != nil {
		t.Fatal(err)
	}
	delete(inputs, "a")
	for range 3 {
		out, err := x.Run(context.Background(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.queue) != 0 {
			t.Error("a run ended with work in the queue")
		}
		checkSample(t, out)
	}
	if got, want := f.uploads, constants+1+3; got != want {
		t.Errorf("%d uploads, want %d: constants and the pinned input once, the other input in every run", got, want)
	}
	if got := f.live(); got != resident+1 {
		t.Errorf("%d buffers live between runs, want %d", got, resident+1)
	}
	x.Unpin()
	if got := f.live(); got != resident {
		t.Errorf("%d buffers live after Unpin, want %d", got, resident)
	}
	x.Close()
	x.Close() // closing twice frees once
	if got := f.live(); got != 0 {
		t.Errorf("%d buffers live after Close", got)
	}
}

// In a chain of operations only an operand and a result live at a time.
func TestValuesAreFreedAfterTheirLastUse(t *testing.T) {
	p := Program{Name: "chain", Key: "chain", Build: func(b *Builder) {
		n := b.Input("a", 2, 2)
		for range 5 {
			n = b.Cholesky(b.RowGram(1, n))
		}
		b.Output("o", n)
	}}
	f := newFake(t)
	x := newExecutor(t, p, f, nil)
	if _, err := x.Run(context.Background(), Values{"a": NewMatrix(tensor.Float64,
		mat.NewDense(2, 2, []float64{1, 0, 0, 1}))}); err != nil {
		t.Fatal(err)
	}
	if f.peak != 2 {
		t.Errorf("%d buffers at a time, want 2", f.peak)
	}
}

// gorgonia's Reshape returns a view of its operand, whose memory must not be
// used again while the view lives.
func TestViewKeepsItsMemory(t *testing.T) {
	p := Program{Name: "view", Key: "view", Build: func(b *Builder) {
		l := b.Cholesky(b.Input("a", 3, 3))
		flat := b.Reshape(l, 1, 9)
		// A result of the same size, which asks for memory after l is dead.
		again := b.Reshape(flat, 3, 3)
		b.Output("flat", flat)
		b.Output("inverse", b.Inverse(again))
	}}
	x := newExecutor(t, p, newHostDevice(nil, new(spares)), nil)
	for range 2 {
		out, err := x.Run(context.Background(), Values{"a": NewMatrix(tensor.Float64,
			mat.NewDense(3, 3, []float64{4, 2, 0, 2, 10, 0, 0, 0, 1}))})
		if err != nil {
			t.Fatal(err)
		}
		flat, err := Floats(out["flat"])
		if want := []float64{2, 0, 0, 1, 3, 0, 0, 0, 1}; err != nil || !slices.Equal(flat, want) {
			t.Errorf("the factor is %v, want %v; %v", flat, want, err)
		}
	}
}

// gorgonia rewrites log(1−p) as log1p(−p) and removes the difference; nodes built
// before keep their operands.
func TestRewrittenNodes(t *testing.T) {
	p := Program{Name: "entropy", Key: "entropy", Build: func(b *Builder) {
		p, y := b.Tensor("p", 2), b.Tensor("y", 2)
		b.Output("o", gorgonia.Must(gorgonia.BinaryXent(p, y)))
	}}
	x := newExecutor(t, p, newHostDevice(nil, new(spares)), nil)
	out, err := x.Run(context.Background(), Values{"p": TensorOf([]float64{0.25, 0.25}, 2),
		"y": TensorOf([]float64{0, 1}, 2)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Floats(out["o"])
	if want := []float64{-math.Log(0.75), -math.Log(0.25)}; err != nil || len(got) != 2 ||
		math.Abs(got[0]-want[0]) > 1e-15 || math.Abs(got[1]-want[1]) > 1e-15 {
		t.Errorf("got %v, want %v; %v", got, want, err)
	}
}

// Values have the shapes of their nodes also where gorgonia computes others, with the
// device and with the host in its place.
func TestShapesAreTheNodes(t *testing.T) {
	p := Program{Name: "shapes", Key: "shapes", Build: func(b *Builder) {
		v, m := b.Tensor("v", 3), b.Input("m", 3, 2)
		b.Output("contraction", gorgonia.Must(gorgonia.Tensordot([]int{0}, []int{0}, v, v)))
		column := gorgonia.Must(gorgonia.Slice(m, nil, gorgonia.S(1, 2))) // a vector
		b.Output("solved", b.Solve(b.RowGram(1, b.Input("a", 3, 3)), column))
		b.Output("greater", gorgonia.Must(gorgonia.Gt(v, column, false)))
	}}
	none := newFake(t)
	none.hasKernel = func(string) bool { return false }
	for name, device := range map[string]Device{"host": newHostDevice(nil, new(spares)), "fallback": none} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, p, device, nil)
			defer x.Close()
			out, err := x.Run(context.Background(), Values{"v": TensorOf([]float64{1, 2, 3}, 3),
				"m": TensorOf([]float64{0, 4, 0, 0, 0, 9}, 3, 2), "a": TensorOf([]float64{2, 0, 0, 0, 1, 0, 0, 0, 3}, 3, 3)})
			if err != nil {
				t.Fatal(err)
			}
			if v, ok := out["contraction"].(*gorgonia.F64); !ok || float64(*v) != 14 {
				t.Errorf("the contraction is %T %v, want the scalar 14", out["contraction"], out["contraction"])
			}
			solved, err := Dense(out["solved"])
			if err != nil || !mat.Equal(solved, mat.NewDense(3, 1, []float64{1, 0, 1})) {
				t.Errorf("solved: %v; %v", solved, err)
			}
			greater, _ := Data(out["greater"]).([]bool)
			if want := []bool{false, true, false}; !slices.Equal(greater, want) {
				t.Errorf("greater: %v, want %v", greater, want)
			}
		})
	}
}

// An operation without a kernel on the device runs on the host, and is reported.
func TestExecutorFallsBackToTheHost(t *testing.T) {
	f := newFake(t)
	f.hasKernel = func(op string) bool { return !strings.HasPrefix(op, "Solve") && !strings.HasPrefix(op, "LogDet") }
	fell := map[string]int{}
	x := newExecutor(t, sample(), f, func(op string) { fell[op]++ })
	out, err := x.Run(context.Background(), sampleInputs())
	if err != nil {
		t.Fatal(err)
	}
	checkSample(t, out)
	if len(fell) != 2 || fell["Solve"] != 1 || fell["LogDet"] != 1 {
		t.Errorf("fell back: %v", fell)
	}
	x.Close()
	if f.live() != 0 {
		t.Error("leak")
	}
}

// A failure anywhere frees everything.
func TestExecutorFreesAfterFailure(t *testing.T) {
	for name, arrange := range map[string]func(f *fakeDevice, in Values){
		"launch":              func(f *fakeDevice, _ Values) { f.failAfter = len(f.launches) + 3 },
		"memory for an input": func(f *fakeDevice, _ Values) { f.outOfAfter = 2 },
		"memory for a result": func(f *fakeDevice, _ Values) { f.outOfAfter = 5 },
		"not positive definite": func(_ *fakeDevice, in Values) {
			in["a"] = NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{-1, 0, 0, 1}))
		},
		"wrong shape":   func(_ *fakeDevice, in Values) { in["b"] = in["a"] },
		"missing input": func(_ *fakeDevice, in Values) { delete(in, "b") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			x := newExecutor(t, sample(), f, nil)
			in := sampleInputs()
			arrange(f, in)
			if _, err := x.Run(context.Background(), in); err == nil || !strings.HasPrefix(err.Error(), "sample: ") {
				t.Errorf("got %v", err)
			}
			if len(f.queue) != 0 {
				t.Error("the run ended with work in the queue")
			}
			f.failAfter, f.outOfAfter = 0, 0
			out, err := x.Run(context.Background(), sampleInputs())
			if err != nil {
				t.Fatalf("the executor cannot run after a failure: %v", err)
			}
			checkSample(t, out)
			x.Close()
			if n := f.live(); n != 0 {
				t.Errorf("%d buffers leak", n)
			}
		})
	}
}

func TestExecutorRefusesWrongInputs(t *testing.T) {
	x := newExecutor(t, sample(), newHostDevice(nil, new(spares)), nil)
	defer x.Close()
	matrix := func(r, c int) gorgonia.Value { return NewMatrix(tensor.Float64, mat.NewDense(r, c, nil)) }
	for want, change := range map[string]func(Values){
		`"b" is missing`:           func(v Values) { delete(v, "b") },
		`no input "c"`:             func(v Values) { v["c"] = matrix(1, 1) },
		`"a": it has shape (3, 3)`: func(v Values) { v["a"] = matrix(3, 3) },
		`"b": it is float32`:       func(v Values) { v["b"] = NewMatrix(tensor.Float32, mat.NewDense(2, 1, nil)) },
		"not positive definite":    func(v Values) { v["a"] = matrix(2, 2) },
	} {
		t.Run(want, func(t *testing.T) {
			in := sampleInputs()
			change(in)
			if _, err := x.Run(context.Background(), in); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	if err := x.Pin("c", matrix(1, 1)); err == nil {
		t.Error("an unknown input was pinned")
	}
	if err := x.Pin("a", matrix(2, 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Run(context.Background(), sampleInputs()); err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("a pinned input was given again: %v", err)
	}
}

func TestExecutorStopsWhenCancelled(t *testing.T) {
	x := newExecutor(t, sample(), newHostDevice(nil, new(spares)), nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Run(ctx, sampleInputs()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// An output that is an input, or a view of one, is a copy.
func TestOutputsDoNotShareInputs(t *testing.T) {
	p := Program{Name: "identity", Key: "identity", Build: func(b *Builder) {
		a := b.Input("a", 2, 2)
		b.Output("same", a)
		b.Output("transposed", b.Transpose(a))
	}}
	x := newExecutor(t, p, newHostDevice(nil, new(spares)), nil)
	in := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	out, err := x.Run(context.Background(), Values{"a": NewMatrix(tensor.Float64, in)})
	if err != nil {
		t.Fatal(err)
	}
	in.Set(0, 1, 100)
	same, _ := Dense(out["same"])
	transposed, _ := Dense(out["transposed"])
	if same.At(0, 1) != 2 || transposed.At(1, 0) != 2 || transposed.At(0, 1) != 3 {
		t.Errorf("got %v and %v", same, transposed)
	}
}

// A variable that was not declared would never be fed.
func TestUndeclaredVariable(t *testing.T) {
	g, err := Build(Program{Name: "test", Build: func(b *Builder) {
		a := b.Input("a", 2, 2)
		other := gorgonia.NewMatrix(a.Graph(), tensor.Float64, gorgonia.WithShape(2, 2), gorgonia.WithName("other"))
		b.Output("o", b.Add(a, other))
	}}, tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewExecutor(g, newHostDevice(nil, new(spares)), nil); err == nil ||
		!strings.Contains(err.Error(), "no declared input") {
		t.Errorf("got %v", err)
	}
}

// fullDevice has no memory.
type fullDevice struct{ Device }

func (fullDevice) Alloc(int) (Buf, error) { return nil, ErrOutOfDeviceMemory }
func (fullDevice) Sync() error            { return nil }

// A device whose memory does not even hold the constants counts as failed, so
// that a worker leaves its next trial to a fresh process.
func TestDeviceFailsForConstants(t *testing.T) {
	deviceFailed.Store(false)
	defer deviceFailed.Store(false)
	g, err := Build(Program{Name: "sum", Key: "sum", Build: func(b *Builder) {
		b.Output("out", b.Add(b.Input("a", 2, 2), b.Constant(1)))
	}}, tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewExecutor(g, fullDevice{}, nil); !errors.Is(err, ErrOutOfDeviceMemory) || !DeviceFailed() {
		t.Errorf("got %v, and the device has failed: %v", err, DeviceFailed())
	}
}

// A program does not draw random numbers by accident.
func TestDrawsAreDeclared(t *testing.T) {
	for name, draw := range map[string]func(a *gorgonia.Node) *gorgonia.Node{
		"a random node": func(a *gorgonia.Node) *gorgonia.Node {
			return gorgonia.UniformRandomNode(a.Graph(), tensor.Float64, 0, 1, 4, 7)
		},
		"a dropout": func(a *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Dropout(a, 0.5)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := Program{Name: "random", Build: func(b *Builder) {
				a := b.Input("a", 4, 7)
				b.Output("o", b.Add(a, draw(a)))
			}}
			if _, err := Build(p, tensor.Float64); err == nil || !strings.Contains(err.Error(), "draws random numbers") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A node that draws random numbers draws in every run, unlike a constant, which is
// computed before the runs.
func TestRandomNodesDrawInEveryRun(t *testing.T) {
	p := Program{Name: "random", Draws: true, Build: func(b *Builder) {
		a := b.Input("a", 4, 7)
		b.Output("o", b.Add(a, gorgonia.UniformRandomNode(a.Graph(), tensor.Float64, 0, 1, 4, 7)))
	}}
	g, err := Build(p, tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	fake := newFake(t)
	for name, d := range map[string]Device{"host": newHostDevice(nil, new(spares)), "device": fake} {
		x, err := NewExecutor(g, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		var runs [][]float64
		for range 2 {
			out, err := x.Run(context.Background(), Values{"a": NewMatrix(tensor.Float64, mat.NewDense(4, 7, nil))})
			if err != nil {
				t.Fatal(err)
			}
			v, err := Floats(out["o"])
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, v)
		}
		if slices.Equal(runs[0], runs[1]) {
			t.Errorf("%s: two runs draw %v", name, runs[0])
		}
		for _, v := range runs[1] {
			if v < 0 || v >= 1 {
				t.Errorf("%s: %g is no draw from 0 to 1", name, v)
			}
		}
		x.Close()
	}
	if n := fake.live(); n > 0 {
		t.Errorf("%d buffers are alive", n)
	}
}

// All that is asked of a matrix, derivatives and equal expressions included, has one factor.
func TestAMatrixIsFactoredOnce(t *testing.T) {
	for name, lead := range map[string][]int{"matrix": nil, "batch": {3}} {
		g, err := Build(Program{Name: name, Build: func(b *Builder) {
			shape := func(rows, cols int) []int { return append(slices.Clone(lead), rows, cols) }
			a, rhs := b.Tensor("a", shape(2, 2)...), b.Tensor("rhs", shape(2, 1)...)
			s := func() *gorgonia.Node { return b.AddDiagonal(a, b.Constant(1)) }
			sum := func(n *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Sum(n)) }
			loss := b.Add(sum(b.Solve(s(), rhs)), b.Add(sum(b.LogDet(s())), sum(b.Inverse(s()))))
			for i, d := range b.Gradient(loss, a, rhs) {
				b.Output([]string{"by a", "by rhs"}[i], d)
			}
			b.Output("loss", loss)
		}}, tensor.Float64)
		if err != nil {
			t.Fatal(err)
		}
		x, err := NewExecutor(g, newHostDevice(nil, new(spares)), nil)
		if err != nil {
			t.Fatal(err)
		}
		steps := map[string]int{}
		for _, s := range x.steps {
			if o, ok := s.op.(op.Op); ok {
				steps[o.Name()]++
			}
		}
		if steps["Cholesky"] != 1 || steps["Solve"] != 2 || steps["LogDet"] != 1 || steps["Inverse"] != 1 {
			t.Errorf("%s: operations %v, want one factor, two solves, one determinant and one inverse", name, steps)
		}
	}
}
