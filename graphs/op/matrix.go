package op

import (
	"fmt"
	"runtime"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/internal/pages"
	"privkern/graphs/parallel"
)

// call holds the operands and the result of a kernel.
// One call computes one operation once. The kernel writes every element of out, which
// may hold anything before, and nothing of in.
type call[T cpublas.Float] struct {
	pool *parallel.Pool
	in   []matrix[T]
	out  matrix[T]
}

// matrix is a contiguous row-major matrix. A scalar is 1×1.
// Its data are those of the graph's value, not a copy, unless the value was a view that
// is transposed or not contiguous. A vector of n elements is 1×n.
type matrix[T cpublas.Float] struct {
	rows, cols int
	data       []T
}

// row is row i, counted from 0, not a copy.
func (m matrix[T]) row(i int) []T { return m.data[i*m.cols : (i+1)*m.cols] }

// newCall returns the call of a kernel in one element type. A scalar result is computed in a
// 1×1 matrix, because gorgonia's scalars have no slice.
func newCall[T cpublas.Float](pool *parallel.Pool, out gorgonia.Value, in []gorgonia.Value) (c call[T], err error) {
	c = call[T]{pool: pool, in: make([]matrix[T], len(in))}
	for i, v := range in {
		if c.in[i], err = asMatrix[T](v); err != nil {
			return c, fmt.Errorf("input %d: %w", i, err)
		}
	}
	if out.Shape().IsScalar() {
		c.out = matrix[T]{1, 1, make([]T, 1)}
	} else {
		c.out, err = asMatrix[T](out)
	}
	return c, err
}

// end returns the error of the kernel; where there is none, it stores a scalar result.
func (c call[T]) end(out gorgonia.Value, err error) error {
	if err == nil && out.Shape().IsScalar() {
		return setScalar(out, c.out.data[0])
	}
	return err
}

// asMatrix returns a value's elements in row-major order.
func asMatrix[T cpublas.Float](v gorgonia.Value) (matrix[T], error) {
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
	data, err := elementsOf[T](v)
	return matrix[T]{rows, cols, data}, err
}

// elementsOf returns a value's elements in row-major order, see [RowMajor].
func elementsOf[T cpublas.Float](v gorgonia.Value) ([]T, error) {
	switch s := v.(type) {
	case *gorgonia.F64:
		return []T{T(*s)}, nil
	case *gorgonia.F32:
		return []T{T(*s)}, nil
	}
	v = RowMajor(v)
	all := v.Data()
	runtime.KeepAlive(v) // package tensor forgets it while it makes the slice
	switch data := all.(type) {
	case []T:
		return data[:v.Shape().TotalSize()], nil
	case T:
		return []T{data}, nil
	}
	return nil, fmt.Errorf("a %T does not hold %v", v, v.Dtype())
}

// RowMajor returns a value whose memory holds the elements in row-major order: v itself, or a
// copy of a view that is transposed or not contiguous.
func RowMajor(v gorgonia.Value) gorgonia.Value {
	if t, ok := v.(*tensor.Dense); ok && !isContiguous(t) {
		return t.Materialize()
	}
	return v
}

// isContiguous reports whether a tensor's memory holds its elements in row-major order.
func isContiguous(t *tensor.Dense) bool {
	return !t.RequiresIterator() && !t.DataOrder().IsTransposed() && !t.DataOrder().IsColMajor()
}

// newValue returns a value of zeros for the result, a tensor or a scalar.
func newValue(dtype tensor.Dtype, shape tensor.Shape) gorgonia.Value {
	switch {
	case !shape.IsScalar():
		return tensor.New(tensor.WithShape(shape...), tensor.Of(dtype))
	case dtype == tensor.Float32:
		return gorgonia.NewF32(0)
	}
	return gorgonia.NewF64(0)
}

// setScalar stores v in one of gorgonia's scalars.
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

// isSingle reports whether T is float32.
func isSingle[T cpublas.Float]() bool {
	var zero T
	_, single := any(zero).(float32)
	return single
}

// toFloat64 returns the elements in float64, without a copy where they are.
func toFloat64[T cpublas.Float](a []T) []float64 {
	if same, ok := any(a).([]float64); ok {
		return same
	}
	b := make([]float64, len(a))
	for i, v := range a {
		b[i] = float64(v)
	}
	return b
}

// Scratch memory is used again: loops outside of the graph run the same
// operation thousands of times.
//
// There is one pool for each element type, of slices of all sizes: a slice that is too
// short for the next borrower is dropped for a new one.
var scratch64, scratch32 sync.Pool

// scratchPool returns the pool of an element type.
func scratchPool[T cpublas.Float]() *sync.Pool {
	if isSingle[T]() {
		return &scratch32
	}
	return &scratch64
}

// borrow returns n elements with undefined contents. The caller passes the pointer to release
// once nothing refers to them.
func borrow[T cpublas.Float](n int) *[]T {
	if s, ok := scratchPool[T]().Get().(*[]T); ok && cap(*s) >= n {
		*s = (*s)[:n]
		return s
	}
	s := pages.Make[T](n)
	return &s
}

// release returns a slice to its pool; it must not be used afterwards.
func release[T cpublas.Float](s *[]T) { scratchPool[T]().Put(s) }
