package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// mixture has chains of two sizes with scalars and repeated rows and columns, broken by a
// product and by sums, an intermediate value that is an output as well, truth values,
// and a gradient.
func mixture() Program {
	return Program{Name: "mixture", Key: "mixture", Build: func(b *Builder) {
		x, w, row := b.Input("x", 4, 3), b.Input("w", 3, 5), b.Tensor("row", 1, 5)
		rate := b.Scalar("rate")
		m := b.Mul(x, w)
		shifted := gorgonia.Must(gorgonia.BroadcastAdd(m, row, nil, []byte{0}))
		y := gorgonia.Must(gorgonia.Sqrt(b.Add(b.Square(shifted), b.Constant(1))))
		positive := gorgonia.Must(gorgonia.Gt(shifted, rate, true))
		loss := gorgonia.Must(gorgonia.Mean(b.Hadamard(y, positive)))
		b.Output("shifted", shifted)
		b.Output("truth", gorgonia.Must(gorgonia.Lt(b.Neg(shifted), y, false)))
		b.Output("loss", loss)
		for i, g := range b.Gradient(loss, w, row) {
			parameter := []*gorgonia.Node{w, row}[i]
			b.Output(fmt.Sprint("new", i), b.Sub(parameter, b.Hadamard(rate, b.Add(g, b.Hadamard(rate, parameter)))))
		}
	}}
}

func mixtureInputs() Values {
	fill := func(n int) []float64 {
		a := make([]float64, n)
		for i := range a {
			a[i] = math.Sin(float64(7 * (i + n)))
		}
		return a
	}
	return Values{"x": NewMatrix(tensor.Float64, mat.NewDense(4, 3, fill(12))),
		"w":   NewMatrix(tensor.Float64, mat.NewDense(3, 5, fill(15))),
		"row": NewMatrix(tensor.Float64, mat.NewDense(1, 5, fill(5))), "rate": NewScalar(tensor.Float64, 0.125)}
}

func mixtureOn(t *testing.T, d Device) (*Executor, Values) {
	t.Helper()
	x := newExecutor(t, mixture(), d, nil)
	out, err := x.Run(context.Background(), mixtureInputs())
	if err != nil {
		t.Fatal(err)
	}
	return x, out
}

func sameBits(t *testing.T, got, want Values) {
	t.Helper()
	for name, v := range want {
		g, w := numbersOf(got[name]), numbersOf(v)
		if !got[name].Shape().Eq(v.Shape()) || !slices.EqualFunc(g, w,
			func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("%s is %v, want %v", name, g, w)
		}
	}
}

// One kernel instead of several gives the same bits, with any fusion from run to run. It
// launches less, leaves nothing in the device's memory, and takes at most one buffer more:
// small ones may live together for as long as a kernel computes them together.
func TestFusedStepsGiveTheSameBits(t *testing.T) {
	plain := newFake(t)
	x, want := mixtureOn(t, plain)
	x.Close()
	fuser := newFuser(t)
	x, got := mixtureOn(t, fuser)
	sameBits(t, got, want)
	if fuser.peak > plain.peak+1 {
		t.Errorf("%d buffers at once, and %d one by one", fuser.peak, plain.peak)
	}
	if all := len(fuser.launches) + fuser.fused; all > len(plain.launches)/2 {
		t.Errorf("%d launches instead of %d", all, len(plain.launches))
	}
	asked := 0
	for _, every := range []int{1, 2, 3} {
		fuser.ready = func() (bool, error) { asked++; return asked%every == 0, nil }
		got, err := x.Run(context.Background(), mixtureInputs())
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, got, want)
	}
	fuser.launches, fuser.ready = nil, func() (bool, error) { return false, nil }
	if _, err := x.Run(context.Background(), mixtureInputs()); err != nil {
		t.Fatal(err)
	}
	one := slices.Sorted(slices.Values(fuser.launches))
	if want := slices.Sorted(slices.Values(plain.launches)); !slices.Equal(one, want) {
		t.Errorf("one by one it launches %v, want %v", one, want)
	}
	x.Close()
	if fuser.held != 0 {
		t.Errorf("%d buffers are left", fuser.held)
	}
}

