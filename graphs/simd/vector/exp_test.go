package vector

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"privkern/graphs/simd"
)

const precision = 160

// log2 has 200 bits; it is not taken from the code under test.
var log2, _ = new(big.Float).SetPrec(200).SetString(
	"0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863327")

// exact returns exp x to 150 bits, as a fraction times 2^n.
func exact(x float64) (fraction *big.Float, n int) {
	n = int(math.Round(x / math.Ln2))
	r := new(big.Float).SetPrec(precision).SetFloat64(x)
	r.Sub(r, new(big.Float).SetPrec(precision).Mul(log2, big.NewFloat(float64(n))))
	sum, term := big.NewFloat(1).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	for k := 1; k < 40; k++ {
		term.Mul(term, r)
		term.Quo(term, big.NewFloat(float64(k)))
		sum.Add(sum, term)
	}
	return sum, n
}

// units returns |got − exp x| in units of the last place of the exact result, for an element type
// with the given digits and least exponent.
func units(got, x float64, digits, least int) float64 {
	fraction, n := exact(x)
	value := new(big.Float).SetPrec(precision).SetMantExp(fraction, n)
	unit := max(value.MantExp(nil)-digits, least)
	diff := new(big.Float).SetPrec(precision).SetFloat64(got)
	diff.Sub(diff, value)
	e, _ := diff.SetMantExp(diff, -unit).Float64()
	return math.Abs(e)
}

// The error is below one unit in the last place over the whole range, and half of one plus
// little where a result is denormal.
func TestExpIsAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ lo, hi float64 }{
		{-745, 709}, {-745.1, -708.4}, {-103.9, 88.7}, {-103.9, -87.4}, {-1, 1}, {-.36, .36}, {-1e-3, 1e-3},
		{-1e-8, 1e-8}, {-1e-300, 1e-300}, {709, 709.78}, {88, 88.72},
	} {
		x64, x32 := make([]float64, 3001), make([]float32, 3001)
		for i := range x64 {
			x64[i] = c.lo + (c.hi-c.lo)*r.Float64()
			x32[i] = float32(x64[i])
		}
		y64, y32 := make([]float64, len(x64)), make([]float32, len(x32))
		Exp(y64, x64)
		worst := 0.0
		for i, x := range x64 {
			worst = max(worst, units(y64[i], x, 53, -1074))
		}
		if worst >= .9 {
			t.Errorf("float64 in %v: error %.3f units", c, worst)
		}
		if c.lo < -104 || c.hi > 89 {
			continue
		}
		Exp(y32, x32)
		worst = 0
		for i, x := range x32 {
			worst = max(worst, units(float64(y32[i]), float64(x), 24, -149))
		}
		if worst >= .9 {
			t.Errorf("float32 in %v: error %.3f units", c, worst)
		}
	}
}

// The ends of the range, at every level.
func TestExpAtTheEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, l := range simd.Levels() {
		restore := simd.Use(l)
		edges(t, l, map[float64]float64{0: 1, math.Copysign(0, -1): 1, inf: inf, -inf: 0, 1e300: inf, -1e300: 0,
			709.782712893384: 0x1.fffffffffff2ap+1023, 709.7827128933841: inf, -745.1332191019411: 0x1p-1074,
			-745.1332191019412: 0, 0x1p-1074: 1, -0x1p-60: 1})
		edges(t, l, map[float32]float32{0: 1, float32(inf): float32(inf), float32(-inf): 0, 3e38: float32(inf), -3e38: 0,
			88.72284: float32(inf), -103.97208: 0x1p-149, -103.97209: 0, 0x1p-149: 1})
		if v := of(math.NaN()); v == v {
			t.Errorf("%v: exp NaN is %v", l, v)
		}
		if v := of(float32(nan)); v == v {
			t.Errorf("%v: exp NaN is %v in float32", l, v)
		}
		restore()
	}
}

// of returns exp x.
func of[T Float](x T) T {
	y := []T{x}
	Exp(y, y)
	return y[0]
}

