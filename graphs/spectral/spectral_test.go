package spectral_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/cpublas"
	"privkern/graphs/simd"
	"privkern/graphs/spectral"
)

// eachBLAS runs a test with the products of every BLAS that is installed.
func eachBLAS(t *testing.T, f func(*testing.T)) {
	for _, setting := range []string{"gonum", "privkern", "openblas"} {
		t.Run(setting, func(t *testing.T) {
			info, restore := cpublas.Force(setting)
			defer restore()
			if setting == "openblas" && info.Path == "" {
				t.Skip("OpenBLAS is not installed")
			}
			f(t)
		})
	}
}

// unit returns the unit roundoff of a type.
func unit[T spectral.Float]() float64 {
	var x T
	if _, single := any(x).(float32); single {
		return 0x1p-24
	}
	return 0x1p-53
}

// of returns the elements of a matrix in a type.
func of[T spectral.Float](a *mat.SymDense) []T {
	n := a.SymmetricDim()
	x := make([]T, n*n)
	for i := range n {
		for j := range n {
			x[i*n+j] = T(a.At(i, j))
		}
	}
	return x
}

// verify checks that k rows of V are eigenvectors of A with the eigenvalues w: residuals and
// deviations from orthonormality are within a multiple of the bounds of rounding.
func verify[T spectral.Float](t *testing.T, n, k int, a, w, v []T) {
	t.Helper()
	const factor = 8
	wide := func(x []T, rows int) *mat.Dense {
		d := mat.NewDense(rows, n, nil)
		for i := range rows {
			for j := range n {
				d.Set(i, j, float64(x[i*n+j]))
			}
		}
		return d
	}
	full, vectors := wide(a, n), wide(v, k)
	var residual, gram mat.Dense
	residual.Mul(vectors, full)
	gram.Mul(vectors, vectors.T())
	for i := range k {
		for j := range n {
			residual.Set(i, j, residual.At(i, j)-float64(w[i])*vectors.At(i, j))
		}
		gram.Set(i, i, gram.At(i, i)-1)
	}
	bound := factor * float64(n) * unit[T]()
	if worst := mat.Max(absolute(&gram)); !(worst <= bound) {
		t.Errorf("vectors are orthonormal to %g, bound %g", worst, bound)
	}
	size := math.SmallestNonzeroFloat32
	for i := range n {
		size = max(size, mat.Norm(full.RowView(i), 1)) // bounds the 2-norm
	}
	if worst := mat.Max(absolute(&residual)); !(worst <= bound*size) {
		t.Errorf("a residual is %g, bound %g", worst, bound*size)
	}
}

// absolute returns the absolute values of a matrix, with infinity for NaN.
func absolute(a *mat.Dense) *mat.Dense {
	a.Apply(func(_, _ int, x float64) float64 {
		if math.IsNaN(x) {
			return math.Inf(1)
		}
		return math.Abs(x)
	}, a)
	return a
}

// columns returns the columns of an n×n matrix as rows.
func columns[T spectral.Float](n int, a []T) []T {
	v := make([]T, n*n)
	for i := range n {
		for j := range n {
			v[j*n+i] = a[i*n+j]
		}
	}
	return v
}

func TestAllPairs(t *testing.T) {
	eachBLAS(t, func(t *testing.T) {
		for name, a := range matrices() {
			t.Run(name, func(t *testing.T) {
				t.Run("float64", func(t *testing.T) { testPairs[float64](t, a) })
				t.Run("float32", func(t *testing.T) { testPairs[float32](t, a) })
			})
		}
	})
}

