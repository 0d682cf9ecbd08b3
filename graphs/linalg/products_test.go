package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
)

func TestProducts(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} { // of an engine: products are in float64
		e := graphtest.Engine(t, dtype, 2)
		rng := rand.New(rand.NewPCG(1, 2))
		for _, size := range [][2]int{{1, 1}, {1, 4}, {7, 1}, {300, 21}} {
			n, p := size[0], size[1]
			x, y := mat.NewDense(n, p, nil), make([]float64, n)
			x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
			for i := range y {
				y[i] = rng.NormFloat64()
			}
			square, vector, err := Products(t.Context(), e, x, y)
			if err != nil {
				t.Fatal(err)
			}
			var matrix mat.Dense
			matrix.Mul(x.T(), x)
			var column mat.VecDense
			column.MulVec(x.T(), mat.NewVecDense(n, y))
			for i := range p {
				if math.Abs(vector[i]-column.AtVec(i)) > 1e-12*float64(n) {
					t.Errorf("%s, %d×%d: element %d of the vector is %g, want %g", dtype, n, p, i, vector[i], column.AtVec(i))
				}
				for j := range p {
					if got := square[i*p+j]; math.Abs(got-matrix.At(i, j)) > 1e-12*float64(n) || got != square[j*p+i] {
						t.Errorf("%s, %d×%d: element (%d, %d) is %g, want %g", dtype, n, p, i, j, got, matrix.At(i, j))
					}
				}
			}
		}
	}
}
