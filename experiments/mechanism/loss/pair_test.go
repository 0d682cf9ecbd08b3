package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// normal is the density of N(at, 1), and beyond its probability of more than x.
func normal(x, at float64) float64 { return math.Exp(-(x-at)*(x-at)/2) / math.Sqrt(2*math.Pi) }
func beyond(x, at float64) float64 { return math.Erfc((x-at)/math.Sqrt2) / 2 }

// apart returns δ(ε) of (1−q) N(0, 1) + q N(m, 1) from its mirror image: the likelihood ratio rises, and the set with
// more than e^ε is found by bisection.
func apart(m, q, epsilon float64) float64 {
	low, high := -60.0, 60.0
	for range 200 {
		x := (low + high) / 2
		if (1-q)*normal(x, 0)+q*normal(x, m) > math.Exp(epsilon)*((1-q)*normal(x, 0)+q*normal(x, -m)) {
			high = x
		} else {
			low = x
		}
	}
	return (1-q)*beyond(high, 0) + q*beyond(high, m) - math.Exp(epsilon)*((1-q)*beyond(high, 0)+q*beyond(high, -m))
}

// samples of a unit that is substituted.
var samples = []struct{ size, rate float64 }{{0.2, 0.5}, {1, 0.01}, {2, 0.1}, {2, 0.9}, {6, 0.3}}

// The curve of a sample with a substituted unit is that of its pair, from above, at negative ε as well.
func TestSubstitutedPair(t *testing.T) {
	for _, c := range samples {
		for _, level := range []float64{0.1, 1e-4} {
			t.Run(fmt.Sprintf("%+v/%g", c, level), func(t *testing.T) {
				l := experiment.Loss{Law: substituted, Size: c.size, Rate: c.rate, Times: 1}
				curve := distributions([]experiment.Loss{l}, level)[0].curve(level)
				tight := 0
				for i := 0; i < len(curve.delta); i += 1 + len(curve.delta)/100 {
					epsilon := float64(curve.at+i) * curve.h
					want, got := apart(c.size/2, c.rate, epsilon), curve.delta[i]
					if got < want*(1-1e-9) {
						t.Fatalf("delta %g at %g, exactly %g", got, epsilon, want)
					}
					if want > level/10 && got <= want*1.005 {
						tight++
					}
				}
				if tight < 5 {
					t.Errorf("%d points of the curve are near the exact one", tight)
				}
			})
		}
	}
}

// No neighbours have a larger δ than the pair: three normal distributions in the plane, two of which are at most m from
// the first, in any direction.
func TestSubstitutedNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const step = 0.05
	for _, c := range samples {
		m, q := c.size/2, c.rate
		for range 6 {
			alpha := math.Exp(2 * rng.Float64() * c.size * q)
			var unit [2][2]float64 // the vectors of the old and the new unit
			for i := range unit {
				sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
				length := m * math.Sqrt(rng.Float64())
				unit[i] = [2]float64{length * cos, length * sin}
			}
			var delta float64
			for x := -6 - m; x < 6+m; x += step {
				for y := -6 - m; y < 6+m; y += step {
					without := (1 - q) * normal(x, 0) * normal(y, 0)
					old := without + q*normal(x, unit[0][0])*normal(y, unit[0][1])
					substitute := without + q*normal(x, unit[1][0])*normal(y, unit[1][1])
					delta += max(0, old-alpha*substitute) * step * step
				}
			}
			if most := apart(m, q, math.Log(alpha)); delta > most+1e-5 {
				t.Errorf("%+v: units %v have delta %g at %g, the pair %g", c, unit, delta, math.Log(alpha), most)
			}
		}
	}
}

// Where nearly all units are in a sample it is the whole, and where one is substituted ε is at least that where it is
// removed, and at most that of a removal and an addition.
func TestSubstitutedBounds(t *testing.T) {
	epsilon := func(t *testing.T, l experiment.Loss, delta float64) float64 {
		got, err := Epsilon([]experiment.Loss{l}, delta)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		size, rate float64
		times      int
	}{{2, 0.01, 500}, {0.5, 0.1, 100}, {0.6, 0.5, 10}, {1, 0.9, 3}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			const delta = 1e-6
			l := experiment.Loss{Law: substituted, Size: c.size, Rate: c.rate, Times: c.times}
			removed := experiment.Loss{Law: subsampled, Size: c.size / 2, Rate: c.rate, Times: c.times}
			if got, one := epsilon(t, l, delta), epsilon(t, removed, delta); got < one {
				t.Errorf("epsilon %g is below %g of a removal", got, one)
			}
			const part = 1e-9
			one := epsilon(t, removed, part)
			if two := epsilon(t, l, part*(1+math.Exp(one))); two > 2*one { // δ at 2ε of two changes
				t.Errorf("epsilon %g is above 2·%g of a removal and an addition", two, one)
			}
			l.Rate = 1 - 1e-9
			all, err := mechanism.GDP(c.size * math.Sqrt(float64(c.times))).Epsilon(delta)
			if err != nil {
				t.Fatal(err)
			}
			if got := epsilon(t, l, delta); math.Abs(got-all) > 2e-3*all {
				t.Errorf("epsilon %g of nearly all units, %g of all", got, all)
			}
		})
	}
}
