package batch_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

func TestSizeClass(t *testing.T) {
	for n, want := range map[int]int{-3: 0, 0: 0, 1: 8, 8: 8, 9: 16, 64: 64, 65: 96, 250: 256, 256: 256, 257: 320,
		1000: 1024, 1024: 1024, 1025: 1088} {
		if got := batch.SizeClass(n); got != want {
			t.Errorf("%d is of the class %d, want %d", n, got, want)
		}
	}
	last := 0
	for n := range 5000 {
		c := batch.SizeClass(n)
		if c < n || c < last || batch.SizeClass(c) != c || n >= 1000 && float64(c) > 1.064*float64(n) {
			t.Fatalf("%d is of the class %d, after %d", n, c, last)
		}
		last = c
	}
}

// problem is a regression of n targets on points, and queries near them.
type problem struct{ x, y, z *mat.Dense }

const (
	dims    = 12 // more than distances are computed term by term for
	queries = 20
	lambda  = 0.1
)

func newProblem(n int) problem {
	rng := graphtest.Rand(uint64(n))
	p := problem{graphtest.Normal(rng, n, dims), graphtest.Normal(rng, n, dims+1), graphtest.Normal(rng, queries, dims)}
	for i := range n {
		p.y.Set(i, dims, 1) // whose solutions give the sums of memberships
	}
	return p
}

// regression is kernel ridge regression, its log-determinant and an affine hull for a batch
// of members of a size class, n rows of each of which count.
func regression(members, size int) engine.Program {
	name := fmt.Sprint("regression ", members, size)
	return engine.Program{Name: name, Key: name, Build: func(b *engine.Builder) {
		x, y, z := b.Tensor("x", members, size, dims), b.Tensor("y", members, size, dims+1), b.Tensor("z", members,
			queries, dims)
		n, shift, w := b.Tensor("n", members), b.Scalar("lambda"), b.Input("w", 1, dims)
		p := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 0.5}
		k := b.Leading(1, b.Apply(op.KernelSymmetric(p), x), n)
		solutions := b.RidgeSolve(k, shift, y)
		b.Output("solutions", solutions)
		b.Output("logdet", b.LogDet(k))
		b.Output("hull", b.AffineHull(z, b.Tensor("points", members, size, dims), w, solutions))
	}}
}

// run computes the problems in one batch of a class.
func run(t *testing.T, e *engine.Engine, dtype tensor.Dtype, size int, all ...problem) engine.Values {
	t.Helper()
	var x, y, z, points []*mat.Dense
	var n []int
	for _, p := range all {
		rows, _ := p.x.Dims()
		x, y, z, n = append(x, p.x), append(y, p.y), append(z, p.z), append(n, rows)
		padded := mat.NewDense(size, dims, slices.Repeat([]float64{op.Far}, size*dims))
		padded.Slice(0, rows, 0, dims).(*mat.Dense).Copy(p.x)
		points = append(points, padded)
	}
	in := engine.Values{"lambda": engine.NewScalar(dtype, lambda)}
	var err error
	matrices := func(name string, rows, cols int, members []*mat.Dense) {
		if err == nil {
			in[name], err = batch.Matrices(dtype, rows, cols, members)
		}
	}
	matrices("x", size, dims, x)
	matrices("points", size, dims, points)
	matrices("y", size, dims+1, y)
	matrices("z", queries, dims, z)
	if err == nil {
		in["n"], err = batch.Scalars(dtype, n)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, dims)
	for i := range w {
		w[i] = 1
	}
	in["w"] = engine.NewMatrix(dtype, mat.NewDense(1, dims, w))
	out, err := e.Run(context.Background(), regression(len(all), size), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// floats are the elements of the first member of an output.
func floats(t *testing.T, out engine.Values, name string) []float64 {
	t.Helper()
	all, err := engine.Floats(out[name])
	if err != nil {
		t.Fatal(err)
	}
	return all[:len(all)/out[name].Shape()[0]]
}

func bits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// A member has the same bits alone, in a batch, and with larger ones of its class.
func TestBitsDoNotDependOnTheBatch(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		t.Run(dtype.String(), func(t *testing.T) {
			e := graphtest.Engine(t, dtype.String(), 3)
			small, middle, full := newProblem(67), newProblem(80), newProblem(96)
			size := batch.SizeClass(67)
			alone := run(t, e, dtype, size, small)
			for name, out := range map[string]engine.Values{
				"in a batch":      run(t, e, dtype, size, small, small, middle),
				"beside larger":   run(t, e, dtype, size, small, full, full, full, middle),
				"on many workers": run(t, e, dtype, size, small, middle),
			} {
				for _, output := range []string{"solutions", "logdet", "hull"} {
					if !slices.EqualFunc(floats(t, out, output), floats(t, alone, output), bits) {
						t.Errorf("%s: %s has other bits than alone", name, output)
					}
				}
			}
		})
	}
}

// Padding contributes nothing: the results are those of the problem without it, and
// solutions are exactly zero in its rows.
func TestPaddingIsExact(t *testing.T) {
	const n = 67
	for dtype, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-11, tensor.Float32: 1e-3} {
		t.Run(dtype.String(), func(t *testing.T) {
			e := graphtest.Engine(t, dtype.String(), 1)
			p := newProblem(n)
			size := batch.SizeClass(n)
			padded, plain := run(t, e, dtype, size, p, newProblem(size)), run(t, e, dtype, n, p)
			solutions := floats(t, padded, "solutions")
			if at := slices.IndexFunc(solutions[n*(dims+1):], func(v float64) bool { return v != 0 }); at >= 0 {
				t.Errorf("the solutions of the padding begin with zeros, and element %d is %g", at,
					solutions[n*(dims+1)+at])
			}
			for name, got := range map[string][]float64{"solutions": solutions[:n*(dims+1)],
				"logdet": floats(t, padded, "logdet"), "hull": floats(t, padded, "hull")} {
				want := floats(t, plain, name)
				for i, v := range want {
					if !(math.Abs(got[i]-v) <= tolerance*(1+math.Abs(v))) {
						t.Fatalf("%s: element %d is %g, want %g", name, i, got[i], v)
					}
				}
			}
		})
	}
}