// randomProgram applies some operations at random to matrices, rows and scalars, and to the
// results of one another; one in five is an output.
func randomProgram(seed uint64, operations int) (Program, Values) {
	p := Program{Name: "random", Key: fmt.Sprint("random ", seed, operations), Build: func(b *Builder) {
		rng := rand.New(rand.NewPCG(seed, 1))
		all := gorgonia.Nodes{b.Input("a", 3, 3), b.Input("b", 3, 3)}
		rows := gorgonia.Nodes{b.Tensor("row", 1, 3)}
		scalars := gorgonia.Nodes{b.Scalar("s")}
		for i := range operations {
			x, y, s := all[rng.IntN(len(all))], all[rng.IntN(len(all))], scalars[rng.IntN(len(scalars))]
			r := rows[rng.IntN(len(rows))]
			switch rng.IntN(max(8, operations/4)) { // of many operations, most are on single elements
			case 0, 1:
				all = append(all, b.Mul(x, y))
			case 2:
				scalars = append(scalars, b.Sum(x))
			case 3:
				scalars = append(scalars, b.Add(s, scalars[0]))
			case 4:
				all = append(all, b.Hadamard(s, x))
			case 5:
				all = append(all, b.Neg(x))
			case 6:
				rows = append(rows, b.Hadamard(s, r))
				all = append(all, gorgonia.Must(gorgonia.BroadcastAdd(x, r, nil, []byte{0})))
			default:
				all = append(all, b.Sub(x, y))
			}
			if rng.IntN(5) == 0 {
				b.Output(fmt.Sprint("out", i), all[len(all)-1])
			}
		}
		b.Output("scalar", scalars[len(scalars)-1])
		b.Output("row", rows[len(rows)-1])
		b.Output("last", b.Neg(all[len(all)-1]))
	}}
	return p, Values{"a": NewMatrix(tensor.Float64, mat.NewDense(3, 3, []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9})),
		"b":   NewMatrix(tensor.Float64, mat.NewDense(3, 3, []float64{.3, -.1, .2, .5, -.7, .4, .1, .6, -.2})),
		"row": NewMatrix(tensor.Float64, mat.NewDense(1, 3, []float64{.2, -.4, .1})),
		"s":   NewScalar(tensor.Float64, 0.3)}
}

// On random graphs one kernel instead of several gives the same bits with any number of
// arguments, and the operations that are not fused keep their order.
func TestFusedRandomGraphs(t *testing.T) {
	for _, c := range []struct{ operations, limit, most, chains, others int }{ // of the last three, at least
		{25, kernels.MaxWords, 15, 100, 200},
		{25, 7, 7, 100, 200},
		{300, kernels.MaxWords, 90, 40, 30},
		{300, 40, 40, 60, 30},
	} {
		t.Run(fmt.Sprint(c.operations, " operations, ", c.limit, " arguments"), func(t *testing.T) {
			chains, others, most := 0, 0, 0
			for seed := range uint64(60 * 25 / c.operations) {
				p, in := randomProgram(seed, c.operations)
				run := func(d Device) (*Executor, Values) {
					x := newExecutor(t, p, d, nil)
					defer x.Close()
					out, err := x.Run(context.Background(), in)
					if err != nil {
						t.Fatal(err)
					}
					return x, out
				}
				_, want := run(newFake(t))
				fuser := newFuser(t)
				fuser.limit = c.limit
				x, got := run(fuser)
				sameBits(t, got, want)
				chains, most = chains+len(fuser.chains), max(most, fuser.most)
				others += inOrder(t, x)
			}
			if most < c.most || chains < c.chains || others < c.others {
				t.Errorf("%d arguments at most, %d chains and %d other steps", most, chains, others)
			}
		})
	}
}

// inOrder checks that steps that are not on single elements keep their order, and counts them.
func inOrder(t *testing.T, x *Executor) (others int) {
	last := -1
	for i, e := range x.elements() {
		if e != nil {
			continue
		}
		// Slots are numbered in the order of the graph.
		if out := x.steps[i].out; out < last {
			t.Errorf("%v is launched out of its order", x.steps[i].op)
		}
		last = x.steps[i].out
		others++
	}
	return others
}

