package release

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// root bounds the square root of n from below, in exact arithmetic.
func root(n int) *big.Rat {
	v := new(big.Float).SetPrec(300).SetInt64(int64(n))
	out, _ := v.Sqrt(v).Rat(nil)
	return out.Mul(out, new(big.Rat).Sub(power(0), power(-200)))
}

// The scale is at least the factor, with its margin, times the sensitivity of the computed
// query: its change, twice its error and twice the rounding to a grid. All
// of it in exact arithmetic.
func TestCalibrate(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range 3000 {
		change := math.Exp((2*rng.Float64() - 1) * math.Log(1e200))
		q := Query{What: "numbers", Coordinates: 1 + rng.IntN(2000), Change: change, Size: change * 100}
		switch i % 3 {
		case 0:
			q.Error = change * math.Exp(-40*rng.Float64())
		case 1:
			q.Error = 10 * change
		}
		factor, all := math.Exp((2*rng.Float64()-1)*9), root(q.Coordinates)
		n, err := Gaussian(q, factor)
		if i%2 == 1 {
			all = new(big.Rat).SetInt64(int64(q.Coordinates))
			n, err = Laplace(q, 1/factor)
			factor = 1 / (1 / factor)
		}
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		query := rat(n.Grid())
		query.Mul(query, power(-33)).Mul(query, all) // the rounding of a query
		want := new(big.Rat).Add(rat(q.Error), query)
		want.Add(want, want).Add(want, rat(q.Change))
		if rat(n.Sensitivity()).Cmp(want) < 0 {
			t.Errorf("%+v: sensitivity %g is too small", q, n.Sensitivity())
		}
		if loose, _ := new(big.Rat).Quo(rat(n.Sensitivity()), want).Float64(); loose > 1+1e-6 {
			t.Errorf("%+v: sensitivity %g is %g times too large", q, n.Sensitivity(), loose)
		}
		want = product(rat(n.Sensitivity()), rat(factor))
		if i%2 == 1 {
			want = new(big.Rat).Quo(rat(n.Sensitivity()), rat(1/factor))
		}
		if rat(n.Scale()).Cmp(want) < 0 {
			t.Errorf("%+v: scale %g for a factor %g", q, n.Scale(), factor)
		}
		if loose := n.Scale() / (n.Sensitivity() * factor); loose > 1+2e-9 {
			t.Errorf("%+v: scale %g is %g times too large", q, n.Scale(), loose)
		}
		if d := n.Describe(); d != (experiment.Noise{
			Law: map[bool]string{false: "gaussian", true: "laplace"}[i%2 == 1], Query: "numbers", Coordinates: q.Coordinates,
			Sensitivity: n.Sensitivity(), Scale: n.Scale(), Grid: n.Grid(),
		}) {
			t.Errorf("%+v", d)
		}
		if i%100 != 0 {
			continue
		}
		point := make([]float64, q.Coordinates)
		for j := range point {
			point[j] = (2*rng.Float64() - 1) * q.Size
		}
		out, err := honest(byte(i)).Add(n, point)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range out {
			if !new(big.Rat).Quo(rat(v), rat(n.Grid())).IsInt() {
				t.Fatalf("%g is no multiple of %g", v, n.Grid())
			}
		}
	}
}

// Where many coordinates make the rounding of queries large, a second grid is
// coarser than the first, and its rounding counts.
func TestCalibrateManyCoordinates(t *testing.T) {
	for _, coordinates := range []int{1 << 30, 1 << 40} {
		t.Run(fmt.Sprint(coordinates), func(t *testing.T) {
			for _, factor := range []float64{1, 1000, 2e5} {
				for i := range 50 {
					q := Query{What: "numbers", Coordinates: coordinates, Change: 1 + float64(i)/50, Size: 1}
					n, err := Laplace(q, 1/factor)
					if err != nil {
						if factor*float64(coordinates) < 1e12 {
							t.Errorf("%+v: %v", q, err)
						}
						continue
					}
					if want := q.Change + float64(coordinates)*n.Grid()*0x1p-32; n.Sensitivity() < want {
						t.Errorf("%+v with factor %g: sensitivity %g, want %g", q, factor, n.Sensitivity(), want)
					}
				}
			}
		})
	}
}

