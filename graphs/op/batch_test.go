package op_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// scaled are the operands of member i of a batch: those of a case times 1, 1.25, 1.5, …,
// which leaves them definite, triangular, positive; the shared one as it is.
func scaled(in []op.Operand, i, shared int) []op.Operand {
	out := make([]op.Operand, len(in))
	for j, a := range in {
		out[j] = op.Operand{Dense: mat.DenseCopyOf(a), Scalar: a.Scalar}
		if j != shared {
			out[j].Scale(1+float64(i)/4, out[j].Dense)
		}
	}
	return out
}

// batchOf are the operands of a batch of n members of a case.
func batchOf(dtype tensor.Dtype, in []op.Operand, n, shared int) []gorgonia.Value {
	all := make([]gorgonia.Value, len(in))
	for j, a := range in {
		if j == shared {
			all[j] = values(dtype, in[j:j+1])[0]
			continue
		}
		var elements []float64
		for i := range n {
			elements = append(elements, scaled(in, i, shared)[j].RawMatrix().Data...)
		}
		rows, cols := a.Dims()
		shape := []int{n, rows, cols}
		if a.Scalar {
			shape = shape[:1]
		}
		all[j] = tensorOf(dtype, elements, shape...)
	}
	return all
}

func tensorOf(dtype tensor.Dtype, elements []float64, shape ...int) *tensor.Dense {
	if dtype == tensor.Float64 {
		return engine.TensorOf(slices.Clone(elements), shape...)
	}
	single := make([]float32, len(elements))
	for i, v := range elements {
		single[i] = float32(v)
	}
	return engine.TensorOf(single, shape...)
}

