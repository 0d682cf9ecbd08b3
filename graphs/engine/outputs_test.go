package engine

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestReader(t *testing.T) {
	r := Read(Values{"s": gorgonia.NewF32(1.5), "m": NewMatrix(tensor.Float64, mat.NewDense(1, 2, []float64{3, 4}))})
	s, f, m := r.Scalar("s"), r.Floats("m"), r.Dense("m")
	if err := r.Err(); err != nil || s != 1.5 || !slices.Equal(f, []float64{3, 4}) || m.At(0, 1) != 4 {
		t.Errorf("got %g, %v, %v, %v", s, f, m, err)
	}
}

// The first error stays, and nothing panics after it.
func TestReaderKeepsItsFirstError(t *testing.T) {
	values := Values{
		"scalar":   gorgonia.NewF64(1),
		"matrix":   NewMatrix(tensor.Float64, mat.NewDense(2, 2, nil)),
		"integers": tensor.New(tensor.WithShape(1, 1), tensor.Of(tensor.Int)),
	}
	for _, c := range []struct {
		name string
		read func(r *Reader)
		want string
	}{
		{"an output that there is not", func(r *Reader) { r.Floats("none") }, `there is no output "none"`},
		{"a matrix for a scalar", func(r *Reader) { r.Scalar("matrix") }, `the output "matrix" has 4 elements, want one`},
		{"a scalar for a matrix", func(r *Reader) { r.Dense("scalar") },
			`the output "scalar" has the shape (), want a matrix`},
		{"integers", func(r *Reader) { r.Dense("integers") },
			`the output "integers": a value holds []int, want floating-point numbers`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Read(values)
			c.read(r)
			if s, f, m := r.Scalar("other"), r.Floats("matrix"), r.Dense("matrix"); s != 0 || f != nil || m != nil {
				t.Errorf("after an error it reads %g, %v, %v", s, f, m)
			}
			if err := r.Err(); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
