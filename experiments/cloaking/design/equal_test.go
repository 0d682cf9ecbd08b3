package design

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
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

// The range has gonum's singular values, to the rounding of the largest; U is orthonormal, and so
// are the rows of B; equal rows have equal rows of U and equal columns equal ones of B, in every
// bit.
func TestWhitenEqualRowsAndColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, x := range []struct {
		p, n, rank int
		factor     float64
		times      int
	}{
		{1, 1, 1, 1, 1}, {1, 7, 1, 1, 2}, {7, 1, 1, 1, 1}, {5, 5, 5, 1, 1}, {20, 60, 20, .5, 1}, {60, 20, 20, .5, 1},
		{30, 40, 9, .1, 1}, {12, 30, 5, .01, 3}, {40, 40, 40, .9, 2}, {9, 9, 1, 1e-30, 1},
	} {
		t.Run(fmt.Sprintf("%d×%d, rank %d, %d times", x.p, x.n, x.rank, x.times), func(t *testing.T) {
			c := graded(rng, x.p, x.n, x.rank, x.factor, x.times)
			rows, columns := equalRows(c), equalColumns(c)
			if len(rows.first) != x.p || len(columns.first) != x.n {
				t.Fatalf("%d distinct rows and %d columns", len(rows.first), len(columns.first))
			}
			r := whiten(t, c, FullRank)
			if len(r.Scale) != x.rank {
				t.Fatalf("rank %d", len(r.Scale))
			}
			want := decomposition(t, c)
			for k, v := range r.Scale {
				if math.Abs(v-want[k]) > 1e-14*want[0] {
					t.Errorf("singular value %d is %g, want %g", k, v, want[k])
				}
			}
			var gram, image mat.Dense
			gram.Mul(r.U.T(), r.U)
			image.Mul(r.U.T(), c)
			for i, s := range r.Scale {
				for j := range x.rank {
					unit := 0.0
					if i == j {
						unit = 1
					}
					// Rotations stop at a cosine of p·2⁻⁵³.
					if math.Abs(gram.At(i, j)-unit) > float64(x.p*x.times)*1e-15 {
						t.Errorf("the vectors %d and %d have the product %g", i, j, gram.At(i, j))
					}
				}
				for j := range x.n * x.times {
					if d := math.Abs(image.At(i, j) - s*r.B.At(i, j)); d > 1e-14*want[0] {
						t.Errorf("U'C and SB differ by %g at %d, %d", d, i, j)
					}
				}
			}
			for i := range x.p * x.times {
				if !slices.Equal(r.U.RawRowView(i), r.U.RawRowView(rows.first[rows.of[i]])) {
					t.Fatalf("row %d has another row of U than its equal", i)
				}
			}
			for j := range x.n * x.times {
				if !slices.Equal(mat.Col(nil, j, r.B), mat.Col(nil, columns.first[columns.of[j]], r.B)) {
					t.Fatalf("column %d has another column of B than its equal", j)
				}
			}
		})
	}
}

// A matrix has the same range alone and among others, and an error names the matrix.
func TestWhitenAll(t *testing.T) {
	e := cpuEngine(t)
	rng := rand.New(rand.NewPCG(7, 8))
	cs := []*mat.Dense{formulaMatrix(6, 40), graded(rng, 12, 30, 5, .1, 2), formulaMatrix(5, 33), formulaMatrix(70, 3)}
	all, err := Whiten(context.Background(), e, cs, FullRank, Tolerance64)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cs {
		if !reflect.DeepEqual(whiten(t, c, FullRank), all[i]) {
			t.Errorf("matrix %d has another range alone", i)
		}
	}
	cs[2] = mat.NewDense(2, 2, nil)
	var one *MatrixError
	_, err = Whiten(context.Background(), e, cs, FullRank, Tolerance64)
	if !errors.As(err, &one) || one.Matrix != 2 || one.Of != 4 ||
		!strings.HasPrefix(err.Error(), "cloaking matrix 3 of 4: the cloaking matrix is zero") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Whiten(ctx, e, cs, FullRank, Tolerance64); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Different elements with equal hashes are kept apart.
func TestGroupsOfOneHash(t *testing.T) {
	values := []float64{1, 2, 1, 3, 2, 1}
	g := groupsOf(make([]uint64, len(values)), func(i, j int) bool { return values[i] == values[j] })
	if fmt.Sprint(g.of) != "[0 1 0 2 1 0]" || fmt.Sprint(g.first) != "[0 1 3]" || fmt.Sprint(g.size) != "[3 2 1]" {
		t.Errorf("%+v", g)
	}
}
