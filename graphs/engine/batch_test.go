package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// batched are the solutions of ridge regressions for three matrices, by their Cholesky
// factors; the matrices are also factored without the shift.
func batched() Program {
	const n = 3
	return Program{Name: "batched", Key: "batched", Build: func(b *Builder) {
		k, rhs := b.Tensor("k", n, 2, 2), b.Input("rhs", 2, 1)
		l := b.CholeskyShifted(k, b.Tensor("shift", n))
		b.Output("x", b.CholeskySolve(l, rhs))
		b.Output("logdet", b.CholeskyLogDet(l))
		b.Output("again", b.Cholesky(k))
	}}
}

// batchedInputs returns (2+i)·I for three members with the shift 0; member 1 is the given matrix.
func batchedInputs(member ...float64) Values {
	const n = 3
	k := []float64{2, 0, 0, 2, 3, 0, 0, 3, 4, 0, 0, 4}
	copy(k[4:], member)
	return Values{"k": TensorOf(k, n, 2, 2), "rhs": TensorOf([]float64{2, 4}, 2, 1),
		"shift": TensorOf(make([]float64, n), n)}
}

// checkBatched compares with values worked out by hand: NaN in member 1, the others with
// x = rhs/(2+i) and log|A| = 2 log(2+i).
func checkBatched(t *testing.T, out Values, err error) {
	t.Helper()
	var failed *op.MembersError
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if len(failed.Failed) != 1 || failed.Members != 3 || failed.Failed[0].Member != 1 ||
		!strings.Contains(err.Error(), "batched: member 1 of 3: CholeskyShifted: ") {
		t.Errorf("%v", err)
	}
	x, logdet := Data(out["x"]).([]float64), Data(out["logdet"]).([]float64)
	nan := math.NaN()
	same := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 || a != a && b != b }
	if want := []float64{1, 2, nan, nan, 0.5, 1}; !slices.EqualFunc(x, want, same) {
		t.Errorf("solutions %v, want %v", x, want)
	}
	if want := []float64{2 * math.Log(2), nan, 2 * math.Log(4)}; !slices.EqualFunc(logdet, want, same) {
		t.Errorf("log-determinants %v, want %v", logdet, want)
	}
	if !out["x"].Shape().Eq(tensor.Shape{3, 2, 1}) || !out["logdet"].Shape().Eq(tensor.Shape{3}) {
		t.Errorf("shapes %v and %v", out["x"].Shape(), out["logdet"].Shape())
	}
}

// A member that fails is NaN, the run goes on for the others, and the error names the first
// operation that failed for it.
func TestRunGoesOnForTheOtherMembers(t *testing.T) {
	for name, d := range map[string]Device{
		"one worker":    newHostDevice(nil, new(spares)),
		"three workers": newHostDevice(parallel.NewPool(3), new(spares)),
	} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, batched(), d, nil)
			for _, member := range [][]float64{{1, 2, 2, 4}, {1, 2, 2, 1}, {math.NaN(), 0, 0, 1}} {
				out, err := x.Run(context.Background(), batchedInputs(member...))
				checkBatched(t, out, err)
			}
			if out, err := x.Run(context.Background(), batchedInputs()); err != nil || len(out) != 3 {
				t.Errorf("a run after one with failures: %v", err)
			}
		})
	}
}

// On a device without the kernels the host computes the batch, with the same failure.
func TestMembersFailInAFallback(t *testing.T) {
	d := newFake(t)
	d.hasKernel = func(string) bool { return false }
	x := newExecutor(t, batched(), d, nil)
	out, err := x.Run(context.Background(), batchedInputs(1, 2, 2, 4))
	checkBatched(t, out, err)
	if n := d.live(); n != 0 {
		t.Errorf("%d buffers are left", n)
	}
}

// An error of another kind, such as of the end of the context, comes without outputs, also
// after the failure of a member.
func TestCancelledInABatch(t *testing.T) {
	x := newExecutor(t, batched(), newHostDevice(nil, new(spares)), nil)
	// The executor asks before each unit and each step, the operation before each member.
	for left := range 8 {
		ctx := &endsAfter{Context: context.Background()}
		ctx.left.Store(int32(left))
		out, err := x.Run(ctx, batchedInputs(1, 2, 2, 4))
		if !errors.Is(err, context.Canceled) || out != nil {
			t.Errorf("after %d questions: %v, %v", left, out, err)
		}
	}
	out, err := x.Run(context.Background(), batchedInputs(1, 2, 2, 4))
	checkBatched(t, out, err)
}

// Wrong batches are errors of the graph, with the shapes.
func TestBuildRefusesWrongBatches(t *testing.T) {
	_, err := Build(Program{Name: "wrong", Build: func(b *Builder) {
		b.Output("x", b.Solve(b.Tensor("a", 4, 3, 3), b.Tensor("b", 5, 3, 1)))
	}}, tensor.Float64)
	if err == nil || !strings.Contains(err.Error(), "input 2 has shape (5, 3, 1), input 0 shape (4, 3, 3)") {
		t.Errorf("%v", err)
	}
}
