package engine

import (
	"fmt"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// Matrix returns a value of the engine's element type with the elements of a
// matrix. In float64 it shares the memory of a contiguous one.
func (e *Engine) Matrix(a *mat.Dense) gorgonia.Value { return NewMatrix(e.dtype, a) }

// NewMatrix returns a value with the elements of a matrix. In float64 it
// shares the memory of a contiguous one.
func NewMatrix(dtype tensor.Dtype, a *mat.Dense) gorgonia.Value {
	raw := a.RawMatrix()
	if raw.Stride != raw.Cols {
		raw = mat.DenseCopyOf(a).RawMatrix()
	}
	return newTensor(dtype, raw.Rows, raw.Cols, raw.Data[:raw.Rows*raw.Cols])
}

// Tensor returns the value of Matrix as a tensor.
func (e *Engine) Tensor(a *mat.Dense) *tensor.Dense { return NewMatrix(e.dtype, a).(*tensor.Dense) }

// Scalar returns a scalar of the engine's element type.
func (e *Engine) Scalar(v float64) gorgonia.Value { return NewScalar(e.dtype, v) }

// NewScalar returns a scalar of an element type.
func NewScalar(dtype tensor.Dtype, v float64) gorgonia.Value {
	if dtype == tensor.Float32 {
		return gorgonia.NewF32(float32(v))
	}
	return gorgonia.NewF64(v)
}

// Column returns an n×1 value of the engine's element type. In float64 it
// shares the memory of v.
func (e *Engine) Column(v []float64) gorgonia.Value { return newTensor(e.dtype, len(v), 1, v) }

// newTensor returns a rows×cols tensor of row-major data, rounded once for float32.
func newTensor(dtype tensor.Dtype, rows, cols int, data []float64) *tensor.Dense {
	var backing any = data
	if dtype == tensor.Float32 {
		single := make([]float32, len(data))
		for i, v := range data {
			single[i] = float32(v)
		}
		backing = single
	}
	return TensorOf(backing, rows, cols)
}

// TensorOf returns a tensor of the slice, whose memory it shares.
//
// Package tensor turns slices into addresses (uintptr) and back, both here and
// in Data. In between the garbage collector may take memory that nothing else
// refers to: slice and tensor have to be kept alive over these calls.
func TensorOf(slice any, shape ...int) *tensor.Dense {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(slice))
	runtime.KeepAlive(slice)
	return t
}

// Data returns the elements of a value, sharing its memory, in the care of [TensorOf].
func Data(v gorgonia.Value) any {
	data := v.Data()
	runtime.KeepAlive(v)
	return data
}

// Dense returns an output as a matrix. In float64 it shares the output's
// memory.
func Dense(v gorgonia.Value) (*mat.Dense, error) {
	s := v.Shape()
	if len(s) != 2 {
		return nil, fmt.Errorf("a value of shape %v is no matrix", s)
	}
	data, err := Floats(v)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(s[0], s[1], data), nil
}

// Floats returns the elements of an output in row-major order. In float64 they
// share the output's memory.
func Floats(v gorgonia.Value) ([]float64, error) {
	if _, ok := v.(*Resident); ok {
		return nil, errNotHere
	}
	switch data := Data(op.RowMajor(v)).(type) {
	case []float64:
		return data, nil
	case []float32:
		double := make([]float64, len(data))
		for i, x := range data {
			double[i] = float64(x)
		}
		return double, nil
	case float64:
		return []float64{data}, nil
	case float32:
		return []float64{float64(data)}, nil
	default:
		return nil, fmt.Errorf("a value holds %T, want floating-point numbers", data)
	}
}

// Scalar returns an output that is one number.
func Scalar(v gorgonia.Value) (float64, error) {
	f, err := Floats(v)
	if err != nil {
		return 0, err
	}
	if len(f) != 1 {
		return 0, fmt.Errorf("a value of shape %v is no scalar", v.Shape())
	}
	return f[0], nil
}

