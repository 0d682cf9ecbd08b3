package attack

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/internal/trialtest"
	"privkern/tests/tier"
)

// Bounds by their definition: the ε at which so many right guesses have the probability of 5 %.
func TestProved(t *testing.T) {
	trialtest.Near(t, "all right", Proved(100, 100, 100, 0), logit(math.Pow(.05, 1./100)), 1e-6)
	for _, c := range []struct{ m, r, v int }{{50, 50, 40}, {5000, 1000, 600}, {20000, 20000, 11000}} {
		epsilon := Proved(c.m, c.r, c.v, 0)
		b := distuv.Binomial{N: float64(c.r), P: 1 / (1 + math.Exp(-epsilon))}
		trialtest.Near(t, "tail", 1-b.CDF(float64(c.v-1)), .05, 1e-6)
		if with := Proved(c.m, c.r, c.v, 1e-4); with >= epsilon || with < .5*epsilon {
			t.Errorf("%v: delta moves the bound from %g to %g", c, epsilon, with)
		}
	}
	for _, c := range []struct{ m, r, v int }{{10, 0, 0}, {10, 10, 5}, {1000, 1000, 510}, {4, 4, 4}} {
		if got := Proved(c.m, c.r, c.v, 1e-6); got != 0 {
			t.Errorf("%v proves %g", c, got)
		}
	}
}

func logit(q float64) float64 { return math.Log(q / (1 - q)) }

// The part of δ by its definition: the largest mean of successive probabilities below v, times 2mδ.
func TestTail(t *testing.T) {
	const m, r, v, epsilon, delta = 60, 40, 27, .8, 1e-3
	b := distuv.Binomial{N: r, P: 1 / (1 + math.Exp(-epsilon))}
	largest, sum := 0.0, 0.0
	for i := 1; i <= v; i++ {
		sum += b.Prob(float64(v - i))
		largest = max(largest, sum/float64(i))
	}
	trialtest.Near(t, "tail", tail(m, r, v, epsilon, delta), 1-b.CDF(v-1)+2*m*delta*largest, 1e-10)
}

// Guesses by randomised response, which is ε-private for each coin and tells as much of it as that allows: no more than
// 5 % of proofs are beyond ε, and on average little is lost.
func TestProofsHold(t *testing.T) {
	const runs, pairs, epsilon = 1000, 300, 1.0
	rng := rand.New(rand.NewPCG(7, 7))
	beyond, mean := 0, 0.0
	for range runs {
		right := 0
		for range pairs {
			if rng.Float64() < 1/(1+math.Exp(-epsilon)) {
				right++
			}
		}
		proved := Proved(pairs, pairs, right, 0)
		mean += proved / runs
		if proved > epsilon {
			beyond++
		}
	}
	if beyond > runs*5/100+14 { // two standard errors
		t.Errorf("%d of %d proofs are beyond epsilon", beyond, runs)
	}
	if mean < .7*epsilon {
		t.Errorf("proofs have the mean %g", mean)
	}
}

// Whole attacks on a mechanism that is exactly (ε, 0)-private: the statistic of a unit is a randomised response on
// whether it is a member. The proof, with its choice of guesses by shadow models, is beyond ε in no more than 5 % of
// the games.
func TestAttacksHold(t *testing.T) {
	tier.Sequential(t)
	const games, models, pairs, epsilon = 200, 24, 30, .5
	rng := rand.New(rand.NewPCG(3, 9))
	beyond := 0
	for range games {
		var all []*Model
		for range models {
			m := &Model{}
			for p := range pairs {
				first := rng.IntN(2) == 0
				told := rng.Float64() < 1/(1+math.Exp(-epsilon)) == first // of the pair as a whole
				for i, member := range []bool{first, !first} {
					x := rng.NormFloat64() / 10
					if told == (i == 0) {
						x++
					}
					m.Pair, m.Member = append(m.Pair, p), append(m.Member, member)
					m.Statistic, m.Confidence = append(m.Statistic, x), append(m.Confidence, x)
				}
			}
			all = append(all, m)
		}
		out, err := Judge(all, Guarantee{Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		if out.Proof.Epsilon > epsilon {
			beyond++
		}
	}
	if beyond > games*5/100+6 { // two standard errors
		t.Errorf("%d of %d proofs are beyond epsilon", beyond, games)
	}
}
