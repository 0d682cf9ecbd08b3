package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Roots of t(1 − log t) = δ_tot with 60 digits (mpmath 1.3), ε_tot = 1. In the
// first row a solver with an absolute tolerance finds no root at all.
func TestSelectionBudget(t *testing.T) {
	for _, c := range []struct {
		delta, gamma          float64
		t0, candidate, spends float64
		steps                 int
	}{
		{1e-4, 0.01, 7.8392199674820892e-6, 3.0726684849284944e-15, 0.33333325494113366, 1175},
		{1e-4, 0.05, 7.8392199674820892e-6, 7.6816712123212359e-14, 0.33333294137233496, 235},
		{1e-6, 0.01, 5.653415937033377e-8, 1.5980555878551488e-19, 0.33333333276799174, 1668},
		{0.01, 0.1, 0.0013091829115735518, 8.5697994797810124e-9, 0.33320241504217598, 66},
	} {
		t.Run(fmt.Sprintf("delta %g, gamma %g", c.delta, c.gamma), func(t *testing.T) {
			b, err := NewSelectionBudget(1, c.delta, c.gamma)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "t0", b.T0, c.t0, 1e-13)
			near(t, "delta of a candidate", b.Candidate.Delta, c.candidate, 1e-13)
			near(t, "epsilon of a candidate", b.Candidate.Epsilon, c.spends, 1e-15)
			if b.Steps != c.steps || b.Delta2 != b.T0 {
				t.Errorf("(%g, %g): %+v; want %d steps and delta2 = t0", c.delta, c.gamma, b, c.steps)
			}
		})
	}
}

// The draws spend the given budget, and not much less; the draws end
// with the probability that the analysis needs.
func TestSelectionBudgetIsKept(t *testing.T) {
	for _, gamma := range []float64{1e-4, 0.01, 0.3, 0.9, 1} {
		for _, delta := range []float64{1e-12, 1e-6, 1e-3, 0.1, 0.4} {
			epsilon := 4.0
			b, err := NewSelectionBudget(epsilon, delta, gamma)
			if err != nil {
				t.Fatal(err)
			}
			total := totalOf(b)
			near(t, "total epsilon", total.Epsilon, epsilon, 1e-14)
			// A draw is rounded off, which is γt₀ of δ at most.
			if !(total.Delta <= delta*(1+1e-13) && total.Delta >= delta-gamma*b.T0) {
				t.Errorf("(%g, %g): the total delta is %g", delta, gamma, total.Delta)
			}
			if left := math.Pow(1-gamma, float64(b.Steps)); left > b.Delta2 {
				t.Errorf("(%g, %g): %d draws do not stop with probability %g, above %g", delta, gamma, b.Steps, left, b.Delta2)
			}
		}
	}
}

// The corrected rule takes the possible sums of n numbers of the interval. The
// published one compares the sum with the bound of one number: of a log-
// likelihood at noise 0.1 (C + R = 1.38), 100 numbers of 1 each are refused.
func TestSelectionRules(t *testing.T) {
	s := Score{Count: 100, Centre: -98.6, Radius: 100}
	for _, c := range []struct {
		value                float64
		corrected, published bool
	}{
		{100, true, false}, {139.9, true, false}, {140.1, false, false}, {1.3, true, true},
		{-19859, true, true}, {-19861, false, true}, {math.NaN(), false, false}, {math.Inf(-1), false, true},
	} {
		t.Run(fmt.Sprint(c.value), func(t *testing.T) {
			s.Value = c.value
			if got := SelectionCorrected.Accepts(s); got != c.corrected {
				t.Errorf("corrected takes %g: %v", c.value, got)
			}
			if got := SelectionAsPublished.Accepts(s); got != c.published {
				t.Errorf("as published %g is taken: %v", c.value, got)
			}
		})
	}
}