// shaped returns a value in the shape that the graph has for it. Gorgonia's results have
// lengths of one more or fewer than the graph, and its contractions return vectors of one for
// scalars: shaped reshapes such a value without a copy. Other differences are errors.
func shaped(v gorgonia.Value, as DTensor) (gorgonia.Value, error) {
	want := as.Shape
	switch err := fits(v, as); {
	case err != nil:
		return nil, err
	case slices.Equal(v.Shape(), want):
		return v, nil
	}
	t, isTensor := op.RowMajor(v).(*tensor.Dense)
	switch {
	case !isTensor:
		return ofOne(v.Data(), want), nil
	case want.IsScalar():
		return scalar(Data(t)), nil
	}
	t = t.ShallowClone()
	return t, t.Reshape(want...)
}

// fits fails for a value that cannot have a tensor's shape and element type.
func fits(v gorgonia.Value, as DTensor) error {
	have, want := v.Shape(), as.Shape
	switch {
	case v.Dtype() != as.DType:
		return fmt.Errorf("it is %v, want %v", v.Dtype(), as.DType)
	case !slices.Equal(longer(have), longer(want)):
		return fmt.Errorf("it has shape %v, want %v", have, want)
	}
	return nil
}

// longer returns the lengths of a shape that are not one.
func longer(s tensor.Shape) (lengths []int) {
	for _, length := range s {
		if length != 1 {
			lengths = append(lengths, length)
		}
	}
	return lengths
}

// ofOne returns a tensor of one element.
func ofOne(element any, shape tensor.Shape) gorgonia.Value {
	switch x := element.(type) {
	case float64:
		return TensorOf([]float64{x}, shape...)
	case float32:
		return TensorOf([]float32{x}, shape...)
	case int:
		return TensorOf([]int{x}, shape...)
	default:
		return TensorOf([]bool{x.(bool)}, shape...)
	}
}

// scalar returns the only element of a slice as a scalar.
func scalar(data any) gorgonia.Value {
	switch x := data.(type) {
	case []float64:
		return gorgonia.NewF64(x[0])
	case []float32:
		return gorgonia.NewF32(x[0])
	case []int:
		return gorgonia.NewI(x[0])
	default:
		return gorgonia.NewB(x.([]bool)[0])
	}
}

// Reader reads the outputs of a run. It keeps its first error, as a [Builder] does,
// and returns zero values after it; Err has to be asked before they are used. With it
// a caller reads several outputs and checks once.
type Reader struct {
	values Values
	err    error
}

// Read returns a reader of a run's outputs.
func Read(outputs Values) *Reader { return &Reader{values: outputs} }

// Err is the first error.
func (r *Reader) Err() error { return r.err }

// Scalar is an output of one number.
func (r *Reader) Scalar(name string) float64 {
	f := r.Floats(name)
	if r.err == nil && len(f) != 1 {
		r.err = fmt.Errorf("the output %q has %d elements, want one", name, len(f))
	}
	if r.err != nil {
		return 0
	}
	return f[0]
}

// Floats are the elements of an output, as the function [Floats].
func (r *Reader) Floats(name string) []float64 {
	if r.err == nil && r.values[name] == nil {
		r.err = fmt.Errorf("there is no output %q", name)
	}
	if r.err != nil {
		return nil
	}
	f, err := Floats(r.values[name])
	if err != nil {
		r.err = fmt.Errorf("the output %q: %w", name, err)
	}
	return f
}

// Dense is an output as a matrix, as the function [Dense].
func (r *Reader) Dense(name string) *mat.Dense {
	f := r.Floats(name)
	if r.err != nil {
		return nil
	}
	s := r.values[name].Shape()
	if len(s) != 2 {
		r.err = fmt.Errorf("the output %q has the shape %v, want a matrix", name, s)
		return nil
	}
	return mat.NewDense(s[0], s[1], f)
}
