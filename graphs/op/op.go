// Package op holds the operations that gorgonia lacks: pairwise distances,
// kernel matrices, Cholesky factors and what is solved with them, symmetric
// eigen-decompositions, row normalisation.
//
// Every operation has shape inference, a CPU kernel for float64 and float32,
// a symbolic derivative where it is differentiable, and a name that carries
// all its parameters (gorgonia merges nodes whose hashes agree). A panic inside
// an operation comes back as an error. Operations never write to their inputs.
//
// Matrices are row-major; points are rows.
package op

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"runtime"
	"strings"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

// Op is one of this package's operations.
type Op struct{ def *definition }

// definition is what sets one operation apart from another. Everything that
// gorgonia wants beside it is derived by Op's methods.
type definition struct {
	name string // with every parameter: it is what gets hashed
	// params are the parameters themselves, for devices: see Op.Params.
	params any
	in     []int // number of dimensions of each input
	out    int   // number of dimensions of the output; 0 is a scalar
	shape  func(in []tensor.Shape) (tensor.Shape, error)
	// One kernel for each precision; they are instances of one generic
	// function.
	run64 func(call[float64]) error
	run32 func(call[float32]) error
	// diff says which inputs sym differentiates by; nil for none.
	diff []bool
	sym  func(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error)
}

// call is what a kernel works on.
type call[T cpublas.Float] struct {
	pool *parallel.Pool
	in   []matrix[T]
	out  matrix[T]
}

// matrix is a contiguous row-major matrix. A scalar is 1×1.
type matrix[T cpublas.Float] struct {
	rows, cols int
	data       []T
}

func (m matrix[T]) row(i int) []T { return m.data[i*m.cols : (i+1)*m.cols] }

// kernels sets both precisions of a definition. Go cannot pass a generic
// function uninstantiated, so both instances are named.
func (d *definition) kernels(run64 func(call[float64]) error, run32 func(call[float32]) error) *definition {
	d.run64, d.run32 = run64, run32
	return d
}

// Compile-time checks of what gorgonia looks for.
var (
	_ gorgonia.Op              = Op{}
	_ gorgonia.SDOp            = Op{}
	_ gorgonia.UsePreallocDoer = Op{}
)

// Arity is the number of inputs.
func (o Op) Arity() int { return len(o.def.in) }

// Type is the type of the operation in gorgonia's type system: all inputs and
// the output have one element type.
func (o Op) Type() hm.Type {
	elem := hm.TypeVariable('a')
	types := make([]hm.Type, 0, len(o.def.in)+1)
	for _, d := range append(o.def.in[:len(o.def.in):len(o.def.in)], o.def.out) {
		if d == 0 {
			types = append(types, elem)
		} else {
			types = append(types, gorgonia.TensorType{Dims: d, Of: elem})
		}
	}
	return hm.NewFnType(types...)
}

// InferShape returns the shape of the output.
func (o Op) InferShape(sizes ...gorgonia.DimSizer) (tensor.Shape, error) {
	shapes, err := gorgonia.DimSizersToShapes(sizes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name(), err)
	}
	return o.inferShape(shapes)
}

func (o Op) inferShape(in []tensor.Shape) (tensor.Shape, error) {
	if len(in) != len(o.def.in) {
		return nil, fmt.Errorf("%s: %d inputs, want %d", o.Name(), len(in), len(o.def.in))
	}
	for i, s := range in {
		if len(s) != o.def.in[i] {
			return nil, fmt.Errorf("%s: input %d has shape %v, want %d dimensions", o.Name(), i, s, o.def.in[i])
		}
	}
	s, err := o.def.shape(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name(), err)
	}
	return s, nil
}

// Do computes the operation on one goroutine into a new value.
func (o Op) Do(in ...gorgonia.Value) (gorgonia.Value, error) { return o.Compute(nil, nil, in...) }

// UsePreallocDo computes the operation on one goroutine into out.
func (o Op) UsePreallocDo(out gorgonia.Value, in ...gorgonia.Value) (gorgonia.Value, error) {
	return o.Compute(nil, out, in...)
}

// Compute computes the operation with the workers of a pool. A nil out stands
// for a new value. Inputs that are lazily transposed views are copied first.
func (o Op) Compute(pool *parallel.Pool, out gorgonia.Value, in ...gorgonia.Value) (result gorgonia.Value, err error) {
	defer func() {
		if v := recover(); v != nil {
			if e, ok := v.(error); ok {
				err = fmt.Errorf("%s: panic: %w", o.Name(), e)
			} else {
				err = fmt.Errorf("%s: panic: %v", o.Name(), v)
			}
			result = nil
		}
	}()
	if len(in) != len(o.def.in) {
		return nil, fmt.Errorf("%s: %d inputs, want %d", o.Name(), len(in), len(o.def.in))
	}
	shapes := make([]tensor.Shape, len(in))
	for i, v := range in {
		shapes[i] = v.Shape()
		if v.Dtype() != in[0].Dtype() {
			return nil, fmt.Errorf("%s: input %d is %v, input 0 is %v", o.Name(), i, v.Dtype(), in[0].Dtype())
		}
	}
	shape, err := o.inferShape(shapes)
	if err != nil {
		return nil, err
	}
	dtype := in[0].Dtype()
	if out == nil {
		out = newValue(dtype, shape)
	} else if out.Dtype() != dtype || !out.Shape().Eq(shape) {
		return nil, fmt.Errorf("%s: the output is %v %v, want %v %v", o.Name(), out.Dtype(), out.Shape(), dtype, shape)
	}
	switch dtype {
	case tensor.Float64:
		err = execute(o.def.run64, pool, out, in)
	case tensor.Float32:
		err = execute(o.def.run32, pool, out, in)
	default:
		err = fmt.Errorf("element type %v, want float64 or float32", dtype)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name(), err)
	}
	return out, nil
}

