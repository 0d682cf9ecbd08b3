package jacobi

import (
	"math"

	"privkern/graphs/simd/vector"
)

// orthogonalise rotates pairs of rows of t (k×m) until all are orthogonal to m·2⁻⁵³ of their
// lengths, and puts the longer row of each pair first.
func orthogonalise(t *rows, m int, ended func() error) error {
	tolerance := float64(m) * 0x1p-53
	square := make([]float64, t.rows)
	for range maxSweeps {
		if err := ended(); err != nil {
			return err
		}
		for i := range square {
			square[i] = vector.Dot(t.row(i), t.row(i))
		}
		rotated := false
		for i := range t.rows {
			for j := i + 1; j < t.rows; j++ {
				if rotate(t, square, i, j, tolerance) {
					rotated = true
				}
			}
		}
		if !rotated {
			return nil
		}
	}
	return ErrNoConvergence
}

// rotate makes rows i and j orthogonal, and reports whether that took a rotation.
func rotate(t *rows, square []float64, i, j int, tolerance float64) bool {
	a, b := t.row(i), t.row(j)
	if square[i] < square[j] {
		for x, v := range a {
			a[x], b[x] = b[x], v
		}
		square[i], square[j] = square[j], square[i]
	}
	inner := vector.Dot(a, b)
	if math.Abs(inner) <= tolerance*math.Sqrt(square[i])*math.Sqrt(square[j]) {
		return false
	}
	// The smaller angle θ that makes c·a − s·b and s·a + c·b orthogonal, with ζ = cot 2θ:
	// tan θ = sign(ζ)/(|ζ| + √(1 + ζ²)).
	zeta := (square[j] - square[i]) / (2 * inner)
	tangent := 1 / (math.Abs(zeta) + math.Sqrt(1+zeta*zeta))
	if zeta < 0 {
		tangent = -tangent
	}
	cosine := 1 / math.Sqrt(1+tangent*tangent)
	vector.Rotate(a, b, cosine, cosine*tangent)
	square[i], square[j] = square[i]-tangent*inner, max(0, square[j]+tangent*inner)
	return true
}
