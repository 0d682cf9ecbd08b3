package cost_test

import (
	"fmt"
	"math"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/op"
)

// count counts an operation on operands of some shapes in float64.
func count(t *testing.T, o gorgonia.Op, out tensor.Shape, in ...tensor.Shape) cost.Work {
	t.Helper()
	return countAs(t, tensor.Float64, o, out, in...)
}

func countAs(t *testing.T, dtype tensor.Dtype, o gorgonia.Op, out tensor.Shape, in ...tensor.Shape) cost.Work {
	t.Helper()
	operands := make([]cost.Operand, len(in))
	for i, s := range in {
		operands[i] = cost.Operand{Shape: s, DType: dtype}
	}
	w, ok := cost.Of(o, cost.Operand{Shape: out, DType: dtype}, operands)
	if !ok {
		t.Fatalf("%v is not counted", o)
	}
	return w
}

// Operations and traffic are those of textbooks.
func TestCounts(t *testing.T) {
	const n, d, m = 1000, 64, 10
	scalar := tensor.ScalarShape()
	gaussian := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 1}
	for _, c := range []struct {
		name                string
		work                cost.Work
		launches            int
		operations, traffic float64 // with 10 % for all that is smaller
	}{
		{"a Cholesky factor", count(t, op.Cholesky(), tensor.Shape{n, n}, tensor.Shape{n, n}), 3,
			n * n * n / 3, 8 * (2*n*n + n*n)},
		{"a solution", count(t, op.CholeskySolve(), tensor.Shape{n, m}, tensor.Shape{n, n}, tensor.Shape{n, m}), 3,
			2 * n * n * m, 8 * (n*n + 6*n*m)},
		{"ridge regression", count(t, op.RidgeSolve(), tensor.Shape{n, m}, tensor.Shape{n, n}, scalar, tensor.Shape{n, m}), 6,
			n*n*n/3 + 2*n*n*m + n*n*2, 8 * (4*n*n + 6*n*m)},
		{"a kernel matrix", count(t, op.Kernel(gaussian), tensor.Shape{n, n}, tensor.Shape{n, d}, tensor.Shape{n, d}), 6,
			n * n * (2*d + 20), 8 * (2*n*n + 8*n*d)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.work.Launches != c.launches {
				t.Errorf("%d launches, want %d", c.work.Launches, c.launches)
			}
			if r := c.work.Operations / c.operations; r < 0.9 || r > 1.1 {
				t.Errorf("%g operations, want %g", c.work.Operations, c.operations)
			}
			if r := c.work.Traffic / c.traffic; r < 0.9 || r > 1.2 {
				t.Errorf("%g bytes, want %g", c.work.Traffic, c.traffic)
			}
		})
	}
}

// No prediction is faster than the device's launches, its peak rate or its memory allow,
// and a larger problem is never faster than a smaller one.
func TestPredictionsKeepBounds(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		last := cost.Seconds{}
		for _, n := range []int{10, 100, 1000, 5000} {
			w := countAs(t, dtype, op.Cholesky(), tensor.Shape{n, n}, tensor.Shape{n, n})
			for i, d := range cost.Devices {
				name := fmt.Sprintf("%s %v %d", d.Name, dtype, n)
				peak := d.Product64
				if dtype == tensor.Float32 {
					peak = d.Product32
				}
				if least := w.Operations / peak; w.Seconds[i] < least {
					t.Errorf("%s: %g s, below %g of the operations", name, w.Seconds[i], least)
				}
				if least := w.Traffic / d.Memory; w.Seconds[i] < least {
					t.Errorf("%s: %g s, below %g of the traffic", name, w.Seconds[i], least)
				}
				if w.Seconds[i] < float64(w.Launches)*1e-6 || w.Seconds[i] > 10 || math.IsNaN(w.Seconds[i]) {
					t.Errorf("%s: %g s", name, w.Seconds[i])
				}
				if w.Seconds[i] < last[i] {
					t.Errorf("%s: %g s, and %g for a smaller one", name, w.Seconds[i], last[i])
				}
			}
			last = w.Seconds
		}
	}
}

// 64 solves of order 1,000 one after another take an H100 some forty milliseconds, nearly all
// of them waiting for the stages of the factor: an estimate of 37 was made by hand.
func TestSolvesOneByOne(t *testing.T) {
	k, b := tensor.Shape{1000, 1000}, tensor.Shape{1000, 10}
	w := count(t, op.RidgeSolve(), b, k, tensor.ScalarShape(), b)
	if ms := 64e3 * w.Seconds[0]; ms < 35 || ms > 50 {
		t.Errorf("%g ms", ms)
	}
}

