package release

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// power is 2^n.
func power(n int) *big.Rat {
	one := big.NewInt(1)
	if n < 0 {
		return new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, uint(-n)))
	}
	return new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(n)))
}

func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

// The unit is a power of two between a 2000th and a 1000th of the scale, which is
// at least the requested one, and hardly more: in exact arithmetic.
func TestGrid(t *testing.T) {
	scales := []float64{1, 1000, 1024, 2000, 1e-280, 1e270, 0x1p-980, 999.9999999999999, math.Pi}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		scales = append(scales, math.Exp((2*rng.Float64()-1)*600))
		edge := math.Ldexp(1000, rng.IntN(1200)-600)
		scales = append(scales, edge, math.Nextafter(edge, 0), math.Nextafter(edge, math.Inf(1)))
	}
	for _, scale := range scales {
		g, err := newGrid(scale, 0)
		if err != nil {
			t.Fatalf("%g: %v", scale, err)
		}
		if m, _ := math.Frexp(g.unit()); m != 0.5 || g.unit() != math.Ldexp(1, g.exponent) {
			t.Errorf("scale %g: the unit %g is no power of two", scale, g.unit())
		}
		unit, exact := power(g.exponent), product(new(big.Rat).SetUint64(g.multiple), power(g.exponent-20))
		if product(unit, big.NewRat(1000, 1)).Cmp(exact) > 0 || product(unit, big.NewRat(2000, 1)).Cmp(exact) < 0 {
			t.Errorf("scale %g: the unit is %g", scale, g.unit())
		}
		if exact.Cmp(rat(scale)) < 0 || exact.Cmp(product(rat(scale), new(big.Rat).Add(power(0), power(-29)))) > 0 {
			t.Errorf("scale %g asked for, got %g", scale, g.scale())
		}
		if rat(g.scale()).Cmp(exact) != 0 || rat(g.queryError()).Cmp(power(g.exponent-33)) != 0 {
			t.Errorf("scale %g: %g and %g are stated", scale, g.scale(), g.queryError())
		}
	}
	for _, scale := range []float64{
		0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1),
		math.SmallestNonzeroFloat64, 1e-300, 1e290, math.MaxFloat64,
	} {
		if g, err := newGrid(scale, 0); err == nil {
			t.Errorf("scale %g: accepted, %+v", scale, g)
		}
	}
	// The ends of the accepted range.
	for _, exponent := range []int{-1000, 900} {
		if g, err := newGrid(math.Ldexp(1500, exponent), 0); err != nil || g.exponent != exponent {
			t.Errorf("unit 2^%d: %+v, %v", exponent, g, err)
		}
	}
	for _, exponent := range []int{-1001, 901} {
		if _, err := newGrid(math.Ldexp(1500, exponent), 0); err == nil {
			t.Errorf("unit 2^%d: accepted", exponent)
		}
	}
}

// A finer grid has the unit that is smaller by that power of two, and the same scale but for less than one of its
// parts.
func TestFineGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		scale, fine := math.Exp((2*rng.Float64()-1)*300), rng.IntN(mostFine+1)
		q := Query{What: "noise", Coordinates: 3, Change: scale, Fine: fine}
		n, err := Gaussian(q, 1)
		if err != nil {
			t.Fatal(err)
		}
		q.Fine = 0
		coarse, err := Gaussian(q, 1)
		if err != nil {
			t.Fatal(err)
		}
		if n.Grid() != math.Ldexp(coarse.Grid(), -fine) || n.Scale() < scale || n.Scale() > coarse.Scale() {
			t.Errorf("fine = %d, scale %g: unit %g of %g, scale %g of %g", fine, scale, n.Grid(), coarse.Grid(), n.Scale(),
				coarse.Scale())
		}
	}
	for _, fine := range []int{-1, mostFine + 1} {
		if n, err := Gaussian(Query{What: "noise", Coordinates: 1, Change: 1, Fine: fine}, 1); err == nil {
			t.Errorf("fine = %d: %+v", fine, n)
		}
	}
}

