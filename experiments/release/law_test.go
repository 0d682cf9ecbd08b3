package release

import (
	"math"
	"testing"
)

// lawDraws are enough to see numbers beyond four standard deviations.
const lawDraws = 1 << 19

// The laws of magnitudes: whole part and fraction together, their tails, and the
// numbers as such.
func TestLaws(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(*bitReader) magnitude
		tail func(float64) float64 // P(m > v)
		far  uint32
	}{
		{"normal", (*bitReader).normal, func(v float64) float64 { return math.Erfc(v / math.Sqrt2) }, 4},
		{"exponential", (*bitReader).exponential, func(v float64) float64 { return math.Exp(-v) }, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			const parts = 16 // of a unit
			b := newBitReader(seeded(5))
			sample, cells, low := make([]float64, lawDraws), make([]int, int(c.far)*parts+1), make([]int, 64)
			far, farther := 0, 0
			for i := range sample {
				m := c.draw(b)
				sample[i] = float64(m.whole) + math.Ldexp(float64(m.fraction.first)+0.5, -32)
				cells[min(int(m.whole)*parts+int(m.fraction.first>>28), len(cells)-1)]++
				low[m.fraction.first&63]++
				if m.whole >= c.far {
					far++
				}
				if m.whole > c.far {
					farther++
				}
			}
			probabilities := make([]float64, len(cells))
			for i := range probabilities {
				probabilities[i] = c.tail(float64(i) / parts)
				if i < len(cells)-1 {
					probabilities[i] -= c.tail(float64(i+1) / parts)
				}
			}
			checkCounts(t, cells, probabilities)
			checkLaw(t, sample, func(v float64) float64 { return 1 - c.tail(v) })
			uniform := make([]float64, len(low))
			for i := range uniform {
				uniform[i] = 1. / 64
			}
			checkCounts(t, low, uniform)
			checkShare(t, far, lawDraws, c.tail(float64(c.far)))
			if want := lawDraws * c.tail(float64(c.far)+1); float64(farther) > want+5*math.Sqrt(want)+5 {
				t.Errorf("%d beyond %d, %.2g expected", farther, c.far+1, want)
			}
		})
	}
}

// Draws that follow one another are independent: the quarters of the law in which
// two lie.
func TestDrawsAreIndependent(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(*bitReader) magnitude
		tail func(float64) float64
	}{
		"normal":      {(*bitReader).normal, func(v float64) float64 { return math.Erfc(v / math.Sqrt2) }},
		"exponential": {(*bitReader).exponential, func(v float64) float64 { return math.Exp(-v) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBitReader(seeded(6))
			counts, probabilities := make([]int, 16), make([]float64, 16)
			quarter := func() int {
				m := c.draw(b)
				return min(3, int(4*c.tail(float64(m.whole)+math.Ldexp(float64(m.fraction.first), -32))))
			}
			for range manyDraws {
				first := quarter()
				counts[4*first+quarter()]++
			}
			for i := range probabilities {
				probabilities[i] = 1. / 16
			}
			checkCounts(t, counts, probabilities)
		})
	}
}