func TestCalibrateRefuses(t *testing.T) {
	good := Query{What: "numbers", Coordinates: 2, Change: 1, Error: 0.5, Size: 10}
	nan, inf := math.NaN(), math.Inf(1)
	change := func(f func(*Query)) Query {
		q := good
		f(&q)
		return q
	}
	for _, c := range []struct {
		name   string
		q      Query
		factor float64
		want   string
	}{
		{"no change", change(func(q *Query) { q.Change = 0 }), 1, "sensitivity of 0"},
		{"negative change", change(func(q *Query) { q.Change = -1 }), 1, "sensitivity of -1"},
		{"change NaN", change(func(q *Query) { q.Change = nan }), 1, "sensitivity of NaN"},
		{"infinite change", change(func(q *Query) { q.Change = inf }), 1, "sensitivity of +Inf"},
		{"negative error", change(func(q *Query) { q.Error = -0.1 }), 1, "rounding error of -0.1"},
		{"error NaN", change(func(q *Query) { q.Error = nan }), 1, "rounding error of NaN"},
		{"infinite error", change(func(q *Query) { q.Error = inf }), 1, "rounding error of +Inf"},
		{"sensitivity overflows", change(func(q *Query) { q.Error = math.MaxFloat64 }), 1, "cannot be drawn"},
		{"no noise", good, 0, "cannot be drawn"},
		{"negative noise", good, -1, "cannot be drawn"},
		{"noise NaN", good, nan, "cannot be drawn"},
		{"infinite noise", good, inf, "cannot be drawn"},
		{"too small", change(func(q *Query) { q.Change = 1e-300 }), 1, "too small or too large"},
		{"too large", change(func(q *Query) { q.Change = 1e290 }), 1, "too small or too large"},
		{"query too large", change(func(q *Query) { q.Size = 1e18 }), 1, "more than 2^60 steps"},
		{"size NaN", change(func(q *Query) { q.Size = nan }), 1, "more than 2^60 steps"},
		{"infinite size", change(func(q *Query) { q.Size = inf }), 1, "more than 2^60 steps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Gaussian(c.q, c.factor); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			_, err := Laplace(c.q, 1/c.factor)
			if err == nil || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "epsilon =") {
				t.Errorf("Laplace: %v; want %q", err, c.want)
			}
		})
	}
	if n, err := Gaussian(good, 1); err != nil || n.Sensitivity() < 2 {
		t.Errorf("%v, %v", n, err)
	}
	for _, epsilon := range []float64{0, -1, nan, inf} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			if _, err := Laplace(good, epsilon); err == nil || !strings.Contains(err.Error(), "epsilon = ") {
				t.Errorf("epsilon = %g: %v", epsilon, err)
			}
		})
	}
}

// Up is above the loss of a few roundings, and by hardly more.
func TestUp(t *testing.T) {
	for _, v := range []float64{1, math.Pi, 1e-300, 1e300, 1 - 0x1p-53, 0x1p-1000} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			low, high := new(big.Rat).Add(power(0), power(-49)), new(big.Rat).Add(power(0), power(-47))
			if up := rat(Up(v)); up.Cmp(product(rat(v), low)) < 0 || up.Cmp(product(rat(v), high)) > 0 {
				t.Errorf("%g becomes %g", v, Up(v))
			}
		})
	}
	if Up(0) != 0 || !math.IsNaN(Up(math.NaN())) {
		t.Error("zero or NaN")
	}
}

// Noise has the law and the spread that are stated.
func TestSpread(t *testing.T) {
	q := Query{What: "numbers", Coordinates: manyDraws, Change: 1, Size: 1}
	gaussian := func(scale float64) func(float64) float64 {
		return func(v float64) float64 { return math.Erfc(-v/scale/math.Sqrt2) / 2 }
	}
	laplace := func(scale float64) func(float64) float64 {
		return func(v float64) float64 {
			if v < 0 {
				return math.Exp(v/scale) / 2
			}
			return 1 - math.Exp(-v/scale)/2
		}
	}
	for i, c := range []struct {
		epsilon float64
		law     func(float64) func(float64) float64
	}{
		{0, gaussian}, {0.25, laplace}, {4, laplace},
	} {
		t.Run(fmt.Sprint(c.epsilon), func(t *testing.T) {
			n, err := Gaussian(q, 2.5)
			if c.epsilon > 0 {
				n, err = Laplace(q, c.epsilon)
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]float64{true: 2.5, false: 1 / c.epsilon}[c.epsilon == 0]; math.Abs(n.Scale()-want) > 1e-3*want {
				t.Errorf("scale %g, want %g", n.Scale(), want)
			}
			s := honest(byte(i))
			out, err := s.Add(n, make([]float64, q.Coordinates))
			if err != nil {
				t.Fatal(err)
			}
			checkLaw(t, out, c.law(n.Scale()))
		})
	}
}
