package linalg

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
)

// matrices are of several size classes, shapes and ranks, one of them graded over 16 decades.
func matrices() []*mat.Dense {
	graded := graphtest.Normal(graphtest.Rand(7), 20, 30)
	graded.Apply(func(i, _ int, v float64) float64 { return v * math.Pow(.15, float64(i)) }, graded)
	flat := new(mat.Dense)
	flat.Mul(graphtest.Normal(graphtest.Rand(8), 9, 2), graphtest.Normal(graphtest.Rand(9), 2, 40))
	return []*mat.Dense{graphtest.Normal(graphtest.Rand(2), 4, 9), graded, graphtest.Normal(graphtest.Rand(3), 5, 11),
		flat, graphtest.Normal(graphtest.Rand(4), 70, 12), mat.NewDense(3, 3, nil), mat.NewDense(1, 1, []float64{-2})}
}

// Left vectors u are orthonormal, and ‖Aᵀu‖ is the singular value, with a small error relative to
// each value.
func TestLeftSingular(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} { // both compute in float64
		e := graphtest.Engine(t, dtype, 2)
		found, err := LeftSingular(context.Background(), e, matrices())
		if err != nil {
			t.Fatal(err)
		}
		ranks := []int{4, 20, 5, 2, 12, 0, 1}
		for i, a := range matrices() {
			s := found[i]
			if s.Err != nil || i != 3 && len(s.Values) != ranks[i] { // rounding has a rank, too
				t.Errorf("matrix %d: %d values, %v", i, len(s.Values), s.Err)
				continue
			}
			if i == 5 {
				continue
			}
			var gram, image mat.Dense
			gram.Mul(s.Left.T(), s.Left)
			image.Mul(s.Left.T(), a)
			for j, v := range s.Values {
				if d := math.Abs(gram.At(j, j) - 1); d > 1e-14 {
					t.Errorf("matrix %d: vector %d has a length off by %g", i, j, d)
				}
				if got := mat.Norm(image.RowView(j), 2); math.Abs(got-v) > 1e-14*s.Values[0] {
					t.Errorf("matrix %d: ‖u_%dᵀA‖ = %g for the value %g", i, j, got, v)
				}
			}
			if got := found[3].Values; len(got) > 2 && got[2] > 1e-14*got[0] {
				t.Errorf("a matrix of rank 2 has the values %v", got)
			}
		}
	}
}

// A matrix has the same bits alone, among others and with any number of workers.
func TestLeftSingularAlone(t *testing.T) {
	for _, workers := range []int{1, 3} {
		e := graphtest.Engine(t, "float64", workers)
		all, err := LeftSingular(context.Background(), e, matrices())
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range matrices() {
			alone, err := LeftSingular(context.Background(), e, []*mat.Dense{a})
			if err != nil || !reflect.DeepEqual(alone[0], all[i]) {
				t.Errorf("matrix %d: alone %v (%v), among others %v", i, alone, err, all[i])
			}
		}
	}
}

func TestLeftSingularRefuses(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	good, bad := mat.NewDense(1, 2, []float64{1, 2}), mat.NewDense(1, 2, []float64{1, math.Inf(1)})
	if _, err := LeftSingular(context.Background(), e, []*mat.Dense{good, bad}); err == nil ||
		!strings.Contains(err.Error(), "problem 2 of 2: the matrix has +Inf") {
		t.Errorf("got %v", err)
	}
	if _, err := LeftSingular(context.Background(), e, []*mat.Dense{new(mat.Dense)}); err == nil ||
		!strings.Contains(err.Error(), "empty") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LeftSingular(ctx, e, []*mat.Dense{good}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
