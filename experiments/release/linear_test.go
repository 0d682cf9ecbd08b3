package release

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// precision holds sums of products of float64 of any size, exactly.
const precision = 4500

func float(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

// problem is a public matrix with bounds on private numbers, and such numbers.
type problem struct {
	q          *mat.Dense
	largest, x []float64
}

// problems are matrices whose sums cancel, are of wildly different scales, lie
// near the smallest float64, or are long.
func problems(rng *rand.Rand) map[string]problem {
	out := map[string]problem{}
	make1 := func(name string, r, n int, f func(i, j int) (q, largest, x float64)) {
		p := problem{mat.NewDense(r, n, nil), make([]float64, n), make([]float64, n)}
		for i := range r {
			for j := range n {
				q, largest, x := f(i, j)
				p.q.Set(i, j, q)
				p.largest[j] = max(p.largest[j], largest, math.Abs(x))
				p.x[j] = x
			}
		}
		out[name] = p
	}
	unit := func() float64 { return 2*rng.Float64() - 1 }
	make1("plain", 5, 40, func(int, int) (float64, float64, float64) { return unit(), 1, unit() })
	make1("at the bound", 5, 40, func(int, int) (float64, float64, float64) { return unit(), 0, math.Pi })
	make1("long", 3, 5000, func(int, int) (float64, float64, float64) { return unit(), 1, unit() })
	make1("one number", 1, 1, func(int, int) (float64, float64, float64) { return 1. / 3, 0, 0.1 })
	make1("tenths", 2, 1000, func(int, int) (float64, float64, float64) { return 0.1, 0, 0.1 })
	make1("cancels", 3, 2001, func(i, j int) (float64, float64, float64) {
		if j%2 == 1 {
			return -math.Pi * float64(i+1), 0, 1.1
		}
		return math.Pi * float64(i+1) * (1 + 0x1p-50*float64(j%7)), 0, 1.1
	})
	make1("swallows", 2, 1500, func(_, j int) (float64, float64, float64) {
		if j == 0 {
			return 1, 0, 1
		}
		return 0x1p-53 * (1 + rng.Float64()/2), 0, 1 // every one is rounded away
	})
	make1("scales", 4, 300, func(int, int) (float64, float64, float64) {
		return unit() * math.Exp(200*unit()), 0, unit() * math.Exp(200*unit())
	})
	make1("products underflow", 4, 300, func(int, int) (float64, float64, float64) {
		return unit() * 1e-165, 0, unit() * 1e-158
	})
	make1("errors underflow when squared", 4, 300, func(int, int) (float64, float64, float64) {
		return unit() * 1e-150, 0, unit()
	})
	make1("smallest", 4, 300, func(int, int) (float64, float64, float64) { return unit() * 1e-302, 0, unit() * 1e-12 })
	// Its norms are scaled anew at every element.
	make1("rising", 300, 4, func(i, _ int) (float64, float64, float64) {
		return math.Pow(1.01, float64(i)) * (1 + rng.Float64()/200), 0, unit()
	})
	// Their squares are rounded away.
	make1("swallows in the norm", 2000, 2, func(i, j int) (float64, float64, float64) {
		if i == 0 && j == 0 {
			return 1, 0, unit()
		}
		return math.Sqrt(0.9 * 0x1p-53), 0, unit()
	})
	make1("zero bounds", 3, 20, func(_, j int) (float64, float64, float64) { return unit(), 0, float64(j % 2) })
	make1("all zero", 3, 20, func(int, int) (float64, float64, float64) { return unit(), 0, 0 })
	return out
}

// The error that a query states is not exceeded, its size neither, and its change
// is that of the matrix that is applied, to ten digits.
func TestLinear(t *testing.T) {
	const change = 0.3
	for name, p := range problems(rand.New(rand.NewPCG(13, 14))) {
		t.Run(name, func(t *testing.T) {
			r, n := p.q.Dims()
			l, err := NewLinear("products", p.q, change, nil, p.largest)
			if err != nil {
				t.Fatal(err)
			}
			q := l.Query()
			if q.What != "products" || q.Coordinates != r {
				t.Errorf("%+v", q)
			}
			got, err := l.Of(p.x)
			if err != nil {
				t.Fatal(err)
			}
			square := float(0)
			for i, v := range got {
				exact := float(0)
				for j, x := range p.x {
					exact.Add(exact, float(0).Mul(float(p.q.At(i, j)), float(x)))
				}
				off := exact.Sub(exact, float(v))
				square.Add(square, float(0).Mul(off, off))
				if math.Abs(v) > q.Size {
					t.Errorf("coordinate %d is %g, the bound %g", i, v, q.Size)
				}
			}
			if square.Cmp(float(0).Mul(float(q.Error), float(q.Error))) > 0 {
				t.Errorf("off by %g, the bound is %g", square.Sqrt(square), q.Error)
			}
			largest := float(0)
			for j := range n {
				norm := float(0)
				for i := range r {
					norm.Add(norm, float(0).Mul(float(p.q.At(i, j)), float(p.q.At(i, j))))
				}
				if norm.Cmp(largest) > 0 {
					largest = norm
				}
			}
			largest.Sqrt(largest).Mul(largest, float(change))
			if largest.Cmp(float(q.Change)) > 0 {
				t.Errorf("change %g, a column has %g", q.Change, largest)
			}
			if largest.Cmp(float(q.Change/(1+1e-10))) < 0 {
				t.Errorf("change %g, the largest column has %g", q.Change, largest)
			}
		})
	}
}

// The bound on the size is reached by no sum that is rounded upwards.
func TestLinearSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for i := range 300 {
		n := 1 + rng.IntN(300)
		p := problem{mat.NewDense(1, n, nil), make([]float64, n), make([]float64, n)}
		for j := range n {
			p.q.Set(0, j, rng.NormFloat64())
			p.largest[j] = rng.ExpFloat64()
			p.x[j] = math.Copysign(p.largest[j], p.q.At(0, j))
		}
		l, err := NewLinear("sum", p.q, 1, nil, p.largest)
		if err != nil {
			t.Fatal(err)
		}
		v, err := l.Of(p.x)
		if err != nil || v[0] > l.Query().Size || v[0] < l.Query().Size*(1-1e-10) {
			t.Fatalf("%d: %v of at most %g, %v", i, v, l.Query().Size, err)
		}
		noise, err := Gaussian(l.Query(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := honest(1).Add(noise, v); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLinearRefuses(t *testing.T) {
	q := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	for _, c := range []struct {
		name    string
		at      float64
		largest []float64
	}{
		{"NaN", math.NaN(), []float64{1, 1, 1}},
		{"infinite", math.Inf(-1), []float64{1, 1, 1}},
		{"bound NaN", 1, []float64{1, math.NaN(), 1}},
		{"infinite bound", 1, []float64{1, 1, math.Inf(1)}},
		{"few bounds", 1, []float64{1, 1}},
		{"many bounds", 1, []float64{1, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mat.DenseCopyOf(q)
			m.Set(1, 1, c.at)
			if _, err := NewLinear("products", m, 1, nil, c.largest); err == nil {
				t.Error("accepted")
			}
		})
	}
	// Denormal numbers have too few digits for bounds.
	if _, err := NewLinear("products", mat.NewDense(1, 1, []float64{1e-308}), 0.01, nil, []float64{1}); err == nil {
		t.Error("a denormal sensitivity is accepted")
	}
	bounds := []float64{1, 0, 2}
	l, err := NewLinear("products", q, 1, nil, bounds)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		x          []float64
	}{
		{"few", "2 private numbers for 3 columns", []float64{1, 0}},
		{"many", "4 private numbers for 3 columns", []float64{1, 0, 1, 1}},
		{"beyond", "beyond its bound", []float64{1, 0, math.Nextafter(2, 3)}},
		{"beyond below", "beyond its bound", []float64{-1.5, 0, 2}},
		{"beyond zero", "beyond its bound", []float64{1, math.SmallestNonzeroFloat64, 2}},
		{"NaN", "beyond its bound", []float64{math.NaN(), 0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := l.Of(c.x); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
	if v, err := l.Of([]float64{1, 0, -2}); err != nil || fmt.Sprint(v) != "[-5 -8]" {
		t.Errorf("%v, %v", v, err)
	}
}
