package spectral

import (
	"math"
	"testing"
)

// Few pairs of a matrix whose pivots vanish and whose largest eigenvalues agree to all digits, as
// copies of one block that nothing connects have, are orthonormal pairs.
func TestFewPairsOfEqualBlocks(t *testing.T) {
	const order, copies = 21, 6
	d, e := make([]float64, order*copies), make([]float64, order*copies)
	for i := range d {
		d[i] = math.Abs(float64(i%order - order/2))
		if i%order != order-1 {
			e[i] = 1
		}
	}
	const k = 10
	w, z, ok := few(d, e, k, 0x1p-53)
	if !ok {
		t.Fatal("no convergence")
	}
	n := len(d)
	for i := range k {
		// The two largest eigenvalues of W21+ agree to fourteen digits, twelve in all copies.
		if !(math.Abs(w[i]-10.746194182903393) <= 1e-13) {
			t.Errorf("eigenvalue %d is %.16g", i, w[i])
		}
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if got := dot(z[i*n:(i+1)*n], z[j*n:(j+1)*n]); !(math.Abs(got-want) <= 1e-14) {
				t.Errorf("the product of vectors %d and %d is %g", i, j, got)
			}
		}
	}
}

// A vector with a residual above the bound is not accepted.
func TestFewPairsRefuseResiduals(t *testing.T) {
	d, e := make([]float64, 40), make([]float64, 40)
	for i := range d {
		d[i], e[i] = math.Sin(float64(i)), 1
	}
	if _, _, ok := few(d, e, 3, 0); ok {
		t.Error("residuals of zero are accepted")
	}
	if _, _, ok := few(make([]float64, 40), make([]float64, 40), 3, 0x1p-53); ok {
		t.Error("a matrix of zeros is accepted")
	}
}

// Vectors of one eigenspace are orthonormal, although inverse iteration cannot distinguish them
// there: the matrix is the identity, or has fewer pairs other than zero than are computed.
func TestLargestInOneEigenspace(t *testing.T) {
	const n, k = 240, 20
	for name, element := range map[string]func(i, j int) float64{
		"identity": func(i, j int) float64 {
			if i == j {
				return 1
			}
			return 0
		},
		"rank one": func(i, j int) float64 { return math.Cos(float64(i)) * math.Cos(float64(j)) },
	} {
		t.Run(name, func(t *testing.T) {
			a, w, v := make([]float64, n*n), make([]float64, k), make([]float64, k*n)
			for i := range n {
				for j := range i + 1 {
					a[i*n+j] = element(i, j)
				}
			}
			if err := Largest(n, k, a, n, w, v, n); err != nil {
				t.Fatal(err)
			}
			for i := range k {
				for j := range i {
					if s := dot(v[i*n:(i+1)*n], v[j*n:(j+1)*n]); !(math.Abs(s) <= 1e-14) {
						t.Fatalf("the product of vectors %d and %d is %g", i, j, s)
					}
				}
			}
		})
	}
}
