package mechanism

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// SelectionBudget is the budget of private selection with random stopping (Liu
// and Talwar, "Private selection from private candidates", STOC 2019, Algorithm 2
// with finitely many steps; Honkela, "Gaussian processes with differential
// privacy", Algorithm 2): candidates are drawn and evaluated until a coin of
// probability γ stops, T times at most, and the best one so far is released with
// its value.
//
// If each evaluation, model and score together, is (ε, δ)-differentially private,
// the release is (3ε + 3√(2δ), √(2δ) T + δ₂)-differentially private (Liu and
// Talwar 2019, Theorem 3.4; Honkela, Eq. 20), for the same neighbours. How many
// candidates there are costs nothing. How many draws were made must stay secret.
type SelectionBudget struct {
	Gamma     float64   // γ, the probability to stop after a draw
	Candidate Guarantee // of each evaluation
	T0        float64   // √(2δ)/γ, equal to Delta2
	Delta2    float64   // δ₂, the probability of not having stopped after T draws
	Steps     int       // T, the largest number of draws
}

// NewSelectionBudget finds the evaluation's budget for a selection that is
// (epsilon, delta)-differentially private in total. The δ₂ that makes the total
// smallest is t = √(2δ)/γ, which leaves t(1 − log t) = delta (Honkela, Eq. 35).
// Of the two roots the one below 1 is meant, whose δ is a probability; it is
// found in log t, as δ = γ²t²/2 is of the order 1e-15 where delta is 1e-4.
//
// It returns an *[Error] for parameters out of range, where nothing is left for
// an evaluation, and where delta is so large (above 0.4) that T draws, rounded
// down, do not stop with probability 1 − δ₂.
func NewSelectionBudget(epsilon, delta, gamma float64) (SelectionBudget, error) {
	if err := check(epsilon, delta); err != nil {
		return SelectionBudget{}, err
	}
	if !(gamma > 0 && gamma <= 1) {
		return SelectionBudget{}, &Error{"gamma", gamma, "a probability above 0 is required"}
	}
	u := stoppingRoot(delta)
	b := SelectionBudget{Gamma: gamma, T0: math.Exp(-u), Delta2: math.Exp(-u)}
	rootTwoDelta := gamma * b.T0
	b.Candidate = Guarantee{Epsilon: epsilon/3 - rootTwoDelta, Delta: rootTwoDelta * rootTwoDelta / 2}
	steps := math.Floor(u / gamma) // T = log(1/δ₂)/γ
	switch {
	case !(b.Candidate.Epsilon > 0):
		return SelectionBudget{}, &Error{"epsilon", epsilon,
			"nothing is left for the evaluation of a candidate; use a larger epsilon, or a smaller delta or gamma"}
	case b.Candidate.Delta < 0x1p-1022:
		return SelectionBudget{}, &Error{"delta", delta, "the delta of a candidate is below what double precision holds; " +
			"use a larger delta or gamma"}
	case !(steps <= 1<<31-1):
		return SelectionBudget{}, &Error{"gamma", gamma, "more than 2^31 draws may be needed; use a larger gamma"}
	case !(steps*math.Log1p(-gamma) <= -u):
		return SelectionBudget{}, &Error{"delta", delta, "it is too large for a whole number of draws; use 0.4 or less"}
	}
	b.Steps = int(steps)
	return b, nil
}

// stoppingRoot returns u = −log t for the root 0 < t < 1 of t(1 − log t) = delta:
// u − log(1 + u) = log(1/delta). The left side is convex and increases, so that
// Newton's method comes down to the root from its right.
func stoppingRoot(delta float64) float64 {
	l := -math.Log(delta)
	u := 2*l + 2
	for {
		next := u - (u-math.Log1p(u)-l)*(1+u)/u
		if !(next < u) {
			return u
		}
		u = next
	}
}

