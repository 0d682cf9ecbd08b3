// Package op holds the operations that gorgonia lacks: pairwise distances, kernel
// matrices, Cholesky factors and solutions with them, symmetric eigen-decompositions, affine
// hulls, steps of the Laplace approximation.
//
// Everything about an operation is declared in one place, its constructor: shapes, CPU
// kernels for float64 and float32, the launch on a CUDA device, the symbolic derivative
// where it has one, and the cases by which tests compare the backends. [All] lists the
// operations; one that lacks a launch or a case fails a test, and so does one that the
// list lacks. Launches are written against [Stream], so that the package needs no CUDA
// device.
//
// An operation's name carries all its parameters, because gorgonia merges nodes whose
// hashes agree. A panic inside an operation comes back as an error. Operations never
// write to their inputs.
//
// # Why operations of our own
//
// An expression of elementary operations would be right, but slow and wasteful: a kernel
// matrix as a graph of sums, products and exponentials writes a handful of n×m matrices,
// each once through memory. A fused operation writes one, while its tiles are in the
// cache. Factorisations have no elementary form at all, and their derivatives are
// formulas of the result (Giles, "An extended collection of matrix derivative results",
// 2008), not of the steps that computed it.
//
// # Numbers
//
// Matrices are row-major; points are rows. Products and factors are computed in the element
// type by BLAS. Means, traces, logarithms of determinants and eigen-decompositions, which decide
// on accuracy, are computed in float64 and rounded once. Kernel
// matrices, Gram matrices and inverses come out symmetric to the last bit.
//
// The bits of a result depend on the operands, the BLAS and the processor's kernels, not
// on the number of workers: work is divided into tiles of fixed size, and no sum goes
// across tiles.
package op

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/parallel"
)

// Op is one of this package's operations. Gorgonia takes two with equal names and
// inputs for the same computation and merges them: every parameter is in the name.
//
// The zero batch is one problem; see [Op.Batch] for the others.
type Op struct {
	def *definition
	// lead is the number of leading dimensions of a batch, and shared has bit i where
	// operand i is without them.
	lead   int
	shared uint
}

// definition is one operation, complete. Op's methods derive from it everything else that
// gorgonia requires.
//
// Both backends compute the same function of the same operands, to the tolerances of the
// parity tests. Neither reads the output before it is written, nor keeps anything
// between calls.
type definition struct {
	name  string // with every parameter, because it is hashed
	in    []int  // number of dimensions of each input
	out   int    // number of dimensions of the output; 0 is a scalar
	shape func(in []tensor.Shape) (tensor.Shape, error)
	// One CPU kernel for each precision; they are instances of one generic
	// function, which Go cannot pass uninstantiated.
	run64 func(call[float64]) error
	run32 func(call[float32]) error
	// launch queues the operation on a CUDA device.
	launch func(Stream)
	// diff has true for each input by which sym differentiates; nil for none.
	diff []bool
	sym  func(f *formula, in gorgonia.Nodes, out, grad *gorgonia.Node) gorgonia.Nodes
	// cases are those by which tests compare the backends; see Op.Cases.
	cases func(*sampler) []Case
}

// Compile-time checks of gorgonia's interfaces.
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
	for i, d := range append(o.def.in[:len(o.def.in):len(o.def.in)], o.def.out) {
		if !o.shares(i) {
			d += o.lead
		}
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
	var shape tensor.Shape
	if err == nil {
		shape, err = o.Shape(shapes...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name(), err)
	}
	return shape, nil
}

// Shape returns the shape of the output for inputs of some shapes. Its error does not name the
// operation.
func (o Op) Shape(in ...tensor.Shape) (tensor.Shape, error) {
	if len(in) != len(o.def.in) {
		return nil, fmt.Errorf("%d inputs, want %d", len(in), len(o.def.in))
	}
	lead, member, err := o.members(in)
	if err != nil {
		return nil, err
	}
	out, err := o.def.shape(member)
	if err != nil || o.lead == 0 {
		return out, err
	}
	return append(lead.Clone(), out...), nil
}

// Do computes the operation on one goroutine into a new value.
func (o Op) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	return o.Compute(nil, nil, in...)
}

// UsePreallocDo computes the operation on one goroutine into out.
func (o Op) UsePreallocDo(out gorgonia.Value, in ...gorgonia.Value) (gorgonia.Value, error) {
	return o.Compute(nil, out, in...)
}

