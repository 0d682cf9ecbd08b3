package op

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/jacobi"
	"privkern/graphs/kernels"
)

// LeftSingular is the operation A → E for an m×n A: column 0 of the min(m, n)×(m+1) E holds the
// singular values in descending order, and each row after it the left singular vector of unit
// length. Singular values below about 2⁻⁵⁶ times the largest count as zero, with vectors of
// zeros. The first of the largest elements of a vector, to six digits, is positive. Rows and
// columns of zeros at the ends of A, which pad members of a batch, change no bits of the other
// results.
//
// It is computed in float64 for either element type, by Jacobi's rotations of a pivoted
// triangular factor: see [jacobi.Left]. The error of a singular value is relative to itself where
// A is a well-conditioned matrix with its rows scaled. It has no derivative. It fails with a
// *NoConvergenceError.
func LeftSingular() Op {
	return Op{def: &definition{
		name: "LeftSingular", in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			m, n := in[0][0], in[0][1]
			if m < 1 || n < 1 {
				return nil, fmt.Errorf("singular values of a matrix %v", in[0])
			}
			return tensor.Shape{min(m, n), m + 1}, nil
		},
		run64: leftSingular[float64], run32: leftSingular[float32],
		launch: func(t Stream) {
			a, failed := t.In(0), t.Failure()
			w := t.Doubles(a.Size())
			t.Launch(kernels.WidenFinite{A: a, Out: w, N: a.Size(), Failed: failed})
			t.Launch(kernels.LeftSingular{W: w, T: t.Doubles(min(a.Rows, a.Cols) * a.Rows), Work: t.Doubles(2*a.Rows + a.Cols),
				M: a.Rows, N: a.Cols, Out: t.Out(), Failed: failed})
		},
		cases: func(s *sampler) []Case {
			graded := s.normal(small, small) // with singular values that float32 does not resolve
			for i := range small {
				row := graded.RawRowView(i)
				for j := range row {
					row[j] *= 1 / float64(int(1)<<i)
				}
			}
			return []Case{
				applied("LeftSingular", LeftSingular(), 1000, s.normal(small, 2*small)),
				applied("LeftSingular of a tall matrix", LeftSingular(), 1000, s.normal(small, 5)),
				{Name: "LeftSingular of a graded matrix", Op: LeftSingular(), In: []Operand{graded}, Condition: 1000, Double: true},
			}
		},
	}}
}

// leftSingular is the CPU kernel of LeftSingular.
func leftSingular[T cpublas.Float](c call[T]) error {
	a := c.in[0]
	m := rowsInUse(a)
	n := columnsInUse(matrix[T]{rows: m, cols: a.cols, data: a.data})
	clear(c.out.data)
	if n == 0 {
		return nil
	}
	block := make([]float64, m*n)
	for i := range m {
		for j, v := range a.row(i)[:n] {
			block[i*n+j] = float64(v)
		}
	}
	k := min(m, n)
	values, vectors := make([]float64, k), make([]float64, k*m)
	rank, err := jacobi.Left(m, n, block, values, vectors, c.pool.Err)
	if errors.Is(err, jacobi.ErrNotFinite) || errors.Is(err, jacobi.ErrNoConvergence) {
		return &NoConvergenceError{Order: max(a.rows, a.cols)}
	}
	if err != nil {
		return err
	}
	for i := range rank {
		row := c.out.row(i)
		row[0] = T(values[i])
		for j, v := range vectors[i*m : (i+1)*m] {
			row[1+j] = T(v)
		}
	}
	return nil
}

// columnsInUse returns the number of leading columns after which all are zero.
func columnsInUse[T cpublas.Float](a matrix[T]) int {
	n := 0
	for i := range a.rows {
		row := a.row(i)
		j := a.cols
		for j > n && row[j-1] == 0 {
			j--
		}
		n = j
	}
	return n
}
