package linalg

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// Products returns XᵀX (p×p) and Xᵀy (p) of X (n×p) and y (n), by rows, in float64: the sufficient statistics of least
// squares. It takes np² operations.
func Products(ctx context.Context, e *engine.Engine, x *mat.Dense, y []float64) (square, vector []float64, err error) {
	n, p := x.Dims()
	out, err := e.RunAs(ctx, tensor.Float64, productsProgram(n, p), engine.Values{
		"x": engine.NewMatrix(tensor.Float64, x), "y": engine.NewMatrix(tensor.Float64, mat.NewDense(1, n, y))})
	if err != nil {
		return nil, nil, err
	}
	r := engine.Read(out)
	square, vector = r.Floats("square"), r.Floats("vector")
	return square, vector, r.Err()
}

// productsProgram computes "square", XᵀX (p×p), and "vector", yᵀX (1×p), for "x" (n×p) and "y" (1×n).
func productsProgram(n, p int) engine.Program {
	return engine.Program{
		Name: "products of rows",
		Key:  fmt.Sprintf("products of rows %d %d", n, p),
		Build: func(b *engine.Builder) {
			x := b.Input("x", n, p)
			b.Output("square", b.ColumnGram(1, x))
			b.Output("vector", b.MatrixProduct(b.Input("y", 1, n), x))
		},
	}
}

// ColumnProducts returns the inner products of the columns of a and of b (both n×m), summed by rows, as they lie in
// memory.
func ColumnProducts(a, b *mat.Dense) []float64 {
	n, m := a.Dims()
	out := make([]float64, m)
	for i := range n {
		row := b.RawRowView(i)
		for j, v := range a.RawRowView(i) {
			out[j] += v * row[j]
		}
	}
	return out
}