// fixedValue is whole + fraction/2^32 in the unit of the query, exactly.
func fixedValue(g grid, f fixedPoint) *big.Rat {
	v := new(big.Rat).SetFrac(new(big.Int).SetUint64(uint64(f.fraction)), new(big.Int).Lsh(big.NewInt(1), 32))
	v.Add(v, new(big.Rat).SetInt64(f.whole))
	return v.Mul(v, power(g.exponent))
}

// Rounding a query costs at most the stated error.
func TestFixed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, exponent := range []int{-1000, -300, -10, 0, 7, 300, 900} {
		g := grid{exponent: exponent, multiple: 1 << 30}
		steps := []float64{
			0, 0.5, 1, 1 - 0x1p-53, 0x1p-33, 0x1p-32, 0x1.8p-33, 0x1p-34, 0x1p30, 0x1p30 + 0x1p-22,
			0x1.fffffffffffffp29, 0x1p53, 0x1p59, 0x1.fffffffffffffp59,
		}
		for range 500 {
			steps = append(steps, rng.Float64()*math.Ldexp(1, rng.IntN(140)-80))
		}
		for _, v := range steps {
			for _, query := range []float64{math.Ldexp(v, exponent), -math.Ldexp(v, exponent)} {
				if !g.fits(math.Abs(query)) {
					t.Fatalf("2^%d: %g does not fit", exponent, query)
				}
				off := new(big.Rat).Sub(fixedValue(g, g.fixed(query)), rat(query))
				if off.Abs(off).Cmp(rat(g.queryError())) > 0 {
					t.Errorf("2^%d: %g becomes %v", exponent, query, g.fixed(query))
				}
				if got, _ := fixedValue(g, g.fixed(query)).Float64(); g.value(g.fixed(query)) != got {
					t.Errorf("2^%d: the value of %v is given as %g, want %g", exponent, g.fixed(query), g.value(g.fixed(query)), got)
				}
			}
		}
		if g.fits(math.Ldexp(1, exponent+60)) || g.fits(math.NaN()) || g.fits(math.Inf(1)) {
			t.Errorf("2^%d: fits what does not", exponent)
		}
	}
}

// A sum is a query with a magnitude of which the whole part, and all chunks of
// digits that are ever needed, are given.
type sum struct {
	g        grid
	query    fixedPoint
	negative bool
	whole    uint32
	digits   []uint32
}

// exactly is query ± scale·m in units of the grid, for an m with these digits and
// no others.
func (s sum) exactly(digits []uint32) *big.Rat {
	m := new(big.Rat).Add(numberOf(digits), new(big.Rat).SetInt64(int64(s.whole)))
	m.Mul(m, new(big.Rat).SetInt(new(big.Int).SetUint64(s.g.multiple))).Mul(m, power(-20))
	if s.negative {
		m.Neg(m)
	}
	return m.Add(m, fixedValue(grid{}, s.query))
}

// rounded is the nearest whole number, halves upwards.
func rounded(v *big.Rat) *big.Int {
	v = new(big.Rat).Add(v, big.NewRat(1, 2))
	quotient := new(big.Int)
	return quotient.Div(v.Num(), v.Denom()) // Euclidean, the floor for a positive divisor
}

// check draws the sum, and compares it with the oracle. Extra is how many chunks
// must be drawn after the first.
func (s sum) check(t *testing.T, extra int) {
	t.Helper()
	// With no further digits known, m lies between these digits and the next.
	want := rounded(s.exactly(s.digits))
	type adds func(grid, fixedPoint, bool, *magnitude, *bitReader) int64
	for name, add := range map[string]adds{"add": grid.add, "addSlowly": grid.addSlowly} {
		b, used := crafted(s.digits[1:]...)
		got := add(s.g, s.query, s.negative, &magnitude{s.whole, uniform{first: s.digits[0]}}, b)
		if want.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%s: %+v: got %d, want %s", name, s, got, want)
		}
		if extra >= 0 && used() != extra {
			t.Fatalf("%s: %+v: %d further chunks of digits are drawn, want %d", name, s, used(), extra)
		}
	}
}

