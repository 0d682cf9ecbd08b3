package jacobi_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
	"privkern/graphs/jacobi"
	"privkern/graphs/simd"
)

func goesOn() error { return nil }

// left returns the singular values and vectors of a, as rows.
func left(t testing.TB, a *mat.Dense) (values []float64, vectors *mat.Dense) {
	t.Helper()
	m, n := a.Dims()
	k := min(m, n)
	values, v := make([]float64, k), make([]float64, k*m)
	rank, err := jacobi.Left(m, n, a.RawMatrix().Data, values, v, goesOn)
	if err != nil {
		t.Fatal(err)
	}
	for i := rank; i < k; i++ {
		if values[i] != 0 || slices.ContainsFunc(v[i*m:], func(x float64) bool { return x != 0 }) {
			t.Errorf("number %d of rank %d is not zero", i, rank)
		}
	}
	return values[:rank], mat.NewDense(k, m, v).Slice(0, rank, 0, m).(*mat.Dense)
}

// orthogonal returns Q of a normal n×n matrix.
func orthogonal(seed uint64, n int) *mat.Dense {
	var qr mat.QR
	qr.Factorize(graphtest.Normal(graphtest.Rand(seed), n, n))
	q := new(mat.Dense)
	qr.QTo(q)
	return q
}

// decaying returns an m×n matrix of rank r whose singular values are a geometric sequence.
func decaying(m, n, r int, factor float64) *mat.Dense {
	d := mat.NewDense(m, n, nil)
	for i := range r {
		d.Set(i, i, math.Pow(factor, float64(i)))
	}
	c := new(mat.Dense)
	c.Product(orthogonal(1, m), d, orthogonal(2, n))
	return c
}

// The values agree with gonum's up to rounding of the largest; the vectors u are orthonormal, and
// ‖Aᵀu‖ is the singular value.
func TestLeft(t *testing.T) {
	for _, x := range []struct {
		m, n, rank int
		factor     float64
	}{
		{1, 1, 1, 1}, {1, 7, 1, 1}, {7, 1, 1, 1}, {5, 5, 5, 1}, {20, 60, 20, .5}, {60, 20, 20, .5}, {30, 40, 30, .1},
		{12, 30, 5, .01}, {40, 40, 40, .9}, {9, 9, 9, 1e-30}, {33, 97, 33, .99}, {130, 70, 70, .8},
	} {
		t.Run(fmt.Sprintf("%d×%d, rank %d", x.m, x.n, x.rank), func(t *testing.T) {
			c := decaying(x.m, x.n, x.rank, x.factor)
			values, u := left(t, c)
			var svd mat.SVD
			if !svd.Factorize(c, mat.SVDNone) {
				t.Fatal("no decomposition")
			}
			want := svd.Values(nil)
			for k, v := range want {
				if got := append(values, make([]float64, len(want))...)[k]; math.Abs(got-v) > 1e-14*want[0] {
					t.Errorf("singular value %d is %g, want %g", k, got, v)
				}
			}
			checkVectors(t, c, values, u)
		})
	}
}

// checkVectors checks left singular vectors, as rows, of a matrix.
func checkVectors(t *testing.T, c *mat.Dense, values []float64, u *mat.Dense) {
	t.Helper()
	m, _ := c.Dims()
	var gram, image mat.Dense
	gram.Mul(u, u.T())
	image.Mul(u, c)
	for i := range values {
		for j := range values {
			unit := 0.0
			if i == j {
				unit = 1
			}
			if d := math.Abs(gram.At(i, j) - unit); d > float64(m)*1e-15 { // rotations stop at a cosine of m·2⁻⁵³
				t.Errorf("the product of the vectors %d and %d is off by %g", i, j, d)
			}
		}
		if got := mat.Norm(image.RowView(i), 2); math.Abs(got-values[i]) > 1e-14*values[0] {
			t.Errorf("‖u_%dᵀC‖ = %g, and its singular value is %g", i, got, values[i])
		}
	}
}

