package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"privkern/experiments/mechanism"
)

// The bound of μ is below the truth with the stated confidence, and near it.
func TestMuAtLeast(t *testing.T) {
	const n, samples, confidence = 2000, 400, 0.8
	for _, mu := range []float64{0.1, 1, 5} {
		t.Run(fmt.Sprint(mu), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(mu*10)))
			above, sum := 0, 0.0
			for range samples {
				first, second := make([]float64, n), make([]float64, n)
				for i := range n {
					first[i], second[i] = 3*rng.NormFloat64(), 3*(rng.NormFloat64()-mu)
				}
				m0, v0 := moments(first)
				m1, v1 := moments(second)
				bound := MuAtLeast(m0, m1, math.Sqrt((v0+v1)/2), n, confidence)
				sum += bound
				if bound > mu {
					above++
				}
			}
			// One side of a two-sided bound: 10 % are expected, 40 ± 6.
			if above > 64 || above < 16 {
				t.Errorf("%d of %d bounds are above the truth", above, samples)
			}
			if mean := sum / samples; mean < mu-0.1-0.05*mu {
				t.Errorf("the mean bound is %g", mean)
			}
		})
	}
	if got := MuAtLeast(1, 1, 0, 100, 0.9); got != 0 {
		t.Errorf("constant and equal outputs give %g", got)
	}
	if got := MuAtLeast(1, 2, 0, 100, 0.9); !math.IsInf(got, 1) {
		t.Errorf("constant and different outputs give %g", got)
	}
}

// The power that is stated. ×.85 of the analytic noise at (1, .01) is found by the
// black box alone and by the Gaussian bound. With n draws in the test, P = .1 and
// P' = .028, P − eP' deviates by .54/√n, and Clopper and Pearson's bounds take
// off 2.5/√n: of the exact δ, .0234, the 6.5th deviation is above .01 at the default
// size, the fourth at the size that is tried here besides. The bound serves where δ
// is too small for events, too. The analytic noise itself is exactly as private as it
// claims: at the confidence .999 a false alarm of either kind is one in 2000.
func TestPower(t *testing.T) {
	of := seeds(5)
	tight, small := mechanism.Guarantee{Epsilon: 1, Delta: 0.01}, mechanism.Guarantee{Epsilon: 1, Delta: 1e-6}
	for _, c := range []struct {
		name     string
		claim    mechanism.Guarantee
		multiple float64
		draws    int
		found    []Test
		silent   []Test
	}{
		{"honest", tight, 1, 250_000, nil, []Test{BlackBox, Mu}},
		{"×.85", tight, 0.85, DefaultDraws, []Test{BlackBox, Mu}, nil},
		{"×.85, fewer draws", tight, 0.85, eventDraws, []Test{BlackBox, Mu}, nil},
		{"×.85, fewer draws still", tight, 0.85, boundDraws, []Test{Mu}, nil},
		{"×.9 at a small delta", small, 0.9, DefaultDraws, []Test{Mu}, nil},
		{"honest at a small delta", small, 1, 250_000, nil, []Test{BlackBox, Mu}},
	} {
		t.Run(c.name, func(t *testing.T) {
			factor, err := mechanism.AnalyticGaussian(c.claim.Epsilon, c.claim.Delta)
			if err != nil {
				t.Fatal(err)
			}
			s := Subject{Name: c.name, Claim: c.claim, Law: Gaussian, Pairs: []Pair{
				// Exact noise takes ten times as long, and shows the same.
				scalar("0 and 1", func(second bool, rng *rand.Rand) (float64, error) {
					return indicator(second) + c.multiple*factor*rng.NormFloat64(), nil
				}),
			}}
			alarms := 0
			for seed := range of {
				r := audit(t, s, Options{Draws: c.draws, Confidence: 0.999, Seed: seed})
				for _, test := range c.found {
					if !r.Found(test) {
						t.Errorf("seed %d: %s finds nothing: delta >= %.3g, %+v", seed, test, r.DeltaAtLeast, *r.Gaussian)
					}
				}
				for _, test := range c.silent {
					if r.Found(test) {
						t.Logf("seed %d: %v", seed, r.Findings)
						alarms++
					}
				}
			}
			if alarms > 1 { // two have a probability of 1e-5
				t.Errorf("%d false alarms of %d", alarms, int(of)*len(c.silent))
			}
		})
	}
}
