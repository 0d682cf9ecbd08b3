package attack

import (
	"math"
	"slices"
)

// shares of pairs, those told apart most clearly, about which an adversary may guess.
var shares = []float64{1, .5, .2, .1, .05, .02, .01, .005, .002, .001}

// guesser names the members of pairs by an attack, those whose scores differ by more than a number that shadow models
// have settled.
type guesser struct {
	*attack
	beyond   float64
	expected float64 // what it would prove, had the targets the pairs of the shadow models
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

// leads are those of several models.
func leads(models []*Model, scores [][]float64) (out []float64) {
	for k, m := range models {
		out = append(out, lead(m, scores[k])...)
	}
	return out
}

// count returns how many guesses there are about leads, and how many are right: about those beyond a number, away
// from 0.
func count(leads []float64, beyond float64) (guesses, right int) {
	for _, l := range leads {
		if math.Abs(l) > beyond {
			if guesses++; l > 0 {
				right++
			}
		}
	}
	return guesses, right
}

// guesser settles the number by shadow models: there it would prove most.
func (a *attack) guesser() *guesser {
	ahead := leads(a.shadows, a.ofShadows)
	sizes := make([]float64, len(ahead))
	for i, l := range ahead {
		sizes[i] = math.Abs(l)
	}
	slices.Sort(sizes)
	best := &guesser{attack: a}
	for k, m := range a.shadows {
		best.area += auc(a.ofShadows[k], m.Member) / float64(len(a.shadows))
	}
	for _, share := range shares {
		beyond := 0.0
		if skipped := len(sizes) - int(share*float64(len(sizes))); skipped > 0 {
			beyond = sizes[skipped-1]
		}
		guesses, right := count(ahead, beyond)
		if proved := Proved(len(ahead), guesses, right, a.guarantee.Delta); proved > best.expected {
			best.beyond, best.expected = beyond, proved
		}
	}
	return best
}

// proof guesses about the targets.
func (g *guesser) proof() Proof {
	ahead := leads(g.targets, g.ofTargets)
	guesses, right := count(ahead, g.beyond)
	return Proof{Pairs: len(ahead), Guesses: guesses, Right: right,
		Epsilon: Proved(len(ahead), guesses, right, g.guarantee.Delta)}
}
