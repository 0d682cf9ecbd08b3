package release

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func noiseFor(t *testing.T, coordinates int, change, size float64) *Noise {
	t.Helper()
	n, err := Gaussian(Query{What: "sums", Coordinates: coordinates, Change: change, Size: size}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func newSums(t *testing.T, n *Noise, rows int, largest float64) *Sums {
	t.Helper()
	s, err := NewSums(n, rows, largest)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// contributions of rows, of sizes over many decades.
func contributions(rng *rand.Rand, rows, coordinates int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		for range coordinates {
			out[i] = append(out[i], (2*rng.Float64()-1)*math.Exp(-30*rng.Float64()))
		}
	}
	return out
}

// A contribution depends on its row alone: in any order, split and merged in
// any way, with other rows or without.
func TestSumsDoNotDependOnOtherRows(t *testing.T) {
	const rows, coordinates = 400, 3
	rng := rand.New(rand.NewPCG(17, 18))
	n := noiseFor(t, coordinates, 1, rows)
	all := contributions(rng, rows, coordinates)
	sum := func(rows [][]float64) []int64 {
		s := newSums(t, n, len(all), 1)
		for _, c := range rows {
			s.Add(c)
		}
		return s.total
	}
	whole := sum(all)
	for range 20 {
		mixed := slices.Clone(all)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if !slices.Equal(sum(mixed), whole) {
			t.Fatal("the order changes the sums")
		}
		parts := make([]*Sums, 1+rng.IntN(7))
		for i := range parts {
			parts[i] = newSums(t, n, rows, 1)
		}
		for _, c := range all {
			parts[rng.IntN(len(parts))].Add(c)
		}
		for _, p := range parts[1:] {
			parts[0].Merge(p)
		}
		if !slices.Equal(parts[0].total, whole) {
			t.Fatal("splitting changes the sums")
		}
		// One row more or less moves them by the same, to the last bit, for any other
		// rows.
		row, k := contributions(rng, 1, coordinates), rng.IntN(rows)
		one := sum(row)
		with, without := sum(append(slices.Clone(mixed[:k]), row...)), sum(mixed[:k])
		for i := range one {
			if with[i]-without[i] != one[i] {
				t.Fatalf("a row adds %d to %d rows, and %d to none", with[i]-without[i], k, one[i])
			}
		}
	}
}

// The rounding of a contribution is at most the stated bound, and for noise
// of any larger scale.
func TestContributionError(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for range 300 {
		n := noiseFor(t, 1, math.Exp(20*rng.Float64()-10), 1e4)
		largest := 0.0
		for range 300 {
			v := 2*rng.Float64() - 1
			s := newSums(t, n, 1, 1)
			s.Add([]float64{v})
			sum := new(big.Rat).Mul(new(big.Rat).SetInt64(s.total[0]), rat(n.Grid()))
			sum.Mul(sum, power(-24))
			off, _ := sum.Sub(sum, rat(v)).Float64()
			largest = max(largest, math.Abs(off))
		}
		if bound := ContributionError(n.Scale()); largest > bound || largest < bound/8 {
			t.Errorf("scale %g: a contribution is off by %g, the bound is %g", n.Scale(), largest, bound)
		}
	}
}

// Sums with noise are the same as noise that is added to their exact values: no
// rounding comes between.
func TestNoisySums(t *testing.T) {
	const rows, coordinates = 100, 5
	n := noiseFor(t, coordinates, 1, rows)
	s := newSums(t, n, rows, 1)
	for _, c := range contributions(rand.New(rand.NewPCG(21, 22)), rows, coordinates) {
		s.Add(c)
	}
	source, replay := honest(1), newBitReader(seeded(1))
	var draws []Draw
	source.Trace(&draws)
	out := s.Noisy(source)
	for i, v := range s.total {
		exact := new(big.Rat).Mul(new(big.Rat).SetInt64(v), power(-24))
		query := fixedPoint{v >> 24, uint32(uint64(v)<<40>>40) << 8}
		if fixedValue(grid{}, query).Cmp(exact) != 0 {
			t.Fatalf("%d is not %+v", v, query)
		}
		m := replay.normal()
		negative := replay.coin()
		if want := float64(n.grid.add(query, negative, &m, replay)) * n.Grid(); out[i] != want {
			t.Errorf("sum %d: %g, want %g", i, out[i], want)
		}
		if want, _ := exact.Mul(exact, rat(n.Grid())).Float64(); draws[0].Query[i] != want || draws[0].Output[i] != out[i] {
			t.Errorf("sum %d: the trace has %g and %g, want %g and %g", i, draws[0].Query[i], draws[0].Output[i], want, out[i])
		}
	}
	if len(draws) != 1 || draws[0].Noise != n || len(source.Drawn()) != 1 || source.Drawn()[0] != n.Describe() {
		t.Errorf("%+v, %+v", draws, source.Drawn())
	}
}

func TestSumsRefuse(t *testing.T) {
	n := noiseFor(t, 1, 1, 1)
	step := math.Ldexp(n.Grid(), -24)
	for _, c := range []struct {
		rows    int
		largest float64
		fits    bool
	}{
		{1, 0x1p61 * step, true}, {2, 0x1p61 * step, false}, {1, 0x1p62 * step, false},
		{1 << 40, 0x1p21 * step, true}, {1 << 40, 0x1p22 * step, false},
		{0, 1, true}, {1, math.NaN(), false}, {1, math.Inf(1), false},
	} {
		t.Run(fmt.Sprint(c.rows, c.largest), func(t *testing.T) {
			_, err := NewSums(n, c.rows, c.largest)
			if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "2^62 steps") {
				t.Errorf("%v; fits: %t", err, c.fits)
			}
		})
	}
	// The largest sums that are taken keep their sign.
	s := newSums(t, n, 2, 0x1p60*step)
	for range 2 {
		s.Add([]float64{-0x1p60 * step})
	}
	if s.total[0] != -1<<61 {
		t.Errorf("%d", s.total[0])
	}
}

// No contribution moves a sum by more than the largest.
func TestContributionsAreCut(t *testing.T) {
	n, err := Gaussian(Query{What: "a sum", Coordinates: 4, Change: 2, Size: 100}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(n, 10, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	s.Add([]float64{math.Inf(1), -1e300, math.NaN(), 1.5})
	for i, want := range []float64{1.5, -1.5, 0, 1.5} {
		if got := float64(s.total[i]) * s.unit; got != want {
			t.Errorf("coordinate %d: %g, want %g", i, got, want)
		}
	}
}
