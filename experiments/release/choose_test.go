package release

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"privkern/runner/experiment"
)

// Candidates come with the probabilities of the exponential mechanism.
func TestChoose(t *testing.T) {
	inf := math.Inf(-1)
	for i, c := range []struct {
		epsilon, change, err float64
		utilities            []float64
	}{
		{1, 1, 0, []float64{0, 0}},
		{1, 1, 0, []float64{0, 1, 2, 3}},
		{0.1, 1, 0, []float64{0, 10, -20, 7, 7}},
		{2, 0.5, 0.25, []float64{1, 2, 3, 1e-9, -1}},
		{3, 1, 1, []float64{inf, 5, 4, inf, 3.5}},
		{1, 1e-100, 0, []float64{3e-100, 1e-100, 2e-100}},
		{1, 1e200, 0, []float64{3e200, 1e200, 2e200}},
		{8, 1, 0, []float64{-1000, -1001, -1000.5}},
		{1, 1, 0, []float64{-7}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s, counts := honest(byte(i)), make([]int, len(c.utilities))
			var draws []Draw
			s.Trace(&draws)
			for range manyDraws {
				draws = draws[:0]
				chosen, err := s.Choose(Choice{"candidate", c.epsilon, c.change, c.err}, c.utilities)
				if err != nil {
					t.Fatal(err)
				}
				counts[chosen]++
				if d := draws[0]; d.Output[0] != float64(chosen) || !slices.Equal(d.Query, c.utilities) || d.Noise != nil {
					t.Fatalf("candidate %d, traced %+v", chosen, d)
				}
			}
			probabilities, best := make([]float64, len(counts)), floats.Max(c.utilities)
			for j, u := range c.utilities {
				probabilities[j] = math.Exp(c.epsilon * (u - best) / (2 * (c.change + 2*c.err)))
				if math.IsInf(u, -1) && counts[j] > 0 {
					t.Errorf("candidate %d is excluded, and was chosen %d times", j, counts[j])
				}
			}
			floats.Scale(1/floats.Sum(probabilities), probabilities)
			checkCounts(t, counts, probabilities)
		})
	}
}

// The rounding of an exponent is less than the reduction of ε for it: a
// utility that moves by all it can moves the computed exponent by at most ε/2, and
// by nearly that.
func TestExponentsStayWithinEpsilon(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 20000 {
		c := Choice{"u", math.Exp(rng.Float64()*20 - 10), math.Exp(400 * (2*rng.Float64() - 1)), 0}
		c.Error = c.Change * float64(rng.IntN(2)) * rng.Float64()
		exact := new(big.Rat).Add(rat(c.Change), product(big.NewRat(2, 1), rat(c.Error)))
		step, _ := exact.Float64()
		u := -step * math.Exp(16*rng.Float64()-1) / c.Epsilon
		moved := u + step
		one, sensitivity, err := c.exponents([]float64{0, u})
		two, _, err2 := c.exponents([]float64{0, moved})
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if rat(sensitivity).Cmp(exact) < 0 {
			t.Fatalf("%+v: sensitivity %g", c, sensitivity)
		}
		// Per unit of the change of the rounded utility.
		share := new(big.Rat).Sub(rat(moved), rat(u))
		share.Quo(share, exact)
		allowed := share.Mul(share, new(big.Rat).Quo(rat(c.Epsilon), big.NewRat(2, 1)))
		change := new(big.Rat).Sub(rat(max(one[1]-one[0], 0)), rat(max(two[1]-two[0], 0)))
		if moved > 0 {
			change = new(big.Rat).Add(rat(one[1]), rat(two[0]))
		}
		// Four exponents take part in a ratio: each may use a quarter of the reduction.
		slack := new(big.Rat).Sub(allowed, change)
		if slack.Cmp(power(-29)) < 0 {
			v, _ := slack.Float64()
			t.Fatalf("%+v: from %g by %g the exponent moves by %g less than it may", c, u, step, v)
		}
		if v, _ := slack.Float64(); -u < 0x1p19*step/c.Epsilon && v > 0x1p-26+1e-9*c.Epsilon {
			t.Fatalf("%+v: from %g by %g the exponent moves by as little as %g below", c, u, step, v)
		}
	}
}

// Probabilities end at exp(−2^20); excluded candidates have none.
func TestExponents(t *testing.T) {
	gamma, sensitivity, err := Choice{"u", 2, 1, 0}.exponents([]float64{-100, 0, math.Inf(-1), -1 << 30, -math.MaxFloat64})
	if err != nil || sensitivity < 1 || math.Abs(gamma[0]-100) > 1e-6 || gamma[1] != 0 ||
		!math.IsInf(gamma[2], 1) || gamma[3] != 1<<20 || gamma[4] != 1<<20 {
		t.Errorf("%v, %g, %v", gamma, sensitivity, err)
	}
	gamma, _, err = Choice{"u", 1, 1, 0}.exponents([]float64{math.MaxFloat64, -math.MaxFloat64})
	if err != nil || gamma[0] != 0 || gamma[1] != 1<<20 {
		t.Errorf("%v, %v", gamma, err)
	}
}

