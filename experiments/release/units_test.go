package release

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// exactMove is the largest ‖Σ ±q_j‖² over all signs of the columns of a unit, in exact numbers.
func exactMove(q *mat.Dense, unit []int) *big.Float {
	r, _ := q.Dims()
	largest := float(0)
	for signs := range 1 << len(unit) {
		square := float(0)
		for i := range r {
			sum := float(0)
			for at, j := range unit {
				v := q.At(i, j)
				if signs>>at&1 == 1 {
					v = -v
				}
				sum.Add(sum, float(v))
			}
			square.Add(square, sum.Mul(sum, sum))
		}
		if square.Cmp(largest) > 0 {
			largest = square
		}
	}
	return largest
}

// The bound is never below the largest move of a unit, found in exact numbers, and equals it for twelve different
// columns or fewer, to the digits that rounding costs.
func TestLargestMove(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for name, p := range problems(rng) {
		_, n := p.q.Dims()
		if p.q.RawMatrix().Rows > 50 {
			continue // exact sums of more take long
		}
		t.Run(name, func(t *testing.T) {
			var units [][]int
			for range 4 {
				var unit []int
				for range 1 + rng.IntN(6) {
					unit = append(unit, rng.IntN(n))
				}
				units = append(units, unit)
			}
			want := float(0)
			for _, unit := range units {
				if v := exactMove(p.q, unit); v.Cmp(want) > 0 {
					want = v
				}
			}
			want.Sqrt(want)
			got := LargestMove(p.q, units)
			if want.Cmp(float(got)) > 0 || want.Cmp(float(got*(1-1e-9))) < 0 {
				t.Errorf("%v: bound %g, and %g is reached", units, got, want)
			}
		})
	}
}

// Columns of more than twelve different kinds are bounded by their products, which is exact where none is negative, and
// by the spectrum, which is where they are orthogonal; more than 500 by their norms.
func TestMoveOfManyColumns(t *testing.T) {
	const r = 16
	rng := rand.New(rand.NewPCG(33, 34))
	of := func(k int, f func(i, j int) float64) (*mat.Dense, [][]int) {
		q, unit := mat.NewDense(r, k, nil), make([]int, k)
		for j := range k {
			unit[j] = j
			for i := range r {
				q.Set(i, j, f(i, j))
			}
		}
		return q, [][]int{unit}
	}
	sum := func(q *mat.Dense) float64 {
		out := 0.0
		for j := range q.RawMatrix().Cols {
			out += mat.Norm(q.ColView(j), 2)
		}
		return out
	}
	positive, units := of(40, func(int, int) float64 { return rng.Float64() })
	reached := mat.Norm(rowSums(positive), 2)
	if got := LargestMove(positive, units); math.Abs(got/reached-1) > 1e-9 || got < reached {
		t.Errorf("positive columns: %g, want %g", got, reached)
	}
	// Rows of a Hadamard matrix, 16 columns of length 4.
	orthogonal, units := of(r, func(i, j int) float64 {
		if bitsSet(i&j)%2 == 1 {
			return -1
		}
		return 1
	})
	if got := LargestMove(orthogonal, units); math.Abs(got/16-1) > 1e-9 || got < 16 {
		t.Errorf("orthogonal columns: %g, want 16", got)
	}
	mixed, units := of(14, func(int, int) float64 { return rng.NormFloat64() })
	want, _ := exactMove(mixed, units[0]).Float64()
	if got := LargestMove(mixed, units); got < math.Sqrt(want) || got > 1.35*math.Sqrt(want) || got >= sum(mixed) {
		t.Errorf("mixed columns: %g, and %g is reached", got, math.Sqrt(want))
	}
	many, units := of(mostProducts+1, func(int, int) float64 { return rng.NormFloat64() })
	if got := LargestMove(many, units); math.Abs(got/sum(many)-1) > 1e-9 || got < sum(many) {
		t.Errorf("many columns: %g, want %g", got, sum(many))
	}
	if got := LargestMove(many, nil); got > 2*mat.Norm(many.ColView(0), 2) {
		t.Errorf("single columns: %g", got)
	}
	// A unit with a column several times moves it as often.
	for _, times := range []int{1, 2, 1000} {
		unit := make([]int, times)
		if got, want := LargestMove(many, [][]int{unit}), float64(times)*mat.Norm(many.ColView(0), 2); got < want ||
			got > want*(1+1e-9) {
			t.Errorf("%d times: %g, want %g", times, got, want)
		}
	}
	if got := LargestMove(mat.NewDense(2, 2, nil), [][]int{{0, 1}, nil}); got != 0 {
		t.Errorf("no columns: %g", got)
	}
}

// rowSums is the sum of the columns.
func rowSums(q *mat.Dense) *mat.VecDense {
	r, n := q.Dims()
	ones := mat.NewVecDense(n, nil)
	for j := range n {
		ones.SetVec(j, 1)
	}
	out := mat.NewVecDense(r, nil)
	out.MulVec(q, ones)
	return out
}

func bitsSet(v int) (n int) {
	for ; v > 0; v >>= 1 {
		n += v & 1
	}
	return n
}

// A search over persons ends where no other can be larger: it costs a look at each.
func BenchmarkLargestMove(b *testing.B) {
	rng := rand.New(rand.NewPCG(35, 36))
	q := mat.NewDense(30, 10_000, nil)
	for i := range q.RawMatrix().Data {
		q.RawMatrix().Data[i] = rng.NormFloat64()
	}
	for _, m := range []int{2, 10, 100} {
		units := make([][]int, 10_000/m)
		for j := range 10_000 {
			units[j/m] = append(units[j/m], j)
		}
		b.Run(fmt.Sprintf("rows=%d", m), func(b *testing.B) {
			for b.Loop() {
				LargestMove(q, units)
			}
		})
	}
}
