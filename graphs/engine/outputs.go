package engine

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

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