// open reports whether the first places of digits leave the nearest whole number
// undecided.
func (s sum) open(places int) bool {
	one := make([]uint32, places)
	one[places-1] = 1
	first := s.exactly(s.digits[:places])
	step := new(big.Rat).Mul(numberOf(one), new(big.Rat).SetInt(new(big.Int).SetUint64(s.g.multiple)))
	step.Mul(step, power(-20))
	if s.negative {
		step.Neg(step)
	}
	last := new(big.Rat).Add(first, step) // not reached
	if s.negative {
		return rounded(first).Cmp(rounded(last)) != 0
	}
	// The last point below is as near as one likes.
	last.Add(last, big.NewRat(1, 2))
	floor := rounded(first)
	return last.Cmp(new(big.Rat).SetInt(new(big.Int).Add(floor, big.NewInt(1)))) > 0
}

func randomSum(rng *rand.Rand) sum {
	s := sum{
		g:        grid{multiple: (1000<<20 + rng.Uint64N(1000<<20)) << (20 * rng.IntN(2))}, // also on the finest grid
		query:    fixedPoint{int64(rng.Uint64()) >> (3 + rng.IntN(61)), rng.Uint32()},
		negative: rng.IntN(2) == 0,
		whole:    uint32(rng.IntN(6)),
	}
	for range 12 {
		s.digits = append(s.digits, rng.Uint32())
	}
	return s
}

// The multiple of the unit that is nearest to the real-valued sum: for random
// sums, and for those of which the first 32, 64 or 96 digits leave it open.
func TestAddIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 4000 {
		s := randomSum(rng)
		extra := 0
		for s.open(extra + 1) {
			extra++
		}
		s.check(t, extra)
		// A large whole part, as no law gives it.
		if s.whole = rng.Uint32(); s.g.multiple >= 1<<32 {
			s.whole >>= 20
		}
		s.check(t, -1)
	}
	for range 500 {
		s := randomSum(rng)
		// The magnitude at which the sum is half a unit from two multiples: its first
		// digits do not decide on which side a number lies.
		noise := rng.Int64N(5000) + 1
		if s.negative {
			noise = -noise
		}
		target := new(big.Rat).Add(new(big.Rat).SetInt64(s.query.whole+noise), big.NewRat(1, 2))
		target.Sub(target, fixedValue(grid{}, s.query))
		target.Abs(target).Mul(target, power(20)).Quo(target, new(big.Rat).SetInt(new(big.Int).SetUint64(s.g.multiple)))
		whole := new(big.Int).Quo(target.Num(), target.Denom())
		s.whole = uint32(whole.Uint64())
		digits := digitsOf(target.Sub(target, new(big.Rat).SetInt(whole)), 12)
		for equal := 1; equal <= 4; equal++ {
			for _, step := range []uint32{0xffffffff, 1, 0x80000000} {
				copy(s.digits, digits)
				s.digits[equal] += step
				for i := equal + 1; i < len(s.digits); i++ {
					s.digits[i] = rng.Uint32()
				}
				if !s.open(equal) {
					t.Fatalf("%+v: %d chunks decide", s, equal)
				}
				extra := equal
				for s.open(extra + 1) {
					extra++
				}
				s.check(t, extra)
			}
		}
	}
}

// The ends of the interval in which the first digits leave the sum lie at a half,
// or up to two of its 2^-52 from it: neither one digit too many is drawn nor one
// too few.
func TestAddAtTheLastDigit(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	modulus := new(big.Int).Lsh(big.NewInt(1), 52)
	for range 100 {
		for residue := int64(-2); residue <= 2; residue++ {
			for _, negative := range []bool{false, true} {
				for _, end := range []bool{false, true} {
					s := randomSum(rng)
					s.negative = negative
					s.g.multiple |= 1 // has an inverse
					multiple := new(big.Int).SetUint64(s.g.multiple)
					// The first or the last end is ±multiple·t and query and a half, in 2^-52.
					at := big.NewInt(int64(s.query.fraction)<<20 + 1<<51)
					at.Sub(big.NewInt(residue), at)
					if negative {
						at.Neg(at)
					}
					if end {
						at.Sub(at, multiple)
					}
					at.Mul(at, new(big.Int).ModInverse(multiple, modulus)).Mod(at, modulus)
					s.whole, s.digits[0] = uint32(at.Uint64()>>32), uint32(at.Uint64())
					for _, next := range []uint32{0, 1, 1 << 31, math.MaxUint32 - 1, math.MaxUint32} {
						s.digits[1] = next
						extra := 0
						for s.open(extra + 1) {
							extra++
						}
						s.check(t, extra)
					}
				}
			}
		}
	}
}

