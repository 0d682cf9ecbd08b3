package learn

import "gonum.org/v1/gonum/mat"

// SelectRows returns the given rows of x (len(rows)×d), in their order.
func SelectRows(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(rows), d, nil)
	for i, r := range rows {
		out.SetRow(i, x.RawRowView(r))
	}
	return out
}