// Score is the private score of a candidate: Count times the private mean of
// numbers that lie in Centre ± Radius. Noise can take it beyond.
type Score struct {
	Value          float64
	Count          int
	Centre, Radius float64
}

// SelectionRule decides which scores are taken. Both rules see private numbers and
// public bounds only, so that neither costs budget.
type SelectionRule int

// The rules.
const (
	// SelectionCorrected takes a score that is possible for Count numbers:
	// Count (Centre − Radius) ≤ Value ≤ Count (Centre + Radius).
	SelectionCorrected SelectionRule = iota
	// SelectionAsPublished compares the score, a sum, with the bound of a single
	// number, as Honkela's Algorithm 2 is printed: Value ≤ Centre + Radius. It
	// has no bound from below, and refuses possible scores where the bound is
	// negative.
	SelectionAsPublished
)

// Choices are the names of the rules.
func (SelectionRule) Choices() []string { return []string{"corrected", "as-published"} }

func (r SelectionRule) String() string { return r.Choices()[r] }

// Accepts reports whether the rule takes the score. NaN is never taken.
func (r SelectionRule) Accepts(s Score) bool {
	if r == SelectionAsPublished {
		return s.Value <= s.Centre+s.Radius
	}
	n := float64(s.Count)
	return n*(s.Centre-s.Radius) <= s.Value && s.Value <= n*(s.Centre+s.Radius)
}

// Evaluator trains and scores a candidate, 0 ≤ candidate < the number of them.
// Its results, model and score together, must be differentially private with
// the budget's Candidate guarantee. An error ends the selection; it must not
// depend on private data.
type Evaluator[M any] func(candidate int, rng *rand.Rand) (M, Score, error)

// Selected is the result of a selection.
type Selected[M any] struct {
	Found     bool // no score was taken if false; part of the release
	Candidate int
	Model     M
	Value     float64 // the score's
	// Draws is for tests and timings. The guarantee does not cover it: the more
	// draws, the more is known of the data.
	Draws int
}

// Select draws candidates evenly, with replacement, and returns the best one
// when the coin ends the draws (Honkela, Algorithm 2). A draw takes a candidate, the
// numbers of evaluate, and a number for the coin from rng, so that equal streams give
// equal selections. It returns an *[Error] for no candidates or a budget that
// [NewSelectionBudget] did not make, and the errors of evaluate.
func Select[M any](
	b SelectionBudget, candidates int, rule SelectionRule, evaluate Evaluator[M], rng *rand.Rand,
) (Selected[M], error) {
	return SelectAfter(Selected[M]{}, b, candidates, rule, evaluate, rng)
}

// SelectAfter is [Select] after draws that have been made, with best the result so far. None of these was the last.
func SelectAfter[M any](
	best Selected[M], b SelectionBudget, candidates int, rule SelectionRule, evaluate Evaluator[M], rng *rand.Rand,
) (Selected[M], error) {
	if candidates < 1 {
		return best, &Error{"candidates", float64(candidates), "at least 1 is required"}
	}
	if b.Steps < 1 || !(b.Gamma > 0 && b.Gamma <= 1) {
		return best, &Error{"steps", float64(b.Steps), "the budget has no draws; make it with NewSelectionBudget"}
	}
	if rule != SelectionCorrected && rule != SelectionAsPublished {
		return best, fmt.Errorf("unknown selection rule %d; use %v or %v", int(rule), SelectionCorrected,
			SelectionAsPublished)
	}
	for best.Draws < b.Steps {
		i := rng.IntN(candidates)
		model, score, err := evaluate(i, rng)
		if err != nil {
			return Selected[M]{}, fmt.Errorf("candidate %d: %w", i, err)
		}
		best.Draws++
		if rule.Accepts(score) && (!best.Found || score.Value > best.Value) {
			best.Found, best.Candidate, best.Model, best.Value = true, i, model, score.Value
		}
		if rng.Float64() < b.Gamma {
			break
		}
	}
	return best, nil
}
