package fma

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactFMA returns x·y + z by arithmetic of unlimited precision.
func exactFMA(x, y, z float32) float32 {
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(float64(v)) }
	s := exact(x)
	s.Mul(s, exact(y)).Add(s, exact(z))
	if s.Sign() == 0 { // big.Float has other rules for the sign of a sum that is zero
		return float32(float64(x)*float64(y) + float64(z))
	}
	r, _ := s.Float32()
	return r
}

func checkFMA32(t *testing.T, x, y, z float32) {
	t.Helper()
	got, want := single(x, y, z), exactFMA(x, y, z)
	if math.Float32bits(got) != math.Float32bits(want) {
		t.Fatalf("fma(%x, %x, %x) = %x, want %x", x, y, z, got, want)
	}
}

// The fused product and sum of float32 is rounded once, for any finite numbers.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	finite := func() float32 {
		for {
			if v := math.Float32frombits(rng.Uint32()); v-v == 0 {
				return v
			}
		}
	}
	for range 200000 {
		x, y := finite(), finite()
		checkFMA32(t, x, y, finite())
		// Sums that cancel, and those whose product is about half a unit of z.
		p := x * y
		if p-p != 0 {
			continue
		}
		checkFMA32(t, x, y, -p)
		for _, shift := range []int{-25, -24, -23, 23, 24, 25, 26} {
			if z := float32(math.Ldexp(float64(p), shift)); z-z == 0 {
				checkFMA32(t, x, y, z)
				checkFMA32(t, x, y, -math.Nextafter32(z, 0))
			}
		}
	}
}

// Hard cases: the sum in float64 is halfway between two float32 numbers, and its rounding error
// decides.
func TestFMA32Ties(t *testing.T) {
	one := math.Nextafter32(1, 2)
	for _, sign := range []float32{1, -1} {
		for _, z := range []float32{0x1p24, 0x1p24 + 2, 0x1p25, 0x1.fffffep40, 0x1p-126, 0x1p-149} {
			for _, small := range []float32{0x1p-149, 0x1p-100, 0x1p-60, 0x1p-30, 0x1p-10} {
				for _, unit := range []float32{1, one, 0.5, 0x1.8p0} {
					ulp := math.Nextafter32(z, math.MaxFloat32) - z
					checkFMA32(t, sign*unit, ulp/2, z)
					checkFMA32(t, sign*unit, ulp/2, -z)
					checkFMA32(t, sign*unit*(1+small), ulp/2, z)
					checkFMA32(t, sign*small, small, z)
					checkFMA32(t, sign*one, one*ulp, z)
				}
			}
		}
	}
	// In float64 alone this rounds down to the tie, and then to even: down again.
	x, y, z := float32(0x1.000002p-12), float32(0x1.fffffep-13), float32(1)
	checkFMA32(t, x, y, z)
	checkFMA32(t, 0x1.000002p0, 0x1p-24, 0x1p0)
}

// bits returns the bits of a number, the same for all NaN.
func bits[T float32 | float64](x T) uint64 {
	if x != x {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(float64(x))
}

func TestFMAStrangeNumbers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range [][4]float64{
		{inf, 1, 1, inf}, {inf, 0, 1, nan}, {1, 1, -inf, -inf}, {inf, 1, -inf, nan}, {nan, 1, 1, nan},
		{0, -1, 0, 0}, {1, 1, -1, 0}, {0, 0, math.Copysign(0, -1), 0}, {0, -1, math.Copysign(0, -1), math.Copysign(0, -1)},
	} {
		if got := FMA(float32(c[0]), float32(c[1]), float32(c[2])); bits(got) != bits(float32(c[3])) {
			t.Errorf("float32: fma(%v, %v, %v) = %v", c[0], c[1], c[2], got)
		}
		if got := FMA(c[0], c[1], c[2]); bits(got) != bits(c[3]) {
			t.Errorf("float64: fma(%v, %v, %v) = %v", c[0], c[1], c[2], got)
		}
	}
}
