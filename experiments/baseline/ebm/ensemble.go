package ebm

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// ensemble are the functions that are boosted. It knows noisy sums alone, and no row.
type ensemble struct {
	*algorithm
	weights [][]float64   // of the bins of each feature, in rows
	cuts    [][]int       // of each feature, the bins before which it may be cut
	scores  [][][]float64 // of each feature, output and bin
}

// step is one of boosting: the leaves of a feature, and after it their scores.
type step struct {
	feature int
	leaves  []uint8   // of each bin
	weights []float64 // of the leaves, in rows
	update  []float64 // L×K
}

// ensemble makes bins of noisy counts. A count is taken as normal about N/B, with the standard deviation that the
// setting gives, and noise: its weight is the posterior mean, or zero if that is less.
func (a *algorithm) ensemble(counts []float64) *ensemble {
	e := &ensemble{algorithm: a}
	for j, bins := range a.bins {
		w, equal := counts[a.first[j]:a.first[j]+bins], float64(a.Slots)/float64(bins)
		spread, noise := a.Prior*equal, a.counts.Scale()
		gain := 1 / (1 + noise/spread*(noise/spread))
		for b := range w {
			w[b] = max(0, equal+gain*(w[b]-equal))
		}
		scores := make([][]float64, a.outputs)
		for c := range scores {
			scores[c] = make([]float64, bins)
		}
		e.weights, e.scores = append(e.weights, w), append(e.scores, scores)
		e.cuts = append(e.cuts, a.cutsOf(a.features[j], w))
	}
	return e
}

// cutsOf merges the bins of a number from the left until each group has the weight N/bins; the rest at the end joins
// the last. A category may be cut between all levels.
func (a *algorithm) cutsOf(f feature, weights []float64) (cuts []int) {
	least, sum := float64(a.Slots)/float64(a.Bins), 0.0
	for b, w := range weights {
		if sum += w; sum >= least || f.levels > 0 {
			cuts, sum = append(cuts, b+1), 0
		}
	}
	if len(cuts) > 0 {
		cuts = cuts[:len(cuts)-1]
	}
	return cuts
}

// step draws the leaves of a feature: cuts are equally likely, and the levels of a category are in a random order.
func (e *ensemble) step(rng *rand.Rand, j int) *step {
	bins := e.bins[j]
	s := &step{feature: j, leaves: make([]uint8, bins), weights: make([]float64, e.Leaves)}
	before := make([]bool, bins)
	for i, at := range rng.Perm(len(e.cuts[j])) {
		if i < e.Leaves-1 {
			before[e.cuts[j][at]] = true
		}
	}
	order := rng.Perm(bins)
	leaf := 0
	for b := range bins {
		if before[b] {
			leaf++
		}
		if e.features[j].levels == 0 {
			order[b] = b
		}
		s.leaves[order[b]] = uint8(leaf)
		s.weights[leaf] += e.weights[j][order[b]]
	}
	return s
}

// update turns the noisy residuals of a step into scores: the learning rate times their mean. A leaf counts as at least
// N/bins rows, and as the learning rate times N, so that a step of a loss with curvature up to 1 never goes too far, by
// whichever counts.
func (e *ensemble) update(s *step, residuals []float64) {
	k, least := e.outputs, float64(e.Slots)*max(1/float64(e.Bins), e.rate)
	for leaf, w := range s.weights {
		floats.Scale(e.rate/max(w, least), residuals[leaf*k:(leaf+1)*k])
	}
	s.update = residuals
	for b, leaf := range s.leaves {
		for c := range k {
			e.scores[s.feature][c][b] += residuals[int(leaf)*k+c]
		}
	}
}

// body centres the functions, so that each has the mean 0 over the weights.
func (e *ensemble) body() Functions {
	out := Functions{Intercept: make([]float64, e.outputs)}
	for j, f := range e.features {
		out.Levels = append(out.Levels, f.levels)
		total := floats.Sum(e.weights[j])
		for c, s := range e.scores[j] {
			if total > 0 {
				mean := floats.Dot(s, e.weights[j]) / total
				floats.AddConst(-mean, s)
				out.Intercept[c] += mean
			}
			out.Scores = append(out.Scores, s)
		}
	}
	return out
}
