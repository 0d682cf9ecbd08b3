package attack

import (
	"cmp"
	"math"
	"slices"
)

// shares of pairs, those told apart most clearly, about which an adversary may guess.
var shares = []float64{1, .5, .2, .1, .05, .02, .01, .005, .002, .001}

// guesser names the members of pairs by an attack, of a share of them that shadow models have settled: of those whose
// scores differ most. The number of guesses does not depend on the targets.
type guesser struct {
	*attack
	share    float64 // of the pairs about which it guesses
	expected float64 // the ε that it proves about the pairs of the shadow models
	area     float64 // mean AUC of shadow models
}

// before reports whether a guesser is better than another one by shadow models.
func (g *guesser) before(other *guesser) bool {
	if g.expected != other.expected {
		return g.expected > other.expected
	}
	return g.area > other.area
}

// lead is by how much the member of each pair is ahead of the other unit.
func lead(m *Model, scores []float64) []float64 {
	members, others := m.matches()
	out := make([]float64, len(members))
	for i, unit := range members {
		out[i] = scores[unit] - scores[others[i]]
	}
	return out
}

// leads are those of several models, the largest differences first.
func leads(models []*Model, scores [][]float64) (out []float64) {
	for k, m := range models {
		out = append(out, lead(m, scores[k])...)
	}
	slices.SortFunc(out, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
	return out
}

// guess returns how many of a number of guesses are right, about the first of some leads. Where scores do not differ,
// there is no guess.
func guess(leads []float64, guesses int) (right int) {
	for _, l := range leads[:guesses] {
		if l > 0 {
			right++
		}
	}
	return right
}

// guesses is the number of guesses about some of the pairs.
func guesses(share float64, pairs int) int { return min(pairs, int(math.Ceil(share*float64(pairs)))) }

// guesser settles the share by shadow models: there it would prove most.
func (a *attack) guesser() *guesser {
	ahead := leads(a.shadows, a.ofShadows)
	best := &guesser{attack: a, share: 1}
	for k, m := range a.shadows {
		best.area += auc(a.ofShadows[k], m.Member) / float64(len(a.shadows))
	}
	for _, share := range shares {
		n := guesses(share, len(ahead))
		if proved := Proved(len(ahead), n, guess(ahead, n), a.guarantee.Delta); proved > best.expected {
			best.share, best.expected = share, proved
		}
	}
	return best
}

// proof guesses about the targets. Of a target that has failed all pairs count, and none is guessed: that it failed may
// depend on its coins.
func (g *guesser) proof() Proof {
	ahead := leads(g.targets, g.ofTargets)
	pairs := len(ahead) + g.failed*len(lead(g.targets[0], g.ofTargets[0]))
	n := guesses(g.share, len(ahead))
	right := guess(ahead, n)
	return Proof{Pairs: pairs, Guesses: n, Right: right, Epsilon: Proved(pairs, n, right, g.guarantee.Delta)}
}
