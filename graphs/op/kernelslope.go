package op

import (
	"math"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/simd/vector"
)

// kernelSlope is the operation (X, Y, G) → W, W_ij = G_ij ∂k/∂s at the metric s
// of x_i and y_j. A slope that is infinite at s = 0 (Matérn 1/2) counts as
// zero, because ∂s/∂x is zero there.
//
// It computes the distances once more instead of keeping them: they would be another n×m
// matrix for as long as the graph lives, and inverting the form loses digits where k is
// close to its maximum.
func kernelSlope(p Profile) Op {
	return Op{def: &definition{
		name: "KernelSlope(" + p.String() + ")", in: []int{2, 2, 2}, out: 2, shape: pairs,
		run64: func(c call[float64]) error { return slopeMatrix(c, p) },
		run32: func(c call[float32]) error { return slopeMatrix(c, p) },
		launch: func(t Stream) {
			pairwiseOn(t, p.Slope(), t.In(0), t.In(1), false)
			t.Launch(kernels.Scale{In: t.Out(), S: t.In(2), Out: t.Out(), Rows: t.Out().Size(), Cols: 1})
		},
		cases: func(s *sampler) (cases []Case) {
			eachProfile(s, func(name string, p Profile, x, y Operand) {
				cases = append(cases, applied("KernelSlope "+name, kernelSlope(p), 30, x, y, s.normal(small, 71)))
			})
			return cases
		},
	}}
}

// slopeMatrix is the CPU kernel of kernelSlope. The weights multiply the slopes of a tile
// while it is in the cache.
func slopeMatrix[T cpublas.Float](c call[T], p Profile) error {
	return pairwise(c.pool, p.Metric, c.in[0], c.in[1], false, c.out, func(i, first int, row []T) {
		applySlope(p, row)
		vector.Mul(row, row, c.in[2].row(i)[first:first+len(row)])
	})
}

// applySlope overwrites at most pairColTile metrics s by dk/ds.
func applySlope[T cpublas.Float](p Profile, row []T) {
	switch p.Form {
	case Matern12: // −½Scale·Rate·exp(−u)/√s
		var squares [pairColTile]T
		copy(squares[:], row)
		p.Scale *= -p.Rate / 2
		applyForm(p, row)
		for i, s := range squares[:len(row)] {
			if s == 0 {
				row[i] = 0
			} else {
				row[i] /= T(math.Sqrt(float64(s)))
			}
		}
	case Tanh: // Scale·Rate·(1 − tanh²)
		factor := T(p.Scale * p.Rate)
		p.Scale = 1
		applyForm(p, row)
		for i, t := range row {
			row[i] = factor * (1 - t) * (1 + t)
		}
	default:
		applyForm(slopeOf(p), row)
	}
}

// slopeOf returns dk/ds as a profile, for the forms whose derivative is one of the forms.
//
// For Matérn 3/2 and 5/2 the u of du/ds = Rate²/(2u) cancels against that of k', so that
// the slope is finite at s = 0: k' = −Scale·u·exp(−u) and −Scale·u(1+u)/3·exp(−u).
func slopeOf(p Profile) Profile {
	switch p.Form {
	case Exponential:
		p.Scale *= -p.Rate
	case Matern32:
		p.Form, p.Scale = Matern12, -p.Scale*p.Rate*p.Rate/2
	case Matern52:
		p.Form, p.Scale = Matern32, -p.Scale*p.Rate*p.Rate/6
	case Power:
		p.Scale *= p.Rate * float64(p.Degree)
		p.Degree--
	}
	return p
}
