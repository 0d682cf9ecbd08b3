package fma

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exact is x·y + z rounded once from a precision that holds it.
func exact(x, y, z float32) float32 {
	b := func(v float32) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(float64(v)) }
	r, _ := new(big.Float).SetPrec(2000).Add(new(big.Float).SetPrec(2000).Mul(b(x), b(y)), b(z)).Float32()
	return r
}

// Sums of every size beside the product, those halfway between two numbers included.
func TestSingleIsRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	anything := func() float32 {
		for {
			v := math.Float32frombits(r.Uint32())
			if v-v == 0 && v != 0 {
				return v
			}
		}
	}
	naive := 0
	for range 300000 {
		x, y := anything(), anything()
		if r.IntN(2) == 0 { // few digits: ties are frequent
			x = math.Float32frombits(math.Float32bits(x) &^ 0xfff)
			y = math.Float32frombits(math.Float32bits(y) &^ 0x7ff)
		}
		z := anything()
		if p := float64(x) * float64(y); r.IntN(4) > 0 && math.Abs(p) < 1e38 && math.Abs(p) > 1e-40 {
			z = float32(math.Ldexp(p*(1+r.Float64()), r.IntN(100)-50))
		}
		want := exact(x, y, z)
		if z == 0 || math.IsInf(float64(z), 0) || want == 0 {
			continue
		}
		if got := single(x, y, z); got != want {
			t.Fatalf("%b·%b + %b is %b, want %b", x, y, z, got, want)
		}
		if float32(float64(x)*float64(y)+float64(z)) != want {
			naive++
		}
	}
	if naive == 0 {
		t.Error("no sum is rounded twice by float64: the numbers decide nothing")
	}
}

func TestSingleAtTheEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range [][4]float32{
		{inf, 1, 1, inf}, {inf, 1, -inf, nan}, {0, inf, 1, nan}, {nan, 1, 1, nan}, {1, 1, nan, nan},
		{3e38, 3e38, 0, inf}, {3e38, 2, -3e38, 3e38}, {1, -1, 1, 0}, {1, 1, inf, inf},
	} {
		if got := FMA(c[0], c[1], c[2]); got != c[3] && (got == got || c[3] == c[3]) {
			t.Errorf("%g·%g + %g is %g, want %g", c[0], c[1], c[2], got, c[3])
		}
	}
	if got := FMA(1+0x1p-52, 1+0x1p-52, -1); got != 0x1p-51+0x1p-104 {
		t.Errorf("float64 is not fused: %b", got)
	}
}
