package attack

import (
	"errors"
	"math"

	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Model is a fit as an adversary meets it, by its confidence in each unit.
type Model struct {
	Pair       []int     // number of the pair of a unit; -1 for none
	Member     []bool    // whether it was trained on, which the adversary guesses
	Confidence []float64 // see [method.SeriesMembership]
	Statistic  []float64
}

// modelOf reads the series of a trial, of its fit with noise or of that without.
func modelOf(series map[string]experiment.Series, noise bool) (*Model, error) {
	s := series[method.SeriesMembershipWithoutNoise]
	if noise {
		s = series[method.SeriesMembership]
	}
	pair, member := s["pair"], s["member"]
	m := &Model{Confidence: s["confidence"], Statistic: s["statistic"]}
	n := len(pair)
	if n == 0 || len(member) != n || len(m.Confidence) != n || len(m.Statistic) != n {
		return nil, errors.New("the trial has no series of members")
	}
	for i := range n {
		p := -1
		if !math.IsNaN(pair[i]) {
			p = int(pair[i])
		}
		m.Pair, m.Member = append(m.Pair, p), append(m.Member, member[i] == 1)
	}
	return m, nil
}

// matches returns the members and the others of all pairs.
func (m *Model) matches() (members, others []int) {
	member, other := map[int]int{}, map[int]int{}
	for unit, p := range m.Pair {
		switch {
		case p < 0:
		case m.Member[unit]:
			member[p] = unit
		default:
			other[p] = unit
		}
	}
	for p := range len(m.Pair) {
		a, ok := member[p]
		if b, both := other[p]; ok && both {
			members, others = append(members, a), append(others, b)
		}
	}
	return members, others
}
