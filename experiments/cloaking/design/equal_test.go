package design

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// decomposition is C = U·diag(values)·Vᵀ by gonum's method of Golub and Kahan.
func decomposition(t *testing.T, c *mat.Dense) (values []float64) {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDNone) {
		t.Fatal("no decomposition")
	}
	return svd.Values(nil)
}

// graded is a p×n matrix of rank r with singular values that fall by a factor a step, whose
// rows and columns repeat each some times.
func graded(rng *rand.Rand, p, n, r int, factor float64, times int) *mat.Dense {
	normal := func(rows, columns int) *mat.Dense {
		m := mat.NewDense(rows, columns, nil)
		m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, m)
		return m
	}
	var u, v mat.QR
	u.Factorize(normal(p, p))
	v.Factorize(normal(n, n))
	var left, right mat.Dense
	u.QTo(&left)
	v.QTo(&right)
	c := mat.NewDense(p, n, nil)
	for k := range r {
		scaled := mat.NewVecDense(p, nil)
		scaled.ScaleVec(math.Pow(factor, float64(k)), left.ColView(k))
		c.RankOne(c, 1, scaled, right.ColView(k))
	}
	out := mat.NewDense(times*p, times*n, nil)
	out.Apply(func(i, j int, _ float64) float64 { return c.At(i%p, j%n) }, out)
	return out
}

// The singular values are gonum's, to the rounding of the largest; the vectors are
// orthonormal and span the range; equal rows have equal vectors, in every bit.
func TestLeftSingularVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, x := range []struct {
		p, n, rank int
		factor     float64
		times      int
	}{
		{1, 1, 1, 1, 1}, {1, 7, 1, 1, 2}, {7, 1, 1, 1, 1}, {5, 5, 5, 1, 1}, {20, 60, 20, .5, 1}, {60, 20, 20, .5, 1},
		{30, 40, 30, .1, 1}, {12, 30, 5, .01, 3}, {40, 40, 40, .9, 2}, {9, 9, 9, 1e-30, 1},
	} {
		t.Run(fmt.Sprintf("%d×%d, rank %d, %d times", x.p, x.n, x.rank, x.times), func(t *testing.T) {
			c := graded(rng, x.p, x.n, x.rank, x.factor, x.times)
			rows := equalRows(c)
			if len(rows.first) != x.p || len(equalColumns(c).first) != x.n {
				t.Fatalf("%d distinct rows and %d columns", len(rows.first), len(equalColumns(c).first))
			}
			u, values, err := leftSingular(c, rows, equalColumns(c))
			if err != nil {
				t.Fatal(err)
			}
			want := decomposition(t, c)
			tolerance := 1e-14 * want[0]
			for k, v := range want {
				got := 0.0
				if k < len(values) {
					got = values[k]
				}
				if math.Abs(got-v) > tolerance {
					t.Errorf("singular value %d is %g, want %g", k, got, v)
				}
			}
			_, k := u.Dims()
			var gram, image mat.Dense
			gram.Mul(u.T(), u)
			for i := range k {
				for j := range k {
					want := 0.0
					if i == j {
						want = 1
					}
					// Rotations stop at a cosine of p·2⁻⁵³.
					if math.Abs(gram.At(i, j)-want) > float64(x.p*x.times)*1e-15 {
						t.Errorf("the vectors %d and %d have the product %g", i, j, gram.At(i, j))
					}
				}
			}
			image.Mul(u.T(), c)
			for i := range k {
				if got := mat.Norm(image.RowView(i), 2); math.Abs(got-values[i]) > tolerance {
					t.Errorf("‖u_%dᵀC‖ = %g, and its singular value is %g", i, got, values[i])
				}
			}
			for i, set := range rows.of {
				for j := range k {
					if u.At(i, j) != u.At(rows.first[set], j) {
						t.Fatalf("rows %d and %d are equal, and their vectors are not", i, rows.first[set])
					}
				}
			}
		})
	}
}

// Small singular values of a matrix whose columns have very different sizes have their own
// digits, not those of the largest.
func TestSmallSingularValuesOfGradedColumns(t *testing.T) {
	c := mat.NewDense(3, 3, []float64{1, 1e-9, 2e-9, 0, 1e-9, 1e-9, 0, 0, 1e-9})
	_, values, err := leftSingular(c, equalRows(c), equalColumns(c))
	if err != nil {
		t.Fatal(err)
	}
	product := 1.0
	for _, v := range values {
		product *= v
	}
	if math.Abs(product/1e-18-1) > 1e-13 { // |det C| of the triangle
		t.Errorf("the product of the singular values is %g", product)
	}
}

// The first of the largest elements of a vector is positive, whatever the signs of the rows.
func TestSignOfSingularVectors(t *testing.T) {
	c := formulaMatrix(6, 9)
	u, _, err := leftSingular(c, equalRows(c), equalColumns(c))
	if err != nil {
		t.Fatal(err)
	}
	c.Scale(-1, c)
	negative, _, err := leftSingular(c, equalRows(c), equalColumns(c))
	if err != nil || !mat.EqualApprox(u, negative, 1e-13) {
		t.Errorf("%v, and of −C %v: %v", mat.Formatted(u), mat.Formatted(negative), err)
	}
	for j := range 6 {
		if v := leading(mat.Col(nil, j, u)); v <= 0 {
			t.Errorf("the largest element of vector %d is %g", j, v)
		}
	}
	if leading([]float64{1, -2, 2 + 1e-9}) != -2 {
		t.Error("the first of two elements of nearly one size does not decide")
	}
}

// Matrices whose squares overflow, or vanish, have their values.
func TestSingularValuesOfAnySize(t *testing.T) {
	for _, scale := range []float64{1e-250, 1, 1e250} {
		c := mat.NewDense(2, 3, []float64{3 * scale, 0, 0, 0, 4 * scale, 0})
		_, values, err := leftSingular(c, equalRows(c), equalColumns(c))
		if err != nil || math.Abs(values[0]/scale-4) > 1e-14 || math.Abs(values[1]/scale-3) > 1e-14 {
			t.Errorf("%v, %v", values, err)
		}
	}
}

// What shares a hash is not taken for equal.
func TestGroupsOfOneHash(t *testing.T) {
	values := []float64{1, 2, 1, 3, 2, 1}
	g := groupsOf(make([]uint64, len(values)), func(i, j int) bool { return values[i] == values[j] })
	if fmt.Sprint(g.of) != "[0 1 0 2 1 0]" || fmt.Sprint(g.first) != "[0 1 3]" || fmt.Sprint(g.size) != "[3 2 1]" {
		t.Errorf("%+v", g)
	}
}