// A candidate that is exp(−30) less likely has a coin of that probability: trials
// fail in whole units, each with probability 1 − 1/e, and no candidate that is
// 1e300 behind hangs the draw.
func TestUnlikelyCandidates(t *testing.T) {
	b, units, times := newBitReader(seeded(1)), make([]int, 8), 0
	for range manyDraws {
		if b.exp(30) {
			times++
		}
		unit := 0
		for unit < len(units)-1 && b.expFloat(1) {
			unit++
		}
		units[unit]++
	}
	if times > 0 {
		t.Errorf("%d successes of probability exp(-30)", times)
	}
	probabilities := make([]float64, len(units))
	for i := range probabilities {
		probabilities[i] = math.Exp(-float64(i)) * (1 - math.Exp(-1))
	}
	probabilities[len(units)-1] = math.Exp(-float64(len(units) - 1))
	checkCounts(t, units, probabilities)
	// The coin succeeds where each unit does: a uniform number up to one, and the
	// next above it, is a run of length one, which fails; one and then a smaller one
	// a run of length two, which succeeds.
	success := []uint32{2 << 30, 1 << 30, 3 << 30}
	for _, c := range []struct {
		units int
		last  uint32 // against the half that is left of 30.5
		want  bool
	}{{30, 3 << 30, true}, {29, 3 << 30, false}, {30, 1 << 30, false}} {
		t.Run(fmt.Sprintf("%d units, then %x", c.units, c.last), func(t *testing.T) {
			var chunks []uint32
			for range c.units {
				chunks = append(chunks, success...)
			}
			if c.units < 30 {
				chunks = append(chunks, 1<<30, 3<<30)
			}
			b, _ := crafted(append(chunks, c.last, 3<<30)...)
			if got := b.exp(30.5); got != c.want {
				t.Errorf("%d units, then %x: %t", c.units, c.last, got)
			}
		})
	}
	s := honest(2)
	for _, utilities := range [][]float64{{-1e300, 1e300}, {-math.MaxFloat64, math.MaxFloat64}, {-1e300, 0}} {
		t.Run(fmt.Sprint(utilities), func(t *testing.T) {
			if chosen, err := s.Choose(Choice{"candidate", 1, 1, 0}, utilities); chosen != 1 || err != nil {
				t.Errorf("%v: %d, %v", utilities, chosen, err)
			}
		})
	}
}

func TestChooseRefuses(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	good := []float64{1, 2}
	for _, c := range []struct {
		name      string
		choice    Choice
		utilities []float64
		want      string
	}{
		{"utility NaN", Choice{"u", 1, 1, 0}, []float64{1, nan}, "utility 1 is NaN"},
		{"infinite utility", Choice{"u", 1, 1, 0}, []float64{inf, 0}, "utility 0 is +Inf"},
		{"all excluded", Choice{"u", 1, 1, 0}, []float64{-inf, -inf}, "nothing to choose from"},
		{"no candidates", Choice{"u", 1, 1, 0}, nil, "nothing to choose from"},
		{"no epsilon", Choice{"u", 0, 1, 0}, good, "epsilon = 0"},
		{"epsilon below rounding", Choice{"u", 0x1p-26, 1, 0}, good, "epsilon = 1.49"},
		{"negative epsilon", Choice{"u", -1, 1, 0}, good, "epsilon = -1"},
		{"epsilon NaN", Choice{"u", nan, 1, 0}, good, "epsilon = NaN"},
		{"infinite epsilon", Choice{"u", inf, 1, 0}, good, "epsilon = +Inf"},
		{"no change", Choice{"u", 1, 0, 0}, good, "sensitivity of 0"},
		{"change NaN", Choice{"u", 1, nan, 0}, good, "sensitivity of NaN"},
		{"no change with an error", Choice{"u", 1, 0, 1}, good, "sensitivity of 0 with"},
		{"negative change", Choice{"u", 1, -1, 0}, good, "sensitivity of -1"},
		{"negative change with an error", Choice{"u", 1, -1, 2}, good, "sensitivity of -1"},
		{"negative error", Choice{"u", 1, 1, -0.1}, good, "error of -0.1"},
		{"error NaN", Choice{"u", 1, 1, nan}, good, "error of NaN"},
		{"infinite change", Choice{"u", 1, inf, 0}, good, "sensitivity of +Inf"},
		{"change overflows", Choice{"u", 1, math.MaxFloat64, math.MaxFloat64}, good, "no positive, finite number"},
		{"change underflows", Choice{"u", 1, 1e-320, 0}, good, "too small"},
	} {
		t.Run(c.name, func(t *testing.T) {
			entropy := &byteCounter{from: seeded(1)}
			s := Unbooked(entropy)
			if i, err := s.Choose(c.choice, c.utilities); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d, %v; want %q", i, err, c.want)
			}
			if entropy.n > 0 || len(s.Drawn()) > 0 {
				t.Errorf("%d bytes are drawn, %+v", entropy.n, s.Drawn())
			}
		})
	}
	if _, err := honest(1).Choose(Choice{"u", 0x1.01p-26, 1, 0}, good); err != nil {
		t.Error(err)
	}
}

// The error of utilities counts twice.
func TestChooseSensitivity(t *testing.T) {
	s := honest(1)
	if _, err := s.Choose(Choice{"u", 1, 0.1, 0.3}, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	want := new(big.Rat).Add(rat(0.1), product(big.NewRat(2, 1), rat(0.3)))
	if got := rat(s.Drawn()[0].Sensitivity); got.Cmp(want) < 0 || math.Abs(s.Drawn()[0].Sensitivity-0.7) > 1e-12 {
		t.Errorf("sensitivity %v", s.Drawn()[0])
	}
	drawn := s.Drawn()[0]
	drawn.Sensitivity = 0
	if drawn != (experiment.Noise{Law: "exponential mechanism", Query: "u", Coordinates: 1}) {
		t.Errorf("%+v", drawn)
	}
}