// testPairs checks all pairs, the eigenvalues alone and the largest pairs of a matrix.
func testPairs[T spectral.Float](t *testing.T, m *mat.SymDense) {
	n := m.SymmetricDim()
	a := of[T](m)
	v, w := slices.Clone(a), make([]T, n)
	if err := spectral.Eigen(n, v, n, w); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(w) {
		t.Error("the eigenvalues do not ascend")
	}
	verify(t, n, n, a, w, columns(n, v))
	alone := make([]T, n)
	if err := spectral.Eigenvalues(n, slices.Clone(a), n, alone); err != nil {
		t.Fatal(err)
	}
	size := float64(max(w[n-1], -w[0]))
	for i := range w {
		if !(math.Abs(float64(alone[i]-w[i])) <= 8*float64(n)*unit[T]()*size) {
			t.Errorf("eigenvalue %d is %g alone, %g with vectors", i, alone[i], w[i])
		}
	}
	for _, k := range []int{1, (n + 2) / 3, n} {
		some, rows := make([]T, k), make([]T, k*n)
		if err := spectral.Largest(n, k, slices.Clone(a), n, some, rows, n); err != nil {
			t.Fatal(err)
		}
		verify(t, n, k, a, some, rows)
		for i := range k {
			if !(math.Abs(float64(some[i]-w[n-1-i])) <= 8*float64(n)*unit[T]()*size) {
				t.Errorf("of %d, the eigenvalue %d is %g, of all %g", k, i, some[i], w[n-1-i])
			}
		}
	}
}

// The second difference matrix has eigenvalues 2 − 2 cos(iπ/(n+1)).
func TestToeplitzHasItsEigenvalues(t *testing.T) {
	for _, n := range []int{1, 2, 10, 32, 33, 64, 150, 400} {
		a, w := make([]float64, n*n), make([]float64, n)
		for i := range n {
			a[i*n+i] = 2
			if i > 0 {
				a[i*n+i-1] = -1
			}
		}
		if err := spectral.Eigen(n, a, n, w); err != nil {
			t.Fatal(err)
		}
		for i, got := range w {
			s := 2 * math.Sin(float64(i+1)*math.Pi/float64(2*(n+1)))
			if !(math.Abs(got-s*s) <= 4e-15*math.Sqrt(float64(n))) {
				t.Errorf("n = %d: eigenvalue %d is %g, want %g", n, i, got, s*s)
			}
		}
	}
}

func TestAgainstGonum(t *testing.T) {
	for name, m := range matrices() {
		reference := gonumEigenvalues(m)
		n := m.SymmetricDim()
		w := make([]float64, n)
		if err := spectral.Eigenvalues(n, of[float64](m), n, w); err != nil {
			t.Fatal(err)
		}
		size := max(math.Abs(w[0]), math.Abs(w[n-1]))
		for i := range w {
			if !(math.Abs(w[i]-reference[i]) <= 1e-15*float64(n)*size) {
				t.Errorf("%s: eigenvalue %d is %g, gonum's %g", name, i, w[i], reference[i])
			}
		}
	}
}

// Only the lower triangle is read, and nothing beyond the rows is written.
func TestStrideAndTriangle(t *testing.T) {
	const n, ld, outside = 70, 75, 12345
	a := of[float64](random(n))
	wide, w := make([]float64, n*ld), make([]float64, n)
	for i := range n {
		row := wide[i*ld : (i+1)*ld]
		for j := range row {
			switch {
			case j <= i:
				row[j] = a[i*n+j]
			case j < n:
				row[j] = math.NaN()
			default:
				row[j] = outside
			}
		}
	}
	part := slices.Clone(wide)
	rows, some := make([]float64, 3*ld), make([]float64, 3)
	if err := spectral.Largest(n, 3, part, ld, some, rows, ld); err != nil {
		t.Fatal(err)
	}
	if err := spectral.Eigen(n, wide, ld, w); err != nil {
		t.Fatal(err)
	}
	v := make([]float64, n*n)
	for i := range n {
		copy(v[i*n:(i+1)*n], wide[i*ld:])
		for _, x := range [][]float64{wide, part} {
			if tail := x[i*ld+n : (i+1)*ld]; slices.Max(tail) != outside || slices.Min(tail) != outside {
				t.Fatalf("what follows row %d has changed", i)
			}
		}
	}
	verify(t, n, n, a, w, columns(n, v))
	for i := range 3 {
		copy(v[i*n:(i+1)*n], rows[i*ld:])
	}
	verify(t, n, 3, a, some, v)
}

// Matrices with elements far from one have the scaled results of matrices of normal size, to the
// last bit.
func TestScaling(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testScaling[float64](t, -1000, -300, 300, 1000) })
	t.Run("float32", func(t *testing.T) { testScaling[float32](t, -110, -60, 60, 110) })
}