// The distribution, against the formula: with scores that are certain, the best
// of N draws is released, N geometric but for its end. Candidate k is the best
// of all with probability P(max ≤ k) − P(max < k), P(max ≤ k) = E (k/K)^N.
func TestSelectDistribution(t *testing.T) {
	const candidates, n = 4, 40_000
	b := SelectionBudget{Gamma: 0.3, Steps: 5}
	below := func(share float64) float64 {
		p, going := 0.0, 1.0
		for i := 1; i <= b.Steps; i++ {
			stop := b.Gamma
			if i == b.Steps {
				stop = 1
			}
			p += going * stop * math.Pow(share, float64(i))
			going *= 1 - b.Gamma
		}
		return p
	}
	rng := rand.New(rand.NewPCG(7, 8))
	counts, draws := make([]float64, candidates), 0
	for range n {
		got, err := Select(b, candidates, SelectionCorrected, func(i int, _ *rand.Rand) (string, Score, error) {
			return strings.Repeat("x", i), Score{Value: float64(i), Count: 1, Centre: 0, Radius: 10}, nil
		}, rng)
		if err != nil || !got.Found || got.Value != float64(got.Candidate) || len(got.Model) != got.Candidate {
			t.Fatalf("%+v, %v", got, err)
		}
		counts[got.Candidate]++
		draws += got.Draws
	}
	for k, count := range counts {
		p := below(float64(k+1)/candidates) - below(float64(k)/candidates)
		if got := count / n; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/n) {
			t.Errorf("candidate %d has the share %g, want %g", k, got, p)
		}
	}
	// E N = (1 − 0.7⁵)/0.3 = 2.773, standard deviation below 1.5.
	if got := float64(draws) / n; math.Abs(got-2.7731) > 4*1.5/math.Sqrt(n) {
		t.Errorf("%g draws on average, want 2.773", got)
	}
}

func TestSelectTakesNothingImpossible(t *testing.T) {
	b := SelectionBudget{Gamma: 1e-9, Steps: 50}
	for rule, want := range map[SelectionRule]bool{SelectionCorrected: false, SelectionAsPublished: true} {
		t.Run(fmt.Sprint(rule), func(t *testing.T) {
			got, err := Select(b, 3, rule, func(int, *rand.Rand) (int, Score, error) {
				return 1, Score{Value: -21, Count: 2, Centre: 0, Radius: 10}, nil
			}, rand.New(rand.NewPCG(1, 2)))
			if err != nil || got.Found != want || got.Draws != 50 {
				t.Errorf("%s: %+v, %v; want found %v after 50 draws", rule, got, err, want)
			}
		})
	}
}

func TestSelectionRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		epsilon, delta, gamma float64
		parameter             string
	}{
		{0, .1, .1, "epsilon"}, {-1, .1, .1, "epsilon"}, {inf, .1, .1, "epsilon"}, {nan, .1, .1, "epsilon"},
		{1, 0, .1, "delta"}, {1, 1, .1, "delta"}, {1, nan, .1, "delta"}, {9, 0.999, 1, "delta"}, {1, 1e-200, .01, "delta"},
		{1, .1, 0, "gamma"}, {1, .1, 1.1, "gamma"}, {1, .1, nan, "gamma"}, {1, .1, 1e-9, "gamma"},
		{1e-3, .4, 1, "epsilon"},
	} {
		t.Run(fmt.Sprintf("epsilon %g, delta %g, gamma %g", c.epsilon, c.delta, c.gamma), func(t *testing.T) {
			var refused *Error
			if _, err := NewSelectionBudget(c.epsilon, c.delta, c.gamma); !errors.As(err, &refused) ||
				refused.Parameter != c.parameter {
				t.Errorf("(%g, %g, %g): %v; want a refusal of %s", c.epsilon, c.delta, c.gamma, err, c.parameter)
			}
		})
	}
	b, err := NewSelectionBudget(1, 1e-4, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	evaluate := func(int, *rand.Rand) (int, Score, error) { return 0, Score{}, broken }
	rng := rand.New(rand.NewPCG(1, 1))
	if _, err := Select(b, 2, SelectionCorrected, evaluate, rng); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "candidate ") {
		t.Errorf("the evaluator's error becomes %v", err)
	}
	for what, err := range map[string]error{
		"no candidates": second(Select(b, 0, SelectionCorrected, evaluate, rng)),
		"no budget":     second(Select(SelectionBudget{}, 2, SelectionCorrected, evaluate, rng)),
		"unknown rule":  second(Select(b, 2, SelectionRule(2), evaluate, rng)),
	} {
		t.Run(what, func(t *testing.T) {
			if err == nil || errors.Is(err, broken) {
				t.Errorf("%v; want a refusal", err)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// totalOf returns Eq. (20) at the whole number of draws: the guarantee of the selection. It is
// never more than that given to [NewSelectionBudget], up to rounding.
func totalOf(b SelectionBudget) Guarantee {
	root := math.Sqrt(2 * b.Candidate.Delta)
	return Guarantee{Epsilon: 3*b.Candidate.Epsilon + 3*root, Delta: root*float64(b.Steps) + b.Delta2}
}
