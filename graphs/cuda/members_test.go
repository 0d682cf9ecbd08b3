//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// batchedProgram computes "out" of a case for members whose operands have leading
// dimensions, but the shared one; −1 stands for none.
func batchedProgram(c op.Case, members, shared int) engine.Program {
	name := fmt.Sprintf("%s, %d members, shared %d", c.Name, members, shared)
	return engine.Program{Name: name, Key: "test " + name, Build: func(b *engine.Builder) {
		nodes := make(gorgonia.Nodes, len(c.In))
		for i, o := range c.In {
			var shape []int
			if i != shared {
				shape = append(shape, members)
			}
			if rows, cols := o.Dims(); !o.Scalar {
				shape = append(shape, rows, cols)
			}
			nodes[i] = b.Tensor(fmt.Sprint("in", i), shape...)
		}
		b.Output("out", c.Node(nodes))
	}}
}

// batchedInputs are the case's operands times 1, 1.25, 1.5, … for the members.
func batchedInputs(t *testing.T, e *engine.Engine, c op.Case, members, shared int) engine.Values {
	t.Helper()
	v, dtype := engine.Values{}, tensor.Float64
	if e.DType() == "float32" {
		dtype = tensor.Float32
	}
	for i, o := range c.In {
		name := fmt.Sprint("in", i)
		var all []*mat.Dense
		var numbers []float64
		for j := range members {
			a := mat.DenseCopyOf(o)
			a.Scale(1+float64(j)/4, a)
			all, numbers = append(all, a), append(numbers, a.At(0, 0))
		}
		var err error
		rows, cols := o.Dims()
		switch {
		case i == shared && o.Scalar:
			v[name] = e.Scalar(o.At(0, 0))
		case i == shared:
			v[name] = e.Matrix(o.Dense)
		case o.Scalar:
			v[name], err = batch.Scalars(dtype, numbers)
		default:
			v[name], err = batch.Matrices(dtype, rows, cols, all)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// Every operation gives the host's numbers for batches with any shared operand.
func TestBatchesLikeTheHost(t *testing.T) {
	const members = 3
	for dtype, tolerance := range map[string]float64{"float64": 1e-12, "float32": 1e-5} {
		t.Run(dtype, func(t *testing.T) {
			host, device := engines(t, dtype)
			for _, o := range op.All() {
				for i, c := range o.Cases() {
					if dtype == "float32" && (c.Double || c.Graph != nil) {
						continue
					}
					last := len(c.In)
					if last == 1 || i > 0 || dtype == "float32" {
						last = 0
					}
					for shared := -1; shared < last; shared++ {
						p := batchedProgram(c, members, shared)
						t.Run(p.Name, func(t *testing.T) {
							want, err := host.Run(context.Background(), p, batchedInputs(t, host, c, members, shared))
							if err != nil {
								t.Fatal(err)
							}
							got, err := device.Run(context.Background(), p, batchedInputs(t, device, c, members, shared))
							if err != nil {
								t.Fatal(err)
							}
							near(t, "out", got["out"], want["out"], tolerance*max(1, 4*c.Condition))
						})
					}
				}
			}
			if w := device.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}

// One launch computes all members, however many there are, and each has the bits that it
// has in a batch of one.
func TestLaunchesDoNotGrowWithTheBatch(t *testing.T) {
	_, e := engines(t, "float64")
	for _, o := range []op.Op{op.Solve(), op.RidgeSolve(), op.LeadingEigen(3, 5), op.Eigen(), op.LargestEigen(4),
		op.ColumnNorms()} {
		c := o.Cases()[0]
		launches, first := 0, []float64(nil)
		for _, members := range []int{1, 2, 9} {
			p, in := batchedProgram(c, members, -1), batchedInputs(t, e, c, members, -1)
			n := counting(t)
			out, err := e.Run(context.Background(), p, in)
			if err != nil {
				t.Fatal(err)
			}
			each := numbers(t, out["out"])
			each = each[:len(each)/members]
			if launches == 0 {
				launches, first = n.launches, each
			}
			if n.launches != launches || launches == 0 {
				t.Errorf("%s: %d launches for %d members, %d for one", c.Name, n.launches, members, launches)
			}
			if !slices.Equal(each, first) {
				t.Errorf("%s: member 0 of %d differs from the only one", c.Name, members)
			}
		}
	}
}

// definite are members of order n, of which some are replaced by matrices with a pivot of
// −1 or NaN in the given row.
func definite(n, members, row int, bad map[int]float64) *tensor.Dense {
	data := make([]float64, members*n*n)
	for i := range members {
		for j := range n {
			data[(i*n+j)*n+j] = 2 + float64(i)
			if j > 0 {
				data[(i*n+j)*n+j-1], data[(i*n+j-1)*n+j] = 0.5, 0.5
			}
		}
		if v, ok := bad[i]; ok {
			data[(i*n+row)*n+row] = v
		}
	}
	return engine.TensorOf(data, members, n, n)
}

// Members that fail are NaN, the others are the host's, and the errors are as well; in
// every block of a factor, for more members than there is room for single failures, and for
// operations that are queued for one member after the other.
func TestMembersThatFail(t *testing.T) {
	host, device := engines(t, "float64")
	for _, c := range []struct {
		n, members, row int
		bad             map[int]float64
	}{
		{5, 3, 2, map[int]float64{1: -1}},
		{150, 3, 149, map[int]float64{0: -1, 2: math.NaN()}},
		{150, 3, 70, map[int]float64{1: math.NaN()}},
		{2, maxInfos + 50, 1, map[int]float64{0: -1, 100: -2, maxInfos + 49: -3}},
	} {
		p := engine.Program{Name: "factors", Key: fmt.Sprint("factors", c.n, c.members), Build: func(b *engine.Builder) {
			a := b.Tensor("a", c.members, c.n, c.n)
			l := b.Cholesky(a)
			b.Output("logdet", b.CholeskyLogDet(l))
			b.Output("inverse", b.Inverse(a))
			b.Output("again", b.Cholesky(b.RowGram(1, l))) // of NaN
			b.Output("eigen", b.Eigenvalues(b.Eigen(a)))
		}}
		in := engine.Values{"a": definite(c.n, c.members, c.row, c.bad)}
		want, expected := host.Run(context.Background(), p, in)
		got, err := device.Run(context.Background(), p, in)
		var failed *op.MembersError
		if !errors.As(err, &failed) || expected == nil || err.Error() != expected.Error() {
			t.Fatalf("order %d: %v, want %v", c.n, err, expected)
		}
		if len(failed.Failed) != len(c.bad) || failed.Members != c.members {
			t.Errorf("order %d: %v", c.n, err)
		}
		for name := range want {
			near(t, name, got[name], want[name], 1e-11)
		}
		again, err := device.Run(context.Background(), p, engine.Values{"a": definite(c.n, c.members, 0, nil)})
		if err != nil || len(again) != len(want) {
			t.Errorf("a run after one with failures: %v", err)
		}
	}
}

// A failure of one operation for all is the error of the run, not that of members before.
func TestMembersBesideAFailure(t *testing.T) {
	_, e := engines(t, "float64")
	p := engine.Program{Name: "both", Key: "both", Build: func(b *engine.Builder) {
		b.Output("members", b.Cholesky(b.Tensor("a", 3, 2, 2)))
		b.Output("one", b.Cholesky(b.Input("b", 2, 2)))
	}}
	out, err := e.Run(context.Background(), p, engine.Values{"a": definite(2, 3, 1, map[int]float64{1: -1}),
		"b": e.Matrix(mat.NewDense(2, 2, nil))})
	var members *op.MembersError
	var notPD *op.NotPositiveDefiniteError
	if out != nil || errors.As(err, &members) || !errors.As(err, &notPD) {
		t.Errorf("%v, %v", out, err)
	}
}

// A batch for which there is too little memory is refused as a whole, and half of it runs
// afterwards. It needs a device of 192 MiB, as TestLittleMemory.
func TestLittleMemoryForABatch(t *testing.T) {
	if os.Getenv("PRIVKERN_TEST_LITTLE_MEMORY") == "" {
		t.Skip("PRIVKERN_TEST_LITTLE_MEMORY is not set")
	}
	_, e := engines(t, "float64")
	const n, members = 256, 256 // 128 MiB, and as much for the factors
	run := func(members int) error {
		p := engine.Program{Name: "half", Key: fmt.Sprint("half ", members), Build: func(b *engine.Builder) {
			b.Output("out", b.LogDet(b.Tensor("a", members, n, n)))
		}}
		out, err := e.Run(context.Background(), p, engine.Values{"a": definite(n, members, 0, nil)})
		if err != nil && out != nil {
			t.Errorf("outputs with %v", err)
		}
		return err
	}
	if err := run(members); !errors.Is(err, engine.ErrOutOfDeviceMemory) {
		t.Errorf("got %v", err)
	}
	if err := run(members / 2); err != nil {
		t.Error(err)
	}
}

// Triangular solutions of batches are the host's from either side, with the factor and its
// transpose, at orders within one block of inverses and beyond, and for one column.
func TestTriangularMembers(t *testing.T) {
	for dtype, tolerance := range map[string]float64{"float64": 1e-12, "float32": 1e-4} {
		host, device := engines(t, dtype)
		for _, n := range []int{1, 63, 65, 130, 257, 330} {
			const members, columns = 2, 9
			p := engine.Program{Name: "solutions", Key: fmt.Sprint("solutions ", n), Build: func(b *engine.Builder) {
				a, rhs := b.Tensor("a", members, n, n), b.Tensor("b", members, n, columns)
				l := b.Cholesky(a)
				b.Output("factor", l)
				b.Output("forward", b.TriangularSolve(l, rhs))
				b.Output("both", b.CholeskySolve(l, rhs))
				b.Output("one", b.CholeskySolve(l, b.Tensor("c", members, n, 1)))
				b.Output("right", b.RidgeGramNorm(a, b.Tensor("lambda", members), a))
			}}
			rng := rand.New(rand.NewPCG(uint64(n), 2))
			var all, sides, ones []*mat.Dense
			for range members {
				x := mat.NewDense(n, n+2, values(n*(n+2), func(int) float64 { return rng.NormFloat64() }))
				a := mat.NewDense(n, n, nil)
				a.Mul(x, x.T())
				for i := range n {
					a.Set(i, i, a.At(i, i)+float64(n))
				}
				side := mat.NewDense(n, columns, values(n*columns, func(int) float64 { return rng.NormFloat64() }))
				all, sides, ones = append(all, a), append(sides, side), append(ones, mat.DenseCopyOf(side.ColView(0)))
			}
			in := engine.Values{}
			element := host.ElementType()
			for name, v := range map[string][]*mat.Dense{"a": all, "b": sides, "c": ones} {
				rows, cols := v[0].Dims()
				var err error
				if in[name], err = batch.Matrices(element, rows, cols, v); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if in["lambda"], err = batch.Scalars(element, []float64{1, 2}); err != nil {
				t.Fatal(err)
			}
			want, err := host.Run(context.Background(), p, in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := device.Run(context.Background(), p, in)
			if err != nil {
				t.Fatal(err)
			}
			for name := range want {
				near(t, fmt.Sprintf("%s, order %d, %s", dtype, n, name), got[name], want[name], tolerance*float64(n))
			}
		}
	}
}
