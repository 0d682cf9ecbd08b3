package choose

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/internal/cloaktest"
)

// Table 2 has errors of 14.52 to 14.72 cm at lengthscale 625 and a ratio of variances of 25, of cross-validation in the
// first 144 rows. No noise of Hall et al. (2013) has an expectation as low, whatever its design, so that none of these
// is the mean of many draws: the ledger has one. By duality, tr M ≥ (tr S^½)² for all M with cⱼᵀM⁻¹cⱼ ≤ 1 and
// S = Σ wⱼ cⱼcⱼᵀ, with any weights w that sum to one.
func TestNoDesignExpectsTheLowestErrorsOfTable2(t *testing.T) {
	const rows, folds = 144, 5
	ages, heights := females(t, cloaktest.RealCensus(t))
	lowest, highest := floats.Min(heights), floats.Max(heights)
	for i, h := range heights {
		heights[i] = min(max(h, (lowest+highest)/2-50), (lowest+highest)/2+50)
	}
	floats.AddConst(-floats.Sum(heights)/float64(len(heights)), heights)

	scale := math.Sqrt(2*math.Log(2/0.01)) * 100 // of Hall's noise at ε = 1, for a sensitivity of 100 cm
	sum := 0.0
	for f, first := 0, 0; f < folds; f++ {
		size := rows / folds
		if f < rows%folds {
			size++
		}
		test := ages[first : first+size]
		train := slices.Concat(ages[:first], ages[first+size:rows])
		outputs := slices.Concat(heights[:first], heights[first+size:rows])
		c := cloakingMatrix(t, train, test)
		var predicted mat.VecDense
		predicted.MulVec(c, mat.NewVecDense(len(outputs), outputs))
		for i := range test {
			sum += math.Pow(heights[first+i]-predicted.AtVec(i), 2)
		}
		sum += scale * scale * leastTrace(t, c)
		first += size
	}
	if got := math.Sqrt(sum / rows); math.Abs(got-15.82) > 0.005 {
		t.Errorf("the least expectation is %v cm, want 15.82", got)
	}
}

// females returns ages and heights of the census.
func females(t *testing.T, folder string) (ages, heights []float64) {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "Howell1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = ';'
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, record := range records[1:] {
		if record[3] == "0" {
			ages, heights = append(ages, number(record[2])), append(heights, number(record[0]))
		}
	}
	return ages, heights
}

// cloakingMatrix returns K_*f (K + σ²I)⁻¹ for lengthscale 625 and a kernel of 25 times the noise's variance.
func cloakingMatrix(t *testing.T, train, test []float64) *mat.Dense {
	t.Helper()
	kernel := func(x, y float64) float64 { return 25 * math.Exp(-(x-y)*(x-y)/(2*625*625)) }
	k := mat.NewSymDense(len(train), nil)
	cross := mat.NewDense(len(train), len(test), nil)
	for i, x := range train {
		for j := i; j < len(train); j++ {
			k.SetSym(i, j, kernel(x, train[j]))
		}
		k.SetSym(i, i, k.At(i, i)+1)
		for j, y := range test {
			cross.Set(i, j, kernel(x, y))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(k) {
		t.Fatal("the kernel matrix is not positive definite")
	}
	var solved mat.Dense
	if err := factor.SolveTo(&solved, cross); err != nil {
		t.Fatal(err)
	}
	return mat.DenseCopyOf(solved.T())
}

// leastTrace returns (tr S^½)² at weights that multiplicative steps have raised it to, a bound on the trace of all
// admissible covariances. Directions of singular values below a millionth of the largest are left out, which lowers it.
func leastTrace(t *testing.T, c *mat.Dense) float64 {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDThin) {
		t.Fatal("no singular values")
	}
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > 1e-6*values[0] {
		rank++
	}
	var v mat.Dense
	svd.VTo(&v)
	_, n := c.Dims()
	columns := mat.NewDense(rank, n, nil) // in the basis of the range, which keeps all norms
	for i := range rank {
		for j := range n {
			columns.Set(i, j, values[i]*v.At(j, i))
		}
	}
	weights := make([]float64, n)
	floats.AddConst(1/float64(n), weights)
	bound := 0.0
	for range 200 {
		s := mat.NewSymDense(rank, nil)
		for j, w := range weights {
			s.SymRankOne(s, w, columns.ColView(j))
		}
		var e mat.EigenSym
		if !e.Factorize(s, true) {
			t.Fatal("no eigenvalues")
		}
		var q, turned mat.Dense
		e.VectorsTo(&q)
		turned.Mul(q.T(), columns)
		trace, roots := 0.0, e.Values(nil)
		for i, x := range roots {
			roots[i] = math.Sqrt(max(x, 1e-300))
			trace += roots[i]
		}
		bound = trace * trace
		for j := range weights {
			gradient := 0.0
			for i, root := range roots {
				gradient += turned.At(i, j) * turned.At(i, j) / root
			}
			weights[j] *= gradient / trace
		}
		floats.Scale(1/floats.Sum(weights), weights)
	}
	return bound
}
