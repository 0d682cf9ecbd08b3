package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/release"
)

// The sums of several blocks are those of weighted rows, with noise of the stated scales:
// with little noise, hardly anything else. They do not depend on the workers.
func TestNoisyBlocks(t *testing.T) {
	const rows, ratio = 200, 2.0
	m := NewModel(gridPoints(2, 2), 2, 1.5, 1, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	x := points(rng, rows, 2, 6)
	largest := Share{Product: 3, Weight: 2}
	shares := make([][]Share, rows)
	for i := range shares {
		for range 3 {
			shares[i] = append(shares[i], Share{largest.Product * (2*rng.Float64() - 1), largest.Weight * rng.Float64()})
		}
	}
	s, err := NewExactBlocks(m, rows, 1, 1e4, 1e-3, 10, ratio, Blocks{3, largest})
	if err != nil {
		t.Fatal(err)
	}
	of := func(workers int) string {
		noisy, err := s.NoisyBlocks(x, func(row int, to []Share) { copy(to, shares[row]) }, workers,
			release.Unbooked(rand.NewChaCha8([32]byte{1})))
		if err != nil {
			t.Fatal(err)
		}
		a, b := s.Scales()
		for c, sums := range noisy {
			wantA, wantB := make([]float64, 4), mat.NewDense(4, 4, nil)
			for i := range rows {
				k := mat.NewVecDense(4, m.Vector(x.RawRowView(i)))
				for j := range wantA {
					wantA[j] += shares[i][c].Product * k.AtVec(j)
				}
				wantB.RankOne(wantB, shares[i][c].Weight, k, k)
			}
			for i := range wantA {
				if math.Abs(sums.A[i]-wantA[i]) > 6*a {
					t.Errorf("block %d, A: %g, want %g ± %g", c, sums.A[i], wantA[i], a)
				}
				for j := range wantA {
					if math.Abs(sums.B.At(i, j)-wantB.At(i, j)) > 6*b || sums.B.At(i, j) != sums.B.At(j, i) {
						t.Errorf("block %d, B: %g, want %g ± %g", c, sums.B.At(i, j), wantB.At(i, j), b)
					}
				}
			}
		}
		return fmt.Sprint(noisy[0].A, noisy[1].A, noisy[2].B)
	}
	if one, three := of(1), of(3); one != three {
		t.Error("the number of workers matters")
	}
}

// Where the rounding errors of a row are not small compared with its contribution, nothing is
// calibrated.
func TestSumsWhoseRoundingCounts(t *testing.T) {
	m := NewModel(gridPoints(2, 2), 2, 1.5, 1, 0)
	for sensitivity, ok := range map[float64]bool{1: true, 1e-12: true, 1e-15: false} {
		t.Run(fmt.Sprint(sensitivity), func(t *testing.T) {
			_, err := NewExactSums(m, 100, 1, 1, 1e-5, sensitivity, 1)
			if refused := err != nil && strings.Contains(err.Error(), "is not small beside"); refused == ok {
				t.Errorf("%v", err)
			}
		})
	}
}