// form is the operation for operands.
func form(t *testing.T, o op.Op, in []gorgonia.Value) op.Op {
	t.Helper()
	shapes := make([]tensor.Shape, len(in))
	for i, v := range in {
		shapes[i] = v.Shape()
	}
	o, err := o.Batch(shapes...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// floatsOf are the elements of a value.
func floatsOf(t *testing.T, v gorgonia.Value) []float64 {
	t.Helper()
	f, err := engine.Floats(v)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sameBits compares numbers bit for bit.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

// A member of a batch has the bits that it has alone, for any number of workers and any shared
// operand.
func TestMembersHaveTheBitsOfOne(t *testing.T) {
	const members = 3
	for _, c := range direct() {
		t.Run(c.Name, func(t *testing.T) {
			dtype := tensor.Float64
			if strings.Contains(c.Name, "derivative") {
				dtype = tensor.Float32
			}
			for shared := -1; shared < len(c.In) && (shared < 0 || len(c.In) > 1); shared++ {
				in := batchOf(dtype, c.In, members, shared)
				o := form(t, c.Op, in)
				got, err := o.Compute(parallel.NewPool(1+2*((shared+1)%2)), nil, in...)
				if err != nil {
					t.Fatal(err)
				}
				all := floatsOf(t, got)
				for i := range members {
					alone, err := c.Op.Do(values(dtype, scaled(c.In, i, shared))...)
					if err != nil {
						t.Fatal(err)
					}
					want := floatsOf(t, alone)
					if !sameBits(all[i*len(want):(i+1)*len(want)], want) {
						t.Errorf("member %d differs where operand %d is shared", i, shared)
					}
					if i == 0 && !slices.Equal(got.Shape(), append(tensor.Shape{members}, alone.Shape()...)) {
						t.Errorf("the batch is %v, a member %v", got.Shape(), alone.Shape())
					}
				}
			}
		})
	}
}

// Leading dimensions may be several, and members may be single numbers.
func TestSeveralLeadingDimensions(t *testing.T) {
	a := tensorOf(tensor.Float32, []float64{4, 9, 16, 25, 36, 49}, 2, 3, 1, 1)
	shift := tensorOf(tensor.Float32, []float64{0, 0, 0, 11, 0, 15}, 2, 3)
	in := []gorgonia.Value{a, shift}
	got, err := form(t, op.CholeskyShifted(), in).Do(in...)
	if err != nil {
		t.Fatal(err)
	}
	want, shape := []float64{2, 3, 4, 6, 6, 8}, tensor.Shape{2, 3, 1, 1}
	if !slices.Equal(floatsOf(t, got), want) || !got.Shape().Eq(shape) {
		t.Errorf("%v of shape %v, want %v", floatsOf(t, got), got.Shape(), want)
	}
}

// three returns three matrices of order n; member 1 is the given matrix.
func three(rng int, n int, second *mat.Dense) *tensor.Dense {
	r := graphtest.Rand(uint64(rng))
	var all []float64
	for i := range 3 {
		a := graphtest.Definite(r, n)
		if i == 1 && second != nil {
			a = second
		}
		all = append(all, a.RawMatrix().Data...)
	}
	return engine.TensorOf(all, 3, n, n)
}

// Of a batch with a member that has no factor the others stand, on workers and without.
func TestOneMemberFails(t *testing.T) {
	const n = 50
	singular, nan := mat.NewDense(n, n, nil), identity(n)
	nan.Set(3, 3, math.NaN())
	for name, second := range map[string]*mat.Dense{"singular": singular, "NaN": nan} {
		o := op.Cholesky()
		in, good := three(1, n, second), three(1, n, nil)
		got, err := form(t, o, []gorgonia.Value{in}).Compute(parallel.NewPool(3), nil, in)
		var failed *op.MembersError
		var notPD *op.NotPositiveDefiniteError
		if !errors.As(err, &failed) || !errors.As(err, &notPD) {
			t.Fatalf("%v of a %s member: %v", o, name, err)
		}
		if failed.Members != 3 || len(failed.Failed) != 1 || failed.Failed[0].Member != 1 ||
			!strings.HasPrefix(err.Error(), "member 1 of 3: "+o.Name()+": ") {
			t.Errorf("%v of a %s member: %v", o, name, err)
		}
		want, err := form(t, o, []gorgonia.Value{good}).Do(good)
		if err != nil {
			t.Fatal(err)
		}
		g, w := floatsOf(t, got), floatsOf(t, want)
		each := len(g) / 3
		if !sameBits(g[:each], w[:each]) || !sameBits(g[2*each:], w[2*each:]) {
			t.Errorf("%v: a %s member changed the others", o, name)
		}
		if slices.ContainsFunc(g[each:2*each], func(v float64) bool { return !math.IsNaN(v) }) {
			t.Errorf("%v: the %s member is not NaN", o, name)
		}
	}
}

// NaN in one member has no part in the others.
func TestNaNStaysInItsMember(t *testing.T) {
	for _, c := range direct() {
		if len(c.In) < 1 || c.In[0].Scalar {
			continue
		}
		in := batchOf(tensor.Float64, c.In, 3, -1)
		o := form(t, c.Op, in)
		want, err := o.Do(in...)
		if err != nil {
			t.Fatal(err)
		}
		first := engine.Data(in[0]).([]float64)
		first[len(first)/3] = math.NaN() // the first element of member 1
		got, err := o.Do(in...)
		if failed := (*op.MembersError)(nil); err != nil && !errors.As(err, &failed) {
			t.Fatalf("%s: %v", c.Name, err)
		}
		g, w := floatsOf(t, got), floatsOf(t, want)
		each := len(g) / 3
		if !sameBits(g[:each], w[:each]) || !sameBits(g[2*each:], w[2*each:]) {
			t.Errorf("%s: NaN in one member changed others", c.Name)
		}
	}
}

// A batch of none, and operands whose leading dimensions differ, are errors that name the
// operand and the shapes.
func TestWrongBatches(t *testing.T) {
	shape := func(s ...int) tensor.Shape { return s }
	for name, c := range map[string]struct {
		op   op.Op
		in   []tensor.Shape
		want string
	}{
		"none": {op.Cholesky(), []tensor.Shape{shape(0, 3, 3)}, "input 0 has shape (0, 3, 3): a batch of no members"},
		"unequal": {op.CholeskySolve(), []tensor.Shape{shape(4, 3, 3), shape(5, 3, 1)},
			"input 1 has shape (5, 3, 1), input 0 shape (4, 3, 3): their leading dimensions differ"},
		"rank": {op.CholeskySolve(), []tensor.Shape{shape(2, 4, 3, 3), shape(4, 3, 1)},
			"input 1 has shape (4, 3, 1), want 2 dimensions, or 4 in the batch of input 0, which has shape (2, 4, 3, 3)"},
		"first": {op.RidgeSolve(), []tensor.Shape{shape(3, 3), shape(4), shape(5, 3, 1)},
			"input 2 has shape (5, 3, 1), input 1 shape (4): their leading dimensions differ"},
		"members": {op.CholeskySolve(), []tensor.Shape{shape(4, 3, 3), shape(4, 2, 1)}, "numbers of rows differ"},
		"number":  {op.CholeskySolve(), []tensor.Shape{shape(4, 3, 3)}, "1 inputs, want 2"},
		"vector": {op.CholeskySolve(), []tensor.Shape{shape(4, 3, 3), shape(3)},
			"want 2 dimensions, or 3 in the batch of input 0"},
	} {
		if _, err := c.op.Batch(c.in...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A vector with a batch is a column that all members share.
func TestVectorWithABatch(t *testing.T) {
	g := gorgonia.NewGraph()
	a := gorgonia.NewTensor(g, tensor.Float64, 3, gorgonia.WithShape(4, 3, 3), gorgonia.WithName("a"))
	b := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(3), gorgonia.WithName("b"))
	x, err := op.CholeskySolve().Apply(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if !x.Shape().Eq(tensor.Shape{4, 3, 1}) {
		t.Errorf("the solutions are %v", x.Shape())
	}
}

// gorgonia merges operations of one hash: the rank of a batch and the shared operands are part
// of it.
func TestBatchesAreHashed(t *testing.T) {
	m := func(lead ...int) tensor.Shape { return append(lead, 3, 3) }
	seen := map[uint32]string{}
	for _, in := range [][]tensor.Shape{{m(), m()}, {m(2), m()}, {m(), m(2)}, {m(2), m(2)}, {m(2, 2), m(2, 2)}} {
		o, err := op.CholeskySolve().Batch(in...)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[o.Hashcode()]; ok {
			t.Errorf("%v and %s have one hash", o, other)
		}
		seen[o.Hashcode()] = o.String()
		if o.Name() != "CholeskySolve" {
			t.Errorf("%v has the name %s", o, o.Name())
		}
	}
	solve := op.CholeskySolve()
	two, _ := solve.Batch(m(2), m(2))
	five, _ := solve.Batch(m(5), m(5))
	if two.Hashcode() != five.Hashcode() || two != five {
		t.Error("the form of an operation depends on the size of the batch")
	}
}

// The context is asked for once a member.
func TestCancelledBetweenMembers(t *testing.T) {
	in := three(1, 4, nil)
	ctx := &countdown{Context: t.Context(), left: 2}
	v, err := form(t, op.Cholesky(), []gorgonia.Value{in}).Compute((*parallel.Pool)(nil).Within(ctx), nil, in)
	if !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// countdown is a context that ends when it has been asked for some times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestFailuresOfSeveralOperations(t *testing.T) {
	var f op.Failures
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	other := errors.New("other")
	if err := f.Keep(other); !errors.Is(err, other) {
		t.Errorf("%v was kept", err)
	}
	of := func(members int, text string, numbers ...int) error {
		e := &op.MembersError{Members: members}
		for _, n := range numbers {
			e.Failed = append(e.Failed, op.MemberError{Member: n, Err: errors.New(text)})
		}
		return e
	}
	for _, e := range []error{of(9, "first", 2, 5), of(9, "second", 1, 5, 8), nil} {
		if err := f.Keep(e); err != nil {
			t.Fatal(err)
		}
	}
	const want = "member 1 of 9: second; member 2 of 9: first; member 5 of 9: first; member 8 of 9: second"
	if got := fmt.Sprint(f.Err()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := f.Keep(of(4, "small", 0)); err != nil || !strings.Contains(f.Err().Error(), "member 0 of 4: small") {
		t.Errorf("%v, %v", err, f.Err())
	}
	var again op.Failures // of a run that has these
	if err := again.Keep(f.Err()); err != nil || again.Err().Error() != f.Err().Error() || !again.Known(4, 0) ||
		!again.Known(9, 5) || again.Known(4, 1) || again.Known(9, 0) || again.Known(7, 0) {
		t.Errorf("%v, %v", err, again.Err())
	}
	if got := of(9, "x", 0, 1, 2, 3, 4, 5).Error(); !strings.HasSuffix(got, "member 3 of 9: x; and 2 more") {
		t.Error(got)
	}
}