// After any failure nothing is left in the device's memory, and the next run is right.
func TestFailuresOfFusedSteps(t *testing.T) {
	fuser := newFuser(t)
	x, want := mixtureOn(t, fuser)
	resident := fuser.held
	fails := func(what, message string) {
		t.Helper()
		_, err := x.Run(context.Background(), mixtureInputs())
		if err == nil || !strings.Contains(err.Error(), message) || !strings.Contains(err.Error(), "mixture") {
			t.Errorf("%s: %v", what, err)
		}
		if fuser.held != resident {
			t.Errorf("%s: %d buffers are held, want %d", what, fuser.held, resident)
		}
	}
	fuser.fail = true
	fails("a launch", "launch failure")
	fuser.fail = false
	fuser.ready = func() (bool, error) { return false, errors.New("no compiler") }
	fails("a compilation", "no compiler")
	fuser.ready = func() (bool, error) { return true, nil }
	named := 0
	for after := 1; ; after++ {
		fuser.outOfAfter = after
		_, err := x.Run(context.Background(), mixtureInputs())
		if err == nil {
			break
		}
		if strings.Contains(err.Error(), "a chain of") {
			named++
		}
		if fuser.held != resident {
			t.Fatalf("without memory at allocation %d: %d buffers are held, want %d", after, fuser.held, resident)
		}
	}
	fuser.outOfAfter = 0
	if named < 4 {
		t.Errorf("%d allocations of chains failed", named)
	}
	got, err := x.Run(context.Background(), mixtureInputs())
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, got, want)
	x.Close()
}

// A step that only asks how long a larger operand is neither joins the steps that make
// that one nor those that take the length: they would wait for each other.
func TestSizesAreNotFused(t *testing.T) {
	fuser := newFuser(t)
	x := newExecutor(t, Program{Name: "sizes", Key: "sizes", Build: func(b *Builder) {
		a := b.Square(b.Input("a", 2, 3))
		size := gorgonia.Must(gorgonia.SizeOf(1, a))
		b.Output("out", b.Hadamard(b.Hadamard(size, size), b.Neg(a)))
	}}, fuser, nil)
	a := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	out, err := x.Run(context.Background(), Values{"a": NewMatrix(tensor.Float64, a)})
	if err != nil {
		t.Fatal(err)
	}
	if got := numbersOf(out["out"]); !slices.Equal(got, []float64{-9, -36, -81, -144, -225, -324}) {
		t.Errorf("got %v", got)
	}
	x.Close()
}

// A step joins one that comes later if it keeps one operand in memory for that, but not if
// it keeps two.
func TestStepsThatWaitForOthers(t *testing.T) {
	for name, want := range map[string][]int{"one": {2}, "two": nil} {
		t.Run(name, func(t *testing.T) {
			fuser := newFuser(t)
			x := newExecutor(t, Program{Name: name, Key: name, Build: func(b *Builder) {
				x, w := b.Input("x", 3, 3), b.Input("w", 3, 3)
				first, second := b.Mul(x, w), b.Mul(w, x)
				if name == "one" {
					second = first
				}
				early := b.Hadamard(first, second)
				b.Output("out", b.Add(early, b.Mul(second, first)))
			}}, fuser, nil)
			x.Close()
			var lengths []int
			for _, c := range fuser.chains {
				lengths = append(lengths, len(c.Steps))
			}
			if !slices.Equal(lengths, want) {
				t.Errorf("chains of %v steps, want %v", lengths, want)
			}
		})
	}
}

// Long chains become several kernels.
func TestLongChains(t *testing.T) {
	fuser := newFuser(t)
	x := newExecutor(t, Program{Name: "long", Key: "long", Build: func(b *Builder) {
		a, c := b.Input("a", 2, 3), b.Input("c", 2, 3)
		for i := range 2*maxChain + 5 {
			if i%2 == 0 {
				a = b.Add(a, c)
			} else {
				a = b.Neg(a)
			}
		}
		b.Output("out", a)
	}}, fuser, nil)
	defer x.Close()
	lengths := []int{}
	for _, c := range fuser.chains {
		lengths = append(lengths, len(c.Steps))
	}
	if !slices.Equal(lengths, []int{maxChain, maxChain, 5}) {
		t.Errorf("chains of %v steps", lengths)
	}
	out, err := x.Run(context.Background(), Values{
		"a": NewMatrix(tensor.Float64, mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})),
		"c": NewMatrix(tensor.Float64, mat.NewDense(2, 3, []float64{1, 1, 1, 1, 1, 2}))})
	if err != nil {
		t.Fatal(err)
	}
	// An addition and a negation twice leave a alone, and 101 steps are 25 times that and one addition.
	if got := numbersOf(out["out"]); !slices.Equal(got, []float64{2, 3, 4, 5, 6, 8}) {
		t.Errorf("got %v", got)
	}
}