// On a device with few units for float64 a computation shows it: a laptop's float64 is far
// slower than its float32.
func TestFloat64OfALaptop(t *testing.T) {
	shape := tensor.Shape{4000, 4000}
	double := countAs(t, tensor.Float64, op.Cholesky(), shape, shape)
	single := countAs(t, tensor.Float32, op.Cholesky(), shape, shape)
	for i, d := range cost.Devices {
		ratio := double.Seconds[i] / single.Seconds[i]
		if slow := d.Vector64 < d.Vector32/10; slow != (ratio > 5) {
			t.Errorf("%s: float64 takes %.3g times the time of float32", d.Name, ratio)
		}
	}
}

// A batch of factors in float32 is no faster than float64 allows: a laptop shows it. It computes in float64 in shared
// memory, where the panels are.
func TestFactorsInFloat32(t *testing.T) {
	const members = 64
	shape := tensor.Shape{members, 64, 64}
	o, err := op.Cholesky().Batch(shape)
	if err != nil {
		t.Fatal(err)
	}
	double, single := countAs(t, tensor.Float64, o, shape, shape), countAs(t, tensor.Float32, o, shape, shape)
	for i, d := range cost.Devices {
		least := members * 2. / 3 * 64 * 64 * 64 / d.Vector64
		if single.Seconds[i] < least || single.Seconds[i] > double.Seconds[i] {
			t.Errorf("%s: %g s, %g s in float64, whose operations take %g", d.Name, single.Seconds[i], double.Seconds[i], least)
		}
	}
}

// Every operation with a kernel is counted, and one without is not.
func TestEveryOperationIsCounted(t *testing.T) {
	cases := op.BuiltinCases()
	for _, o := range op.All() {
		cases = append(cases, o.Cases()...)
	}
	counted := 0
	for _, c := range cases {
		g := gorgonia.NewGraph()
		in := make(gorgonia.Nodes, len(c.In))
		for i, x := range c.In {
			r, k := x.Dims()
			name := fmt.Sprint("x", i)
			if x.Scalar {
				in[i] = gorgonia.NewScalar(g, tensor.Float64, gorgonia.WithName(name))
			} else {
				in[i] = gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(r, k), gorgonia.WithName(name))
			}
		}
		c.Node(in)
		for _, n := range g.AllNodes() {
			if n.Op() == nil || n.Op().Arity() == 0 {
				continue
			}
			var operands []cost.Operand
			for it := g.From(n.ID()); it.Next(); {
				child := it.Node().(*gorgonia.Node)
				operands = append(operands, cost.Operand{Shape: child.Shape(), DType: child.Dtype()})
			}
			out := cost.Operand{Shape: n.Shape(), DType: n.Dtype()}
			w, ok := cost.Of(n.Op(), out, operands)
			types := []tensor.Dtype{}
			for _, x := range append(operands, out) {
				types = append(types, x.DType)
			}
			if ok != (op.Launch(n.Op(), types...) != nil) {
				t.Errorf("%s, %v: counted %v", c.Name, n.Op(), ok)
			}
			if !ok {
				continue
			}
			counted++
			uploads := w.Launches == 0 && w.Copies == 1 && w.Up > 0
			if !uploads && (w.Launches < 1 || w.Traffic <= 0 || !(w.Seconds[0] > 0)) {
				t.Errorf("%s, %v: %+v", c.Name, n.Op(), w)
			}
		}
	}
	if counted < 300 {
		t.Errorf("only %d operations were counted", counted)
	}
	if _, ok := cost.Of(foreign{}, cost.Operand{Shape: tensor.Shape{2}, DType: tensor.Float64}, nil); ok {
		t.Error("an operation without a kernel was counted")
	}
}

// foreign is an operation that no device knows.
type foreign struct{ gorgonia.Op }

// The same solves in one batch take it about two, with some dozens of launches.
func TestSolvesInABatch(t *testing.T) {
	const members = 64
	k, b := tensor.Shape{members, 1000, 1000}, tensor.Shape{members, 1000, 10}
	lambda := tensor.Shape{members}
	o, err := op.RidgeSolve().Batch(k, lambda, b)
	if err != nil {
		t.Fatal(err)
	}
	w := count(t, o, b, k, lambda, b)
	if ms := 1e3 * w.Seconds[0]; ms < 0.5 || ms > 2.2 {
		t.Errorf("%g ms", ms)
	}
	one := count(t, op.RidgeSolve(), b[1:], k[1:], tensor.ScalarShape(), b[1:])
	if w.Launches > 72 || w.Launches < one.Launches {
		t.Errorf("%d launches, %d for one", w.Launches, one.Launches)
	}
	// Inverses of the diagonal blocks come on top.
	if r := w.Operations / (members * one.Operations); r < 0.9 || r > 1.2 {
		t.Errorf("%g operations, %d times %g", w.Operations, members, one.Operations)
	}
}
