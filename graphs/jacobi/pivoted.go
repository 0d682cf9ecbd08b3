package jacobi

import (
	"math"

	"privkern/graphs/simd/vector"
)

// pivoted returns Lᵀ (k×m) of W = LV for W (m×n), where the modified Gram–Schmidt method finds
// the orthonormal rows of V (k×n) from the row of W with the largest remainder in turn, until
// remainders are negligible or k is most. Up to rounding, L is that of Householder's method, also
// where V is not orthonormal (Björck and Paige, "Loss and recapture of orthogonality in the
// modified Gram–Schmidt algorithm", SIAM Journal on Matrix Analysis and Applications 13, 1992). W
// is overwritten.
func pivoted(w *rows, most int, ended func() error) (*rows, error) {
	m := w.rows
	left := make([]int, m) // rows with a remainder
	square := make([]float64, m)
	for i := range left {
		left[i], square[i] = i, vector.Dot(w.row(i), w.row(i))
	}
	t := newRows(0, m)
	t.data = make([]float64, 0, min(m, 64)*t.stride)
	v := make([]float64, w.stride)
	first := 0.0
	for t.rows < most {
		at := 0
		for i, row := range left {
			if square[row] > square[left[at]] {
				at = i
			}
		}
		pivot := left[at]
		largest := math.Sqrt(square[pivot])
		if t.rows == 0 {
			first = largest
		}
		if !(largest > negligible*first) {
			break
		}
		if t.rows%lanes == 0 {
			if err := ended(); err != nil {
				return nil, err
			}
		}
		for j, x := range w.row(pivot) {
			v[j] = x / largest
		}
		left = append(left[:at], left[at+1:]...)
		t.data = append(t.data, make([]float64, t.stride)...)
		t.rows++
		l := t.row(t.rows - 1)
		l[pivot] = largest
		for _, i := range left {
			row := w.row(i)
			l[i] = vector.Dot(row, v)
			vector.Axpy(-l[i], v, row)
			square[i] = vector.Dot(row, row)
		}
	}
	return &t, nil
}