func edges[T Float](t *testing.T, l simd.Level, want map[T]T) {
	t.Helper()
	for x, w := range want {
		if got := of(x); got != w {
			t.Errorf("%v: exp(%v) is %b, want %b", l, x, got, w)
		}
	}
}

// The scaled forms agree with their definitions, and are zero instead of denormal.
func TestScaledForms(t *testing.T) {
	t.Run("float64", func(t *testing.T) { scaledForms[float64](t, 0x1p-1022, 1e-13) })
	t.Run("float32", func(t *testing.T) { scaledForms[float32](t, 0x1p-126, 3e-5) })
}

func scaledForms[T Float](t *testing.T, least, tolerance float64) {
	r := rand.New(rand.NewPCG(8, 9))
	x := make([]T, 4000)
	top := 2000.0
	if size[T]() == 4 {
		top = 230
	}
	for i := range x {
		x[i] = T(r.Float64() * top)
	}
	linear, rooted := make([]T, len(x)), make([]T, len(x))
	ScaledExp(linear, x, 3, -.5, .125)
	rate := -math.Sqrt(top)
	RootExp(rooted, x, T(rate/2), 2, -3, .5)
	zeros := 0
	check := func(what string, x, got, exponential, want float64) {
		switch {
		case exponential < least*(1-1e-4) || math.Abs(want) < least*(1-1e-4):
			zeros++
			if got != 0 {
				t.Fatalf("%s of %v is %v, want 0", what, x, got)
			}
		case math.Abs(want) > least*(1+1e-4) && exponential > least*(1+1e-4) && !(math.Abs(got/want-1) < tolerance):
			t.Fatalf("%s of %v is %v, want %v", what, x, got, want)
		}
	}
	for i, v := range x {
		e := math.Exp(-.5 * (float64(v) - 3))
		check("ScaledExp", float64(v), float64(linear[i]), e, .125*e)
		u := float64(T(rate/2)) * math.Sqrt(float64(v))
		e = math.Exp(u)
		check("RootExp", float64(v), float64(rooted[i]), e, (2-3*u+.5*u*u)*e)
	}
	if zeros < 100 {
		t.Errorf("only %d results are zero", zeros)
	}
	inf := T(math.Inf(1))
	y := []T{inf, T(math.NaN()), 0}
	RootExp(y, y, -1, 2, -3, .5)
	if y[0] != 0 || y[1] == y[1] || y[2] != 2 {
		t.Errorf("RootExp of Inf, NaN and 0 is %v", y)
	}
	y = []T{inf, -inf, T(math.NaN()), 7}
	ScaledExp(y, y, 7, 1, -2)
	if y[0] != -inf || y[1] != 0 || y[2] == y[2] || y[3] != -2 {
		t.Errorf("ScaledExp of Inf, -Inf, NaN and the shift is %v", y)
	}
}

// Any bits, at any level, as in the portable definition.
func FuzzExp(f *testing.F) {
	f.Add(uint64(0x4086232bdd7abcd2), uint64(0x7ff8000000000001), 1.0, -1.0)
	f.Add(uint64(0xc0862e42fefa39ef), uint64(0x42b17218c2aeac50), 0.0, 1e-300)
	f.Fuzz(func(t *testing.T, a, b uint64, shift, scale float64) {
		v64 := []float64{math.Float64frombits(a), math.Float64frombits(b), shift, scale}
		v32 := []float32{math.Float32frombits(uint32(a)), math.Float32frombits(uint32(a >> 32)),
			math.Float32frombits(uint32(b)), math.Float32frombits(uint32(b >> 32)), float32(shift), float32(scale)}
		alike(t, "float64", func() []float64 { return forms(v64, shift, scale) })
		alike(t, "float32", func() []float32 { return forms(v32, float32(shift), float32(scale)) })
	})
}

// forms returns all three exponentials of x.
func forms[T Float](x []T, shift, scale T) []T {
	all := make([]T, 3*len(x))
	Exp(all, x)
	ScaledExp(all[len(x):], x, shift, -1, scale)
	RootExp(all[2*len(x):], x, -2, scale, shift, 1)
	return all
}