// Kernel values of far points are exactly zero, for queries far from all samples, too.
func TestFarPointsContributeNothing(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		for _, distance := range []float64{0, 1e6} {
			x := mat.NewDense(4, 2, []float64{1, 2, 3, -1, op.Far, op.Far, op.Far, op.Far})
			b := mat.NewDense(4, 3, []float64{1, 2, 1, 3, 4, 1, 1e30, -1e30, 1e20, 1e30, 1e30, 1e20})
			z := mat.NewDense(2, 2, []float64{distance, 1, 2, distance})
			w := mat.NewDense(1, 2, []float64{1, 1})
			value := func(m mat.Matrix) *tensor.Dense {
				return engine.NewMatrix(dtype, mat.DenseCopyOf(m)).(*tensor.Dense)
			}
			got, err := op.AffineHull().Do(value(z), value(x), value(w), value(b))
			if err != nil {
				t.Fatal(err)
			}
			// The solutions of padding are not zero here, so that their norm makes sums unsafe.
			for i, v := range must(t, got) {
				if !math.IsNaN(v) {
					t.Errorf("element %d is %g: large solutions of padding count in the norm", i, v)
				}
			}
			for i := 2; i < 4; i++ {
				b.SetRow(i, []float64{5, 6, 0.5})
			}
			got, err = op.AffineHull().Do(value(z), value(x), value(w), value(b))
			if err != nil {
				t.Fatal(err)
			}
			want, err := op.AffineHull().Do(value(z), value(x.Slice(0, 2, 0, 2)), value(w), value(b.Slice(0, 2, 0, 3)))
			if err != nil {
				t.Fatal(err)
			}
			if g, w := must(t, got), must(t, want); !slices.EqualFunc(g, w, func(a, b float64) bool {
				return math.Abs(a-b) <= 1e-6*math.Abs(b)
			}) {
				t.Errorf("%v at %g: %v, want %v", dtype, distance, g, w)
			}
		}
	}
}

func must(t *testing.T, v interface{ Data() any }) []float64 {
	t.Helper()
	f, err := engine.Floats(v.(*tensor.Dense))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestStacking(t *testing.T) {
	a, b := mat.NewDense(1, 1, []float64{3}), mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	want := []float64{3, 0, 0, 0, 0, 0, 1, 2, 0, 3, 4, 0}
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		got, err := batch.Matrices(dtype, 2, 3, []*mat.Dense{a, b})
		if err != nil {
			t.Fatal(err)
		}
		if f := must(t, got); !slices.Equal(f, want) || got.Dtype() != dtype || got.Shape()[0] != 2 {
			t.Errorf("%v of shape %v, want %v", f, got.Shape(), want)
		}
	}
	// Rows of a view are taken by their stride.
	view, err := batch.Matrices(tensor.Float64, 2, 1, []*mat.Dense{b.Slice(0, 2, 1, 2).(*mat.Dense)})
	if err != nil || !slices.Equal(must(t, view), []float64{2, 4}) {
		t.Errorf("%v, %v", view, err)
	}
	got, err := batch.Member(tensorOf(2, 2, 2), 1, 2, 1)
	if err != nil || got.At(0, 0) != 4 || got.At(1, 0) != 6 {
		t.Errorf("%v, %v", got, err)
	}
}

// tensorOf has the elements 0, 1, 2, ….
func tensorOf(shape ...int) *tensor.Dense {
	data := make([]float64, tensor.Shape(shape).TotalSize())
	for i := range data {
		data[i] = float64(i)
	}
	return engine.TensorOf(data, shape...)
}

// Batches that cannot be made are errors with the number of the member and the shapes.
func TestWrongMembers(t *testing.T) {
	two, three := mat.NewDense(2, 3, nil), mat.NewDense(3, 3, nil)
	_, none := batch.Matrices(tensor.Float64, 2, 2, nil)
	_, noNumbers := batch.Scalars(tensor.Float64, []int(nil))
	_, large := batch.Matrices(tensor.Float64, 2, 3, []*mat.Dense{two, three})
	_, member := batch.Member(tensorOf(2, 2, 2), 2, 1, 1)
	for _, c := range []struct {
		err  error
		want string
	}{{none, "no members"}, {noNumbers, "no members"}, {large, "member 1 of 2 is 3×3, and the batch has 2×3"},
		{member, "member 2 with 1×1 elements"}} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}