func testScaling[T spectral.Float](t *testing.T, exponents ...int) {
	const n, reference = 60, 25
	scaled := func(exponent int) (v, w []T) {
		v, w = of[T](random(n)), make([]T, n)
		for i, x := range v {
			v[i] = T(math.Ldexp(float64(x), exponent))
		}
		if err := spectral.Eigen(n, v, n, w); err != nil {
			t.Fatal(err)
		}
		for i, x := range w {
			w[i] = T(math.Ldexp(float64(x), -exponent))
		}
		return v, w
	}
	v, w := scaled(reference)
	for _, exponent := range exponents {
		gotV, gotW := scaled(exponent)
		if !slices.Equal(gotV, v) || !slices.Equal(gotW, w) {
			t.Errorf("scaled by 2^%d: other bits", exponent)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a, w := of[float64](random(40)), make([]float64, 40)
		a[30*40+7] = bad
		before := slices.Clone(a)
		for name, err := range map[string]error{
			"all":     spectral.Eigen(40, a, 40, w),
			"values":  spectral.Eigenvalues(40, a, 40, w),
			"largest": spectral.Largest(40, 2, a, 40, w, make([]float64, 80), 40),
		} {
			if !errors.Is(err, spectral.ErrNotFinite) {
				t.Errorf("%s with %g: error %v", name, bad, err)
			}
		}
		for i, x := range a {
			if math.Float64bits(x) != math.Float64bits(before[i]) {
				t.Fatal("a matrix that fails has changed")
			}
		}
	}
	if err := spectral.Eigen[float64](0, nil, 1, nil); err != nil {
		t.Errorf("an empty matrix: %v", err)
	}
	if err := spectral.Eigenvalues[float64](0, nil, 1, nil); err != nil {
		t.Errorf("an empty matrix: %v", err)
	}
	if err := spectral.Largest(3, 0, make([]float64, 9), 3, nil, nil, 3); err != nil {
		t.Errorf("no pairs: %v", err)
	}
}

// Results have the same bits at every level of vector instructions.
func TestLevelsHaveTheSameBits(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testLevels[float64](t) })
	t.Run("float32", func(t *testing.T) { testLevels[float32](t) })
}

func testLevels[T spectral.Float](t *testing.T) {
	const n = 130
	var want []T
	for _, level := range simd.Levels() {
		restore := simd.Use(level)
		v, w := of[T](random(n)), make([]T, n)
		err := spectral.Eigen(n, v, n, w)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = append(v, w...)
		} else if !slices.Equal(append(v, w...), want) {
			t.Errorf("%v has other bits than %v", level, simd.Levels()[0])
		}
	}
}

// Bits change only when the package does.
func TestBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("gonum's products round differently")
	}
	_, restore := cpublas.Force("gonum")
	defer restore()
	h := sha256.New()
	for _, n := range []int{5, 40, 130} {
		v, w := of[float64](random(n)), make([]float64, n)
		if err := spectral.Eigen(n, v, n, w); err != nil {
			t.Fatal(err)
		}
		for _, x := range append(v, w...) {
			fmt.Fprintln(h, math.Float64bits(x))
		}
	}
	const want = "789f2e7b7f28478b"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

// Any symmetric matrix of small integers, many of them equal, has pairs within the bounds.
func FuzzEigen(f *testing.F) {
	f.Add(uint64(1), uint8(40), uint8(2))
	f.Add(uint64(2), uint8(100), uint8(9))
	f.Add(uint64(3), uint8(64), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, order, kinds uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := int(order)%120 + 1
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				if x := rng.IntN(int(kinds) + 2); x > int(kinds)/2 {
					a.SetSym(i, j, math.Ldexp(float64(x), -rng.IntN(60)))
				}
			}
		}
		testPairs[float64](t, a)
		testPairs[float32](t, a)
	})
}

// An eigenvalue beyond the range of numbers is an error, not an infinity.
func TestOverflow(t *testing.T) {
	const n = 10
	full := func() []float64 {
		a := make([]float64, n*n)
		for i := range a {
			a[i] = 1e308
		}
		return a
	}
	w, v := make([]float64, n), make([]float64, n)
	for name, err := range map[string]error{
		"all":    spectral.Eigen(n, full(), n, w),
		"values": spectral.Eigenvalues(n, full(), n, w),
		"one":    spectral.Largest(n, 1, full(), n, w, v, n),
	} {
		if !errors.Is(err, spectral.ErrOverflow) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
