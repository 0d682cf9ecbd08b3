package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Probabilities with 60 digits, from the exact values of the floating-point
// inputs (Python: decimal.Decimal, getcontext().prec = 60), rounded to 18.
var exponentialReference = []struct {
	m         Exponential
	utilities []float64
	want      []float64
}{
	{Exponential{1, 9}, []float64{-12.5, -13, -20, -400},
		[]float64{3.79961570325677985e-1, 3.69552324430912674e-1, 2.50486105073450181e-1, 1.69959160536745490e-10}},
	{Exponential{0.5, 1}, []float64{0, 1, 2, 3},
		[]float64{1.65296176671120019e-1, 2.12244492127025416e-1, 2.72527322443081877e-1, 3.49932008758772688e-1}},
	{Exponential{1, 0.001}, []float64{-1, -1.5, -2.25},
		[]float64{1, 2.66919021554129028e-109, 3.68085585480184849e-272}},
	// A common offset far above the differences.
	{Exponential{2, 1}, []float64{1e15, 1e15 - 3, 1e15 - 600},
		[]float64{9.52574126822433219e-1, 4.74258731775667809e-2, 2.52469918221126822e-261}},
	// Differences that overflow, and subnormal numbers.
	{Exponential{1, 1e308}, []float64{1.5e308, -1.5e308, math.Inf(-1)},
		[]float64{8.17574476193643660e-1, 1.82425523806356340e-1, 0}},
	{Exponential{3, 1e-310}, []float64{2e-310, 0, -4e-309},
		[]float64{9.52574126822433219e-1, 4.74258731775667809e-2, 4.15285168909582186e-28}},
	{Exponential{1, 1}, []float64{1e-9, 0},
		[]float64{5.00000000125e-1, 4.99999999875e-1}},
	{Exponential{1e-3, 1}, []float64{-1e5, -1.2e6, -3e5},
		[]float64{1, 1.37415256613094128e-239, 3.72007597602082822e-44}},
	{Exponential{1, 1}, []float64{-7}, []float64{1}},
}

func TestExponentialProbabilities(t *testing.T) {
	for _, c := range exponentialReference {
		got, err := c.m.Probabilities(c.utilities)
		if err != nil {
			t.Fatalf("%+v %v: %v", c.m, c.utilities, err)
		}
		for i, want := range c.want {
			if !(math.Abs(got[i]-want) <= 1e-12*want) {
				t.Errorf("%+v %v: probability %d is %.17g, want %.17g", c.m, c.utilities, i, got[i], want)
			}
		}
	}
}

// The guarantee of the mechanism: when every utility changes by at most Δ, no
// probability changes by more than a factor e^ε. The factor is reached where
// the chosen one gains Δ and all others, many of them, lose Δ.
func TestExponentialIsPrivate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := Exponential{Epsilon: 0.7, Sensitivity: 2.5}
	bound := math.Exp(m.Epsilon)
	largest := func(u, v []float64) float64 {
		p, errP := m.Probabilities(u)
		q, errQ := m.Probabilities(v)
		if err := errors.Join(errP, errQ); err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range p {
			worst = max(worst, p[i]/q[i], q[i]/p[i])
		}
		return worst
	}
	for range 2000 {
		u := make([]float64, 1+rng.IntN(20))
		v := make([]float64, len(u))
		for i := range u {
			u[i] = 30 * rng.NormFloat64()
			v[i] = u[i] + m.Sensitivity*(2*rng.Float64()-1)
		}
		if got := largest(u, v); got > bound*(1+1e-12) {
			t.Fatalf("a probability changes by the factor %g, allowed is %g; utilities %v and %v", got, bound, u, v)
		}
	}
	u, v := make([]float64, 100_000), make([]float64, 100_000)
	for i := range v {
		v[i] = -m.Sensitivity
	}
	v[0] = m.Sensitivity
	if got := largest(u, v); got > bound || got < 0.999*bound {
		t.Errorf("the worst case changes a probability by %g, not by nearly %g", got, bound)
	}
}

// χ² of 200,000 draws over four candidates, three degrees of freedom: 16.27 is
// the 0.1 % point. The excluded one is never drawn.
func TestExponentialChoices(t *testing.T) {
	m := Exponential{Epsilon: 1, Sensitivity: 1}
	utilities := []float64{0, -1, math.Inf(-1), -4, -2.5}
	p, err := m.Probabilities(utilities)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200_000
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 9))
		counts := make([]float64, len(p))
		for range n {
			i, err := m.Choose(utilities, rng)
			if err != nil {
				t.Fatal(err)
			}
			counts[i]++
		}
		if counts[2] != 0 {
			t.Errorf("seed %d: the excluded candidate was chosen %g times", seed, counts[2])
		}
		square := 0.0
		for i, v := range p {
			if v > 0 {
				d := counts[i] - n*v
				square += d * d / (n * v)
			}
		}
		if square > 16.27 {
			t.Errorf("seed %d: χ² = %g, counts %v for probabilities %v", seed, square, counts, p)
		}
	}
}

// The distribution function is inverted, ends included, and rounding never
// leads to a candidate of probability zero.
func TestExponentialChoiceInverts(t *testing.T) {
	p := []float64{0, 0.25, 0, 0.5, 0.25 - 1e-16, 0}
	for _, c := range []struct {
		u    float64
		want int
	}{{0x1p-53, 1}, {0.2499, 1}, {0.25, 3}, {0.7499, 3}, {0.75, 4}, {1 - 0x1p-53, 4}} {
		t.Run(fmt.Sprint(c.u), func(t *testing.T) {
			if got := choose(p, c.u); got != c.want {
				t.Errorf("at %v candidate %d is chosen, want %d", c.u, got, c.want)
			}
		})
	}
	m := Exponential{Epsilon: 1, Sensitivity: 1}
	var one, two []int
	for _, out := range []*[]int{&one, &two} {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 20 {
			i, err := m.Choose([]float64{0, 0.5, 1}, rng)
			if err != nil {
				t.Fatal(err)
			}
			*out = append(*out, i)
		}
	}
	if !slices.Equal(one, two) {
		t.Errorf("equal streams choose %v and %v", one, two)
	}
}

func TestExponentialRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := []float64{1, 2}
	for _, c := range []struct {
		m         Exponential
		utilities []float64
		want      string
	}{
		{Exponential{0, 1}, good, "epsilon = 0"}, {Exponential{-1, 1}, good, "epsilon = -1"},
		{Exponential{inf, 1}, good, "epsilon = +Inf"}, {Exponential{nan, 1}, good, "epsilon = NaN"},
		{Exponential{1, 0}, good, "sensitivity = 0"}, {Exponential{1, -2}, good, "sensitivity = -2"},
		{Exponential{1, inf}, good, "sensitivity = +Inf"}, {Exponential{1, nan}, good, "sensitivity = NaN"},
		{Exponential{1, 1}, nil, "no utilities"},
		{Exponential{1, 1}, []float64{0, nan}, "utility 1 is NaN"},
		{Exponential{1, 1}, []float64{inf, 0}, "utility 0 is +Inf"},
		{Exponential{1, 1}, []float64{-inf, -inf}, "all 2 utilities are -Inf"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := c.m.Choose(c.utilities, rand.New(rand.NewPCG(1, 1))); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v %v: %v; want an error with %q", c.m, c.utilities, err, c.want)
			}
		})
	}
	var refused *Error
	if err := (Exponential{1, 0}).Validate(); !errors.As(err, &refused) || refused.Parameter != "sensitivity" {
		t.Errorf("a sensitivity of 0: %v", err)
	}
}