func execute[T cpublas.Float](run func(call[T]) error, pool *parallel.Pool, out gorgonia.Value, in []gorgonia.Value) error {
	c := call[T]{pool: pool, in: make([]matrix[T], len(in))}
	for i, v := range in {
		m, err := asMatrix[T](v)
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		c.in[i] = m
	}
	if out.Shape().IsScalar() {
		c.out = matrix[T]{1, 1, make([]T, 1)}
		if err := run(c); err != nil {
			return err
		}
		return setScalar(out, c.out.data[0])
	}
	var err error
	if c.out, err = asMatrix[T](out); err != nil {
		return err
	}
	return run(c)
}

// asMatrix returns a value's elements in row-major order.
func asMatrix[T cpublas.Float](v gorgonia.Value) (matrix[T], error) {
	switch s := v.(type) {
	case *gorgonia.F64:
		return matrix[T]{1, 1, []T{T(*s)}}, nil
	case *gorgonia.F32:
		return matrix[T]{1, 1, []T{T(*s)}}, nil
	case *tensor.Dense:
		if s.RequiresIterator() || s.DataOrder().IsTransposed() || s.DataOrder().IsColMajor() {
			v = s.Materialize()
		}
	}
	rows, cols := 1, 1
	switch s := v.Shape(); len(s) {
	case 0:
	case 1:
		cols = s[0]
	case 2:
		rows, cols = s[0], s[1]
	default:
		return matrix[T]{}, fmt.Errorf("shape %v is no matrix", s)
	}
	all := v.Data()
	runtime.KeepAlive(v) // package tensor forgets it while it makes the slice
	switch data := all.(type) {
	case []T:
		return matrix[T]{rows, cols, data[:rows*cols]}, nil
	case T:
		return matrix[T]{1, 1, []T{data}}, nil
	}
	return matrix[T]{}, fmt.Errorf("a %T does not hold %v", v, v.Dtype())
}

func newValue(dtype tensor.Dtype, shape tensor.Shape) gorgonia.Value {
	switch {
	case !shape.IsScalar():
		return tensor.New(tensor.WithShape(shape...), tensor.Of(dtype))
	case dtype == tensor.Float32:
		return gorgonia.NewF32(0)
	}
	return gorgonia.NewF64(0)
}

func setScalar[T cpublas.Float](out gorgonia.Value, v T) error {
	switch s := out.(type) {
	case *gorgonia.F64:
		*s = gorgonia.F64(v)
	case *gorgonia.F32:
		*s = gorgonia.F32(v)
	default:
		return fmt.Errorf("a %T is no scalar output", out)
	}
	return nil
}

// ReturnsPtr is false: gorgonia must not take the output for an input that was
// changed in place.
func (o Op) ReturnsPtr() bool { return false }

// CallsExtern is true, which makes gorgonia's machines allocate the output
// once and pass it to UsePreallocDo.
func (o Op) CallsExtern() bool { return true }

// OverwritesInput is -1: no input is ever overwritten.
func (o Op) OverwritesInput() int { return -1 }

// WriteHash writes what tells this operation from every other.
func (o Op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "privkern/%s/%d", o.def.name, len(o.def.in)) }

// Hashcode is the hash of WriteHash.
func (o Op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// Name is the operation's name without its parameters: it tells one kind of
// operation from another.
func (o Op) Name() string {
	name, _, _ := strings.Cut(o.def.name, "(")
	return name
}

// Params are the operation's parameters, from which another device than the
// host computes it: a [Profile] for kernels and their slopes, a [Metric], a
// [GibbsParams], a [ScatterParams], an int for the first column or the number of
// eigenvalues; nil where it has none. Name says which operation it is.
func (o Op) Params() any { return o.def.params }

// String is the operation's name with all its parameters.
func (o Op) String() string { return o.def.name }

// DiffWRT says by which inputs the operation can be differentiated.
func (o Op) DiffWRT(inputs int) []bool {
	if o.def.diff == nil {
		return make([]bool, inputs)
	}
	return o.def.diff
}

// ErrNotDifferentiable is returned for the derivative of an operation that has
// none.
var ErrNotDifferentiable = errors.New("the operation has no derivative")

// SymDiff builds the nodes of the derivative, one for each input.
func (o Op) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if o.def.sym == nil {
		return nil, fmt.Errorf("%s: %w", o.Name(), ErrNotDifferentiable)
	}
	nodes, err := o.def.sym(in, out, grad)
	if err != nil {
		return nil, fmt.Errorf("derivative of %s: %w", o.Name(), err)
	}
	return nodes, nil
}

// Apply adds the operation to the graph of its inputs.
func (o Op) Apply(in ...*gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.ApplyOp(o, in...) }
