//go:build !amd64

package exponential

import "slices"

// Row overwrites row by exp(row − shift), as on processors with vectors.
func Row(row []float32, shift float32) { generic(row, shift) }

// Max is the largest number of a row that is not empty.
func Max(row []float32) float32 { return slices.Max(row) }