// Where the first digits lie on a half exactly, positive noise is rounded
// upwards at once, and negative noise, which lies below, downwards.
func TestAddAtHalves(t *testing.T) {
	g := grid{multiple: 1 << 30} // of 1024 units
	half := uint32(1 << 31)      // of a query
	zeros := []uint32{0, 0, 0, 0, 1, 0, 0, 0}
	for _, c := range []struct {
		name     string
		query    fixedPoint
		negative bool
		digits   []uint32
		extra    int
	}{
		{"positive", fixedPoint{5, half}, false, []uint32{0, 7, 7}, 0},
		{"positive, of a unit", fixedPoint{5, half}, false, []uint32{1 << 22, 7, 7}, 0},
		{"positive, below zero", fixedPoint{-1, half}, false, []uint32{0, 7, 7}, 0},
		{"negative", fixedPoint{5, half}, true, []uint32{0, 7, 7}, 1},
		{"negative, below zero", fixedPoint{-6, half}, true, []uint32{0, 7, 7}, 1},
		{"negative, of a unit", fixedPoint{5, half}, true, []uint32{1 << 22, 7, 7}, 1},
		{"negative, late", fixedPoint{5, half}, true, zeros, 4},
		// With all ones, noise of a unit is not reached.
		{"positive, up to a half", fixedPoint{5, half}, false, []uint32{1<<22 - 1, 0xffffffff, 0xfffffffe, 3}, 0},
		{"negative, up to a half", fixedPoint{5, half}, true, []uint32{1<<22 - 1, 0xffffffff, 0xfffffffe, 3}, 0},
		{"positive, below a half", fixedPoint{5, half - 1}, false, []uint32{3, 0xffffffff, 3}, 0},
		{"positive, just above a half", fixedPoint{5, half - 1}, false, []uint32{4, 3, 3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) { sum{g, c.query, c.negative, 0, c.digits}.check(t, c.extra) })
	}
}

// Noise on the grid has the law of the rounded normal number, around any query:
// exact probabilities of single grid points near the query and of wide ranges.
func TestNoiseOnTheGrid(t *testing.T) {
	for i, value := range []float64{0, 0.37, -0.5, 12345.678, -1e9 / 7} {
		t.Run(fmt.Sprint(value), func(t *testing.T) {
			n, err := Gaussian(Query{What: "number", Coordinates: manyDraws, Change: 1, Size: 1e9}, 3)
			if err != nil {
				t.Fatal(err)
			}
			query := make([]float64, manyDraws)
			for j := range query {
				query[j] = value
			}
			out, err := honest(byte(i)).Add(n, query)
			if err != nil {
				t.Fatal(err)
			}
			sample, cells := make([]float64, len(out)), make([]int, 32)
			cdf := func(v float64) float64 { return math.Erfc(-v/math.Sqrt2) / 2 }
			for j, v := range out {
				if steps := v / n.Grid(); steps != math.Trunc(steps) {
					t.Fatalf("%g is no multiple of %g", v, n.Grid())
				}
				// The middle of the interval that is rounded to it: a thousandth of a deviation wide.
				sample[j] = (v - value) / n.Scale()
				cells[min(max(int(math.Floor(4*sample[j]))+16, 0), 31)]++
			}
			checkCountsNear(t, cells, func(i int) float64 { return cdf(float64(i-16) / 4) })
			checkLaw(t, sample, cdf)
		})
	}
}

// checkCountsNear is [checkCounts] for cells whose ends a function gives, the
// first and the last being open.
func checkCountsNear(t *testing.T, cells []int, below func(i int) float64) {
	t.Helper()
	probabilities := make([]float64, len(cells))
	for i := range cells {
		low, high := 0.0, 1.0
		if i > 0 {
			low = below(i)
		}
		if i < len(cells)-1 {
			high = below(i + 1)
		}
		probabilities[i] = high - low
	}
	checkCounts(t, cells, probabilities)
}
