package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"privkern/runner/claims/ledger"
)

// draws are the reproductions of a simulation.
type draws struct {
	mean   []float64 // of our trials, around 0, in units of their deviation
	spread []spread
}

// simulate draws reproductions of n trials. One trial has the deviation of a pool of 20
// degrees of freedom.
func simulate(rng *rand.Rand, n, repetitions int) draws {
	var out draws
	values := make([]float64, n)
	for range repetitions {
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		shared := pools{}
		cl := &ledger.Claim{Cell: &ledger.Cell{}}
		cl.Primary = true
		if n <= leastFreedom {
			cl.Pool = &ledger.Pool{Name: "p"}
			for range 5 {
				five := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
				shared.add(cl, &sample{values: five})
			}
		}
		s, unknown := shared.spreadOf(cl, &sample{values: values})
		if unknown != "" {
			panic(unknown)
		}
		_, mean := variance(values)
		out.mean, out.spread = append(out.mean, mean), append(out.spread, s)
	}
	return out
}

// share is how often a print of k draws, displaced by some deviations of the difference,
// is inside: its rounding grid of width 2h lies anywhere.
func (d draws) share(rng *rand.Rand, n int, k, h, displaced float64) float64 {
	inside := 0
	deviation := math.Sqrt(1/k + 1/float64(n))
	cl := &ledger.Claim{Cell: &ledger.Cell{}}
	cl.Draws = k
	for i, mean := range d.mean {
		drawn := rng.NormFloat64()/math.Sqrt(k) + displaced*deviation
		grid := h * (2*rng.Float64() - 1)
		p := &ledger.Number{Value: drawn, Rounding: h, Relation: ledger.Equal}
		if h > 0 {
			p.Value = grid + 2*h*math.Round((drawn-grid)/(2*h))
		}
		cl.Printed = p
		s := d.spread[i]
		if decide(mean, p, halfWidth(h, printedVariance(cl, s)+s.mean, s.freedom), nil) == Match {
			inside++
		}
	}
	return float64(inside) / float64(len(d.mean))
}

// An exact reproduction lies inside its band with the probability that the band states, for all
// numbers of trials and of draws behind the print; and a shift of five deviations of the
// difference is found.
func TestCalibration(t *testing.T) {
	const repetitions = 20_000
	for _, n := range []int{1, 5, 10, 20, 100} {
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		d := simulate(rng, n, repetitions)
		for _, k := range []float64{0.01, 1, 10} {
			t.Run(fmt.Sprintf("n=%d k=%g", n, k), func(t *testing.T) {
				for _, h := range []float64{0, 0.1, 0.3, 0.5, 1, 2, 5, 20} {
					inside := d.share(rng, n, k, h, 0)
					least, most := 0.94, 1.0
					switch {
					case n == 5 && k == 10 && h == 0.3:
						// Student's quantile of 4 degrees of freedom applies to the rounding too,
						// which has no uncertainty: 0.9642.
						most = 0.97
					case h <= 0.3:
						most = 0.96
					}
					if inside < least || inside > most {
						t.Errorf("h = %g: %.4f inside, not in [%g, %g]", h, inside, least, most)
					}
					if h > 0.3 {
						continue
					}
					if found := 1 - d.share(rng, n, k, h, 5); found < 0.9 {
						t.Errorf("h = %g: a shift of five deviations is found in %.4f", h, found)
					}
				}
			})
		}
	}
}

// A mean of cells with one trial each is inside at least as often, whether the trials of a seed
// are independent or share all their draws; so is the print.
func TestCalibrationOfMeans(t *testing.T) {
	const repetitions, cells = 20_000, 6
	rng := rand.New(rand.NewPCG(9, 1))
	mean := &ledger.Claim{Cell: &ledger.Cell{}}
	mean.Draws = 1
	member := &ledger.Claim{Cell: &ledger.Cell{}}
	member.Primary, member.Pool = true, &ledger.Pool{Name: "p"}
	one := &sample{values: []float64{0}}
	all := &sample{values: []float64{0}}
	for range cells {
		mean.Members, all.members = append(mean.Members, member), append(all.members, one)
	}
	drawn := func(shared bool) (mean float64) {
		if shared {
			return rng.NormFloat64()
		}
		for range cells {
			mean += rng.NormFloat64() / cells
		}
		return mean
	}
	for _, shared := range [][2]bool{{false, false}, {true, false}, {true, true}} {
		inside := 0
		for range repetitions {
			p := pools{}
			five := make([]float64, 5)
			for range 5 { // 20 degrees of freedom
				for i := range five {
					five[i] = rng.NormFloat64()
				}
				p.add(member, &sample{values: five})
			}
			s, unknown := p.spreadOf(mean, all)
			if unknown != "" {
				t.Fatal(unknown)
			}
			if math.Abs(drawn(shared[0])-drawn(shared[1])) <= halfWidth(0, printedVariance(mean, s)+s.mean, s.freedom) {
				inside++
			}
		}
		share := float64(inside) / repetitions
		if share < 0.94 || shared[0] && shared[1] && share > 0.96 {
			t.Errorf("draws shared by ours and the print %v: %.4f inside", shared, share)
		}
	}
}

// The expected share that tables print is that of the simulation.
func TestCoverage(t *testing.T) {
	const repetitions = 20_000
	for _, n := range []int{1, 10, 100} {
		rng := rand.New(rand.NewPCG(8, uint64(n)))
		d := simulate(rng, n, repetitions)
		for _, k := range []float64{0.01, 1, 10} {
			for _, h := range []float64{0, 0.3, 1, 5} {
				want := d.share(rng, n, k, h, 0)
				s := d.spread[0]
				s.trial, s.mean = 1, 1/float64(n)
				if got := newBand(h, 1/k, s).Coverage; math.Abs(got-want) > 0.01 {
					t.Errorf("n = %d, k = %g, h = %g: %.4f expected, %.4f simulated", n, k, h, got, want)
				}
			}
		}
	}
}

// Student's quantiles of 97.5 % (NIST/SEMATECH e-Handbook, table 1.3.6.7.2).
func TestQuantile(t *testing.T) {
	for freedom, want := range map[float64]float64{4: 2.776, 5: 2.571, 9: 2.262, 20: 2.086, 99: 1.984,
		math.Inf(1): 1.960} {
		if got := quantile(0.975, freedom); math.Abs(got-want) > 5.1e-4 {
			t.Errorf("%v degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
}