// exactDet returns |det A| exactly, by elimination in rational numbers.
func exactDet(a *mat.Dense) float64 {
	n, _ := a.Dims()
	x := make([][]*big.Rat, n)
	for i := range x {
		for _, v := range a.RawRowView(i) {
			x[i] = append(x[i], new(big.Rat).SetFloat64(v))
		}
	}
	det := big.NewRat(1, 1)
	for k := range n {
		p := slices.IndexFunc(x[k:], func(row []*big.Rat) bool { return row[k].Sign() != 0 }) + k
		x[k], x[p] = x[p], x[k]
		det.Mul(det, x[k][k])
		for i := k + 1; i < n; i++ {
			f := new(big.Rat).Quo(x[i][k], x[k][k])
			for j := k; j < n; j++ {
				x[i][j] = new(big.Rat).Sub(x[i][j], new(big.Rat).Mul(f, x[k][j]))
			}
		}
	}
	v, _ := det.Float64()
	return math.Abs(v)
}

// scaledRows returns a with row i times factor^i, in a mixed order.
func scaledRows(a *mat.Dense, factor float64) *mat.Dense {
	m, n := a.Dims()
	out := mat.NewDense(m, n, nil)
	for i := range m {
		for j, v := range a.RawRowView(i) {
			out.Set((7*i+3)%m, j, v*math.Pow(factor, float64(i)))
		}
	}
	return out
}

// kahan returns the triangle of Kahan, diag(1, s, s², …) times one with −c above a unit diagonal: its
// last pivot is much larger than its smallest singular value.
func kahan(n int, angle float64) *mat.Dense {
	s, c := math.Sincos(angle)
	a := mat.NewDense(n, n, nil)
	for i := range n {
		a.Set(i, i, math.Pow(s, float64(i)))
		for j := i + 1; j < n; j++ {
			a.Set(i, j, -c*math.Pow(s, float64(i)))
		}
	}
	return a
}

// Tiny singular values have their own digits, not those of the largest: their product is the
// determinant, which is computed exactly, where they span up to 16 decades.
func TestSmallValues(t *testing.T) {
	for _, x := range []struct {
		name      string
		a         *mat.Dense
		tolerance float64
	}{
		{"triangle", mat.NewDense(3, 3, []float64{1, 1e-9, 2e-9, 0, 1e-9, 1e-9, 0, 0, 1e-9}), 1e-14},
		{"graded rows", scaledRows(graphtest.Normal(graphtest.Rand(3), 8, 8), 1e-2), 1e-13},
		{"graded rows, 11", scaledRows(graphtest.Normal(graphtest.Rand(4), 11, 11), 3e-2), 1e-13},
		{"Kahan", kahan(12, 1.2), 1e-13},
		{"Kahan, steep", kahan(9, .2), 1e-12},
	} {
		t.Run(x.name, func(t *testing.T) {
			values, u := left(t, x.a)
			product := 1.0
			for _, v := range values {
				product *= v
			}
			if want := exactDet(x.a); !(math.Abs(product/want-1) <= x.tolerance) {
				t.Errorf("the product of the singular values %v is off by %g", values, product/want-1)
			}
			checkVectors(t, x.a, values, u)
		})
	}
}

// Of a matrix with orthogonal rows of known lengths each value has an error of a few roundings.
func TestValuesOfScaledOrthogonalRows(t *testing.T) {
	const n = 40
	a := scaledRows(orthogonal(5, n), .4) // down to 3e-16
	values, _ := left(t, a)
	if len(values) != n {
		t.Fatalf("rank %d", len(values))
	}
	for i, v := range values {
		if want := math.Pow(.4, float64(i)); math.Abs(v/want-1) > 1e-14 {
			t.Errorf("singular value %d is off by %g of itself", i, v/want-1)
		}
	}
}

