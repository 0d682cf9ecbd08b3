// Package batch brings problems of several sizes into one batch.
//
// Members of a batch have one size: smaller ones are padded to their size class, which
// depends on the problem alone. So a member has the same bits alone and in any batch: those
// of its own padded problem. Problems of one class go into one batch.
//
// Padding is exact where it contributes nothing. A definite matrix is padded by an identity
// ([op.Leading]), right-hand sides by rows of zeros, and samples of an affine hull by points
// at [op.Far] with solutions of zero. Solutions are then zero in the padded rows, and
// log-determinants those of the problem. An operation that divides by a size, such as a mean,
// divides by that of the class.
package batch

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// SizeClass is the size to which a problem of size n is padded: the next multiple of 8 up
// to 64, of 32 up to 256, and of 64 above, at most 6.4 % more from 1000 on. It is 0 for
// n < 1.
func SizeClass(n int) int {
	step := 64
	switch {
	case n < 1:
		return 0
	case n <= 64:
		step = 8
	case n <= 256:
		step = 32
	}
	return (n + step - 1) / step * step
}

// Matrices stacks matrices as [members, rows, cols], each padded by zeros at its ends. It
// fails without members, and for a larger member.
func Matrices(dtype tensor.Dtype, rows, cols int, members []*mat.Dense) (*tensor.Dense, error) {
	if len(members) == 0 {
		return nil, fmt.Errorf("a batch of no members")
	}
	if rows < 1 || cols < 1 {
		return nil, fmt.Errorf("a batch of %d×%d matrices", rows, cols)
	}
	data := make([]float64, len(members)*rows*cols)
	for i, m := range members {
		r, c := m.Dims()
		if r > rows || c > cols {
			return nil, fmt.Errorf("member %d of %d is %d×%d, and the batch has %d×%d", i, len(members), r, c, rows, cols)
		}
		for j := range r {
			copy(data[(i*rows+j)*cols:], m.RawRowView(j))
		}
	}
	return newTensor(dtype, data, len(members), rows, cols), nil
}

// Scalars stacks one number for each member, such as the number of its rows that count.
func Scalars[T int | float64](dtype tensor.Dtype, members []T) (*tensor.Dense, error) {
	if len(members) == 0 {
		return nil, fmt.Errorf("a batch of no members")
	}
	data := make([]float64, len(members))
	for i, v := range members {
		data[i] = float64(v)
	}
	return newTensor(dtype, data, len(members)), nil
}

// newTensor returns a tensor of an element type, rounded once for float32.
func newTensor(dtype tensor.Dtype, data []float64, shape ...int) *tensor.Dense {
	if dtype != tensor.Float32 {
		return engine.TensorOf(data, shape...)
	}
	single := make([]float32, len(data))
	for i, v := range data {
		single[i] = float32(v)
	}
	return engine.TensorOf(single, shape...)
}

// Member returns a copy of the leading rows×cols block of member i of an output [members, n, m].
func Member(v gorgonia.Value, i, rows, cols int) (*mat.Dense, error) {
	s := v.Shape()
	if len(s) != 3 || i < 0 || i >= s[0] || rows < 1 || rows > s[1] || cols < 1 || cols > s[2] {
		return nil, fmt.Errorf("member %d with %d×%d elements of a batch of shape %v", i, rows, cols, s)
	}
	data, err := engine.Floats(v)
	if err != nil {
		return nil, err
	}
	size := s[1] * s[2]
	return mat.DenseCopyOf(mat.NewDense(s[1], s[2], data[i*size:(i+1)*size]).Slice(0, rows, 0, cols)), nil
}
