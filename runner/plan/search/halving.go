package search

import (
	"fmt"
	"math"

	"privkern/runner/experiment"
)

// DefaultEta is the share of settings that a level of a halving leaves, inverted.
const DefaultEta = 3

// rungs returns the number of settings at each level: those of the largest start that the budget allows. The error
// is one of a budget with which no setting would reach the last level.
func (s *Spec) rungs() ([]int, error) {
	sizes := func(start int) (out []int, sum int) {
		n := float64(start)
		for range s.Levels {
			out = append(out, int(math.Floor(n+1e-9)))
			sum += out[len(out)-1]
			n /= s.Eta
		}
		return out, sum
	}
	least := int(math.Ceil(math.Pow(s.Eta, float64(len(s.Levels)-1)) - 1e-9))
	best, sum := sizes(least)
	if sum > s.Budget {
		return nil, fmt.Errorf("a budget of %d is too small for %d levels of %s with eta = %g: %d settings at the first "+
			"leave one for the last, %d in all", s.Budget, len(s.Levels), s.Fidelity, s.Eta, least, sum)
	}
	for start := least + 1; ; start++ {
		next, sum := sizes(start)
		if sum > s.Budget {
			return best, nil
		}
		best = next
	}
}

// maxBayesian bounds the settings of a Bayesian search: the work of a round grows with the cube of their number.
const maxBayesian = 1000

// Check refuses a budget that is too small for a halving, or too large for a Bayesian search.
func (s *Spec) Check() error {
	switch {
	case s.Method == Bayesian && s.Budget > maxBayesian:
		return fmt.Errorf("budget is %d; a Bayesian search has at most %d settings, since the work of a round grows with "+
			"the cube of their number; use the method random or halving", s.Budget, maxBayesian)
	case s.Method == Halving:
		_, err := s.rungs()
		return err
	}
	return nil
}

// level is the position of the level of settings, -1 without a fidelity.
func (s *Spec) level(p experiment.Params) int {
	at := -1
	text := experiment.FormatValue(s.Experiment.Whole(p)[s.Fidelity])
	for i, l := range s.Levels {
		if experiment.FormatValue(l) == text {
			at = i
		}
	}
	return at
}

// halve returns the settings of the next level: the best of the level before, without those that failed.
func (s *Spec) halve(t *tried, seen []Observation) ([]experiment.Params, error) {
	rungs, err := s.rungs()
	if err != nil {
		return nil, err
	}
	if len(seen) == 0 {
		return t.first(halton(s.Seed, len(s.Space)), rungs[0])
	}
	ranked := s.Rank(seen)
	level := s.level(seen[ranked[0]].Params)
	if level+1 == len(s.Levels) {
		return nil, nil
	}
	var out []experiment.Params
	for _, i := range ranked {
		o := seen[i]
		if len(out) == rungs[level+1] || s.level(o.Params) != level || math.IsInf(s.loss(o), 1) {
			break
		}
		if p := t.params(s.pointOf(o.Params), s.Levels[level+1]); p != nil {
			out = append(out, t.take(p))
		}
	}
	return out, nil
}
