package interior

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/descent"
	"privkern/graphs/internal/graphtest"
)

const target = 1e-9

// formula returns a 3×10 matrix, b_ij = cos(1.1·(i+1)·(j+1) + i²), whose optimum has five weights.
func formula() *mat.Dense {
	b := mat.NewDense(3, 10, nil)
	b.Apply(func(i, j int, _ float64) float64 {
		return math.Cos(1.1*float64((j+1)*(i+1)) + float64(i*i))
	}, b)
	return b
}

// formulaOptimum is min log|M| of formula, by multiplicative updates λ ← λ∘g in numpy to a gap
// below 1e-13.
const formulaOptimum = 3 - 2.1132122348911317

// problems returns problems of several size classes.
func problems() []*mat.Dense {
	return []*mat.Dense{formula(), graphtest.Normal(graphtest.Rand(2), 4, 9), graphtest.Normal(graphtest.Rand(5), 9, 40),
		graphtest.Normal(graphtest.Rand(6), 5, 5), graphtest.Normal(graphtest.Rand(3), 4, 9),
		graphtest.Normal(graphtest.Rand(8), 1, 3), graphtest.Normal(graphtest.Rand(9), 12, 70)}
}

// certified returns log|M| of weights, and the gap k·log(Σλ·max g/k) + k·log of the scale that
// makes Σλ = k.
func certified(t *testing.T, b *mat.Dense, lambda []float64) (logdet, gap float64) {
	t.Helper()
	k, n := b.Dims()
	scaled := mat.DenseCopyOf(b)
	scaled.Apply(func(_, j int, v float64) float64 { return v * lambda[j] }, scaled)
	m := new(mat.Dense)
	m.Mul(scaled, b.T())
	var x mat.Dense
	if err := x.Solve(m, b); err != nil {
		t.Fatal(err)
	}
	worst, total := 0.0, 0.0
	for j := range n {
		if lambda[j] < 0 {
			t.Errorf("weight %d is %g", j, lambda[j])
		}
		worst, total = max(worst, mat.Dot(b.ColView(j), x.ColView(j))), total+lambda[j]
	}
	logdet, _ = mat.LogDet(m)
	return logdet + float64(k)*math.Log(worst), float64(k) * math.Log(worst*total/float64(k))
}

// The weights have the target certificate, and the optimum of another method.
func TestSolve(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for _, dtype := range []string{"float64", "float32"} {
			e := graphtest.Engine(t, dtype, 2)
			found, err := Solve(context.Background(), e, problems(), target, 60)
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range problems() {
				if found[i].Steps < 1 && i != 3 || found[i].Steps > 30 {
					t.Errorf("problem %d: %d steps", i, found[i].Steps)
				}
				if logdet, gap := certified(t, b, found[i].Lambda); gap > 2*target {
					t.Errorf("problem %d has a gap of %g", i, gap)
				} else if i == 0 && math.Abs(logdet-formulaOptimum) > 1e-8 {
					t.Errorf("log|M| is %.12g, want %.12g", logdet, formulaOptimum)
				}
			}
			for j, v := range found[3].Lambda { // square
				if math.Abs(v-1) > 1e-7 {
					t.Errorf("weight %d of a square matrix is %g, want 1", j, v)
				}
			}
		}
	})
}

// The gradient descent approaches the same objective from above.
func TestSolveAgainstDescents(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	found, err := Solve(context.Background(), e, problems(), target, 60)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range problems() {
		d, err := descent.Descend(context.Background(), e, descent.Problem{C: b}, descent.Options{Iterations: 5000})
		if err != nil {
			t.Fatal(err)
		}
		k, _ := b.Dims()
		best, _ := certified(t, b, found[i].Lambda)
		if above := d.LogDet + float64(k)*math.Log(d.MaxSquaredNorm) - best; above < -1e-8 || above > d.Gap+1e-8 {
			t.Errorf("problem %d: the descent ends %g above, with a gap of %g", i, above, d.Gap)
		}
	}
}

// A problem has the same bits alone, in any batch and with any number of workers, and does not
// change after its end.
func TestSolveAlone(t *testing.T) {
	for _, workers := range []int{1, 3} {
		e := graphtest.Engine(t, "float64", workers)
		all, err := Solve(context.Background(), e, problems(), 1e-6, 60)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range problems() {
			for _, most := range []int{60, all[i].Steps, all[i].Steps + 1} {
				if most == 0 {
					continue
				}
				alone, err := Solve(context.Background(), e, []*mat.Dense{b}, 1e-6, most)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(alone[0], all[i]) {
					t.Errorf("problem %d, %d steps at most: alone %v, in a batch %v", i, most, alone[0], all[i])
				}
			}
		}
	}
}

// A matrix of a smaller rank has no weights; the others of its batch have weights.
func TestSolveDeficient(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	deficient := formula()
	deficient.SetRow(2, make([]float64, 10))
	found, err := Solve(context.Background(), e, []*mat.Dense{formula(), deficient}, target, 60)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Solve(context.Background(), e, []*mat.Dense{formula()}, target, 60)
	if err != nil {
		t.Fatal(err)
	}
	if found[1].Lambda != nil || !reflect.DeepEqual(found[0], alone[0]) {
		t.Errorf("%v, alone %v", found, alone)
	}
	formulaWithNaN := formula()
	formulaWithNaN.Set(1, 2, math.NaN())
	if _, err := Solve(context.Background(), e, []*mat.Dense{formula(), formulaWithNaN}, target, 60); err == nil ||
		!strings.Contains(err.Error(), "problem 2 of 2: the matrix B has NaN") {
		t.Errorf("got %v", err)
	}
}

// BenchmarkSolve measures the folds of a cross-validation.
func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct{ problems, k, n int }{{14, 21, 70}, {14, 21, 266}} {
		b.Run(fmt.Sprintf("%d of %dx%d", c.problems, c.k, c.n), func(b *testing.B) {
			e := graphtest.Engine(b, "float64", 1)
			all := make([]*mat.Dense, c.problems)
			for i := range all {
				all[i] = graphtest.Normal(graphtest.Rand(uint64(i)), c.k, c.n)
			}
			for b.Loop() {
				if _, err := Solve(context.Background(), e, all, target, 60); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
