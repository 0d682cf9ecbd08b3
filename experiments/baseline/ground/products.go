package ground

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// products is the number of rows of a product.
const products = 4096

// Products returns XᵀX (p×p) and Xᵀy (p) of the vectors X that f returns of some rows at a time, from lo to hi, and of
// their outputs y. Each part is a program, and parts are added in their order.
func Products(ctx context.Context, e *engine.Engine, rows, p int, f func(lo, hi int) (x *mat.Dense, y []float64)) (
	*mat.SymDense, *mat.VecDense, error) {
	parts := make([]struct{ square, vector []float64 }, (rows+products-1)/products)
	err := e.ParallelFor(ctx, rows, products, func(lo, hi int) (err error) {
		x, y := f(lo, hi)
		part := &parts[lo/products]
		part.square, part.vector, err = linalg.Products(ctx, e, x, y)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	square, vector := make([]float64, p*p), make([]float64, p)
	for _, part := range parts {
		floats.Add(square, part.square)
		floats.Add(vector, part.vector)
	}
	return mat.NewSymDense(p, square), mat.NewVecDense(p, vector), nil
}
