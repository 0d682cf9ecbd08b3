package ground

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"privkern/graphs/engine"
)

// InChunks returns the sum of the vectors that f makes of zeros, one for each chunk of successive rows from lo to hi.
// Chunks run on the workers of an engine and are added in their order: as long as their length depends on nothing, the
// number of workers does not change the sum.
func InChunks(ctx context.Context, e *engine.Engine, rows, chunk, size int, f func(lo, hi int, out []float64)) (
	[]float64, error) {
	parts := make([][]float64, (rows+chunk-1)/chunk)
	err := e.ParallelFor(ctx, rows, chunk, func(lo, hi int) error {
		parts[lo/chunk] = make([]float64, size)
		f(lo, hi, parts[lo/chunk])
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := make([]float64, size)
	for _, p := range parts {
		floats.Add(total, p)
	}
	return total, nil
}
