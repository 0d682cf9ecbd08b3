package sparse

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// axesOf returns the coordinates of each dimension, sorted, where the rows of z (M×D)
// are a lattice: every combination of them, once each. It returns nil for other points.
func axesOf(z *mat.Dense) [][]float64 {
	m, d := z.Dims()
	axes := make([][]float64, d)
	all := 1
	for j := range axes {
		axis := slices.Sorted(slices.Values(mat.Col(nil, j, z)))
		axes[j] = slices.Compact(axis)
		if all *= len(axes[j]); all > m {
			return nil
		}
	}
	if all != m {
		return nil
	}
	seen := make([]bool, m)
	for i := range m {
		at := 0
		for j, axis := range axes {
			k, _ := slices.BinarySearch(axis, z.At(i, j))
			at = at*len(axis) + k
		}
		if seen[at] {
			return nil
		}
		seen[at] = true
	}
	return axes
}

// productOver is the bound of [Model.largest] for inducing inputs on a lattice, of the
// coordinates axes. The kernel is a product over dimensions, and so is the sum over a
// lattice of its squares:
//
//	Σ_j k_r(x − z_j)² = Π_d Σ_i exp(−(x_d − a_di)²/l²),
//
// of positive factors, each of which depends on its own coordinate of x: the largest
// product is the product of the largest factors.
func (m *Model) productOver(axes [][]float64) float64 {
	product := 1.0
	for _, axis := range axes {
		line := *m
		line.Inducing.Z = Column(axis)
		product *= line.largest()
	}
	if len(axes) > 1 {
		product *= outward
	}
	return product
}