// The first of the largest elements of a vector is positive, for any signs of the rows.
func TestSigns(t *testing.T) {
	c := graphtest.Normal(graphtest.Rand(6), 6, 9)
	_, u := left(t, c)
	c.Scale(-1, c)
	if _, negative := left(t, c); !mat.Equal(u, negative) {
		t.Errorf("%v, and of −C %v", mat.Formatted(u), mat.Formatted(negative))
	}
	for i := range 6 {
		row := u.RawRowView(i)
		largest := slices.MaxFunc(row, func(a, b float64) int {
			return int(math.Copysign(1, math.Abs(a)-math.Abs(b)))
		})
		if largest <= 0 {
			t.Errorf("the largest element of vector %d is %g", i, largest)
		}
	}
	// Elements equal up to the last digits: the first decides.
	_, u = left(t, mat.NewDense(2, 1, []float64{-2, 2 + 1e-9}))
	if u.At(0, 0) <= 0 {
		t.Errorf("the vector %v", u.RawRowView(0))
	}
}

// Matrices whose squares overflow, or vanish, have their values, and a matrix of zeros has none.
func TestSizes(t *testing.T) {
	for _, scale := range []float64{1e-310, 1e-250, 1, 1e250, 4e307} {
		values, _ := left(t, mat.NewDense(2, 3, []float64{3 * scale, 0, 0, 0, 4 * scale, 0}))
		if len(values) != 2 || math.Abs(values[0]/scale-4) > 1e-10 || math.Abs(values[1]/scale-3) > 1e-10 {
			t.Errorf("%g: %v", scale, values)
		}
	}
	if values, _ := left(t, mat.NewDense(4, 3, nil)); len(values) != 0 {
		t.Errorf("of zeros %v", values)
	}
	// Rows that are rounding errors of the largest row are treated as zero, at any index.
	if values, _ := left(t, mat.NewDense(3, 3, []float64{1e-30, 0, 0, 0, 1, 0, 0, 0, 1e-12})); len(values) != 2 {
		t.Errorf("two values of their own, and %v", values)
	}
}

// All levels of the processor have the same bits.
func TestBits(t *testing.T) {
	a := decaying(37, 61, 37, .7)
	var want []float64
	for _, l := range simd.Levels() {
		restore := simd.Use(l)
		values, u := left(t, a)
		restore()
		got := slices.Concat(values, mat.DenseCopyOf(u).RawMatrix().Data)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("level %v has other bits than the portable one", l)
		}
	}
}

// A matrix that is not finite is refused, and a context ends the work between steps.
func TestFails(t *testing.T) {
	values, vectors := make([]float64, 40), make([]float64, 1600)
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		_, err := jacobi.Left(1, 2, []float64{1, bad}, values[:1], vectors[:1], goesOn)
		if !errors.Is(err, jacobi.ErrNotFinite) {
			t.Errorf("%g: %v", bad, err)
		}
	}
	a := graphtest.Normal(graphtest.Rand(1), 40, 40).RawMatrix().Data
	asked := 0
	if _, err := jacobi.Left(40, 40, a, values, vectors, func() error { asked++; return nil }); err != nil || asked < 6 {
		t.Fatalf("%v, asked %d times", err, asked)
	}
	for most := range asked {
		left := most
		_, err := jacobi.Left(40, 40, a, values, vectors, func() error {
			if left--; left < 0 {
				return context.Canceled
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d steps: %v", most, err)
		}
	}
}

// BenchmarkLeft compares with gonum's decomposition by a bidiagonal matrix.
func BenchmarkLeft(b *testing.B) {
	for _, x := range []struct{ m, n int }{{20, 60}, {100, 287}, {300, 300}, {500, 500}} {
		a := graphtest.Normal(graphtest.Rand(1), x.m, x.n)
		b.Run(fmt.Sprintf("%d×%d", x.m, x.n), func(b *testing.B) {
			for b.Loop() {
				left(b, a)
			}
		})
		b.Run(fmt.Sprintf("gonum, %d×%d", x.m, x.n), func(b *testing.B) {
			for b.Loop() {
				new(mat.SVD).Factorize(a, mat.SVDThinU)
			}
		})
	}
}