// Compute computes the operation with the workers of a pool. A nil out stands
// for a new value. Inputs that are lazily transposed views are copied first.
//
// Of a batch it computes one member after the other, as many at a time as the pool has
// workers, and ends with the context of [parallel.Pool.Within]. Members that fail are NaN in the
// result, which comes with a *MembersError; every other error comes without a result.
func (o Op) Compute(pool *parallel.Pool, out gorgonia.Value, in ...gorgonia.Value) (result gorgonia.Value, err error) {
	defer func() {
		if failed := (*MembersError)(nil); errors.As(err, &failed) {
			err = failed // whose members name the operation
		} else if err != nil {
			result, err = nil, fmt.Errorf("%s: %w", o.Name(), err)
		}
	}()
	defer parallel.Catch(&err)
	if out, err = o.output(out, in); err != nil {
		return nil, err
	}
	switch dtype := in[0].Dtype(); {
	case dtype != tensor.Float64 && dtype != tensor.Float32:
		err = fmt.Errorf("element type %v, want float64 or float32", dtype)
	case o.lead > 0 && dtype == tensor.Float64:
		err = executeMembers(o, o.def.run64, pool, out, in)
	case o.lead > 0:
		err = executeMembers(o, o.def.run32, pool, out, in)
	case dtype == tensor.Float64:
		var c call[float64]
		if c, err = newCall[float64](pool, out, in); err == nil {
			err = c.end(out, o.def.run64(c))
		}
	default:
		var c call[float32]
		if c, err = newCall[float32](pool, out, in); err == nil {
			err = c.end(out, o.def.run32(c))
		}
	}
	return out, err
}

// output checks the inputs of a computation and returns the value for its result: out, which
// is checked as well, or a new one where out is nil.
func (o Op) output(out gorgonia.Value, in []gorgonia.Value) (gorgonia.Value, error) {
	if len(in) != len(o.def.in) {
		return nil, fmt.Errorf("%d inputs, want %d", len(in), len(o.def.in))
	}
	dtype := in[0].Dtype()
	shapes := make([]tensor.Shape, len(in))
	for i, v := range in {
		shapes[i] = v.Shape()
		if v.Dtype() != dtype {
			return nil, fmt.Errorf("input %d is %v, input 0 is %v", i, v.Dtype(), dtype)
		}
	}
	shape, err := o.Shape(shapes...)
	switch {
	case err != nil:
		return nil, err
	case out == nil:
		return newValue(dtype, shape), nil
	case out.Dtype() != dtype || !out.Shape().Eq(shape):
		return nil, fmt.Errorf("the output is %v %v, want %v %v", out.Dtype(), out.Shape(), dtype, shape)
	}
	return out, nil
}

// ReturnsPtr is false: gorgonia must not take the output for an input that was
// changed in place.
func (o Op) ReturnsPtr() bool { return false }

// CallsExtern is true, which makes gorgonia's machines allocate the output
// once and pass it to UsePreallocDo.
func (o Op) CallsExtern() bool { return true }

// OverwritesInput is -1: no input is ever overwritten.
func (o Op) OverwritesInput() int { return -1 }

// Member returns the operation on one member of a batch, or o itself where it is none.
func (o Op) Member() Op { return Op{def: o.def} }

// WriteHash writes the name, which distinguishes this operation from every other.
func (o Op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "privkern/%s/%d", o, len(o.def.in)) }

// Hashcode is the hash of WriteHash.
func (o Op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// Name is the operation's name without its parameters.
func (o Op) Name() string {
	name, _, _ := strings.Cut(o.def.name, "(")
	return name
}

// String is the operation's name with all its parameters.
func (o Op) String() string { return o.def.name + o.batchName() }

// DiffWRT returns true for each input by which the operation can be differentiated.
// An operation without a derivative answers with false for every input, so that gorgonia
// does not look for one on the way to a parameter.
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
//
// out is the node of the result and grad, of its shape, the derivative of the objective
// by it. A node is nil for an input that DiffWRT excludes. Nodes of a derivative are
// operations themselves: they run on both backends and have cases. The derivative by an
// operand that the members of a batch share is the sum over them.
func (o Op) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if o.def.sym == nil {
		return nil, fmt.Errorf("%s: %w", o, ErrNotDifferentiable)
	}
	f := &formula{lead: o.lead}
	nodes := o.def.sym(f, in, out, grad)
	for i := range nodes {
		if o.shares(i) && nodes[i] != nil {
			nodes[i] = f.overMembers(nodes[i])
		}
	}
	if f.err != nil {
		return nil, fmt.Errorf("derivative of %s: %w", o.Name(), f.err)
	}
	return nodes, nil
}

// Apply adds the operation to the graph of its inputs. A vector of n where the operation
// takes a matrix stands for a column, n×1: gorgonia makes one of a column that is sliced
// out of a matrix. Operands with leading dimensions make the operation one on a batch, see
// [Op.Batch].
func (o Op) Apply(in ...*gorgonia.Node) (*gorgonia.Node, error) {
	operands, shapes := slices.Clone(in), make([]tensor.Shape, len(in))
	for i, n := range in {
		if i < len(o.def.in) && o.def.in[i] == 2 && len(n.Shape()) == 1 {
			column, err := gorgonia.Reshape(n, tensor.Shape{n.Shape()[0], 1})
			if err != nil {
				return nil, err
			}
			operands[i] = column
		}
		shapes[i] = operands[i].Shape()
	}
	form, err := o.Batch(shapes...)
	if err != nil {
		return nil, err // without gorgonia's words around it
	}
	return gorgonia.ApplyOp(form, operands...)
}
