package method

import "math"

// Softmax turns scores of classes into probabilities: for a row with the scores s_c, p_c is
//
//	(1 − ε) π_c exp(β s_c) / Σ_k π_k exp(β s_k) + ε π_c
//
// which is the softmax of a temperature 1/β (Guo, Pleiss, Sun and Weinberger 2017, "On Calibration of Modern Neural
// Networks", Section 4.2) with the shares π of the classes as prior, so that β = 0 is the trivial rule. ε = 1/(n + 2)
// of n rows that β is fitted to is what the rule of succession gives to an error that was never seen: classes that
// these rows tell apart without fault get no certainty.
type Softmax struct {
	Slope  float64   // β ≥ 0, in the inverse unit of the scores
	Shares []float64 // π of the C classes
	Doubt  float64   // ε
}

const (
	// slopes in units of the inverse of the scores' scale are searched from e^leastSlope to e^mostSlope in steps, which
	// are divided slopeHalvings times.
	leastSlope, mostSlope, slopeStep = -6, 10, .25
	slopeHalvings                    = 20
)

// FitSoftmax returns the softmax with which rows have the least logarithmic loss. The rows are held out: they have
// scores (C×n, −Inf for a class that a row cannot be of) and labels from 0 (n), and have not been trained on. trained
// are the rows of each class (C) behind the shares, to which one of each is added.
func FitSoftmax(scores [][]float64, labels, trained []int) *Softmax {
	s := &Softmax{Shares: sharesOf(trained), Doubt: 1 / float64(len(labels)+2)}
	scale := spread(scores, len(labels))
	if scale == 0 {
		return s // scores that tell nothing
	}
	loss := func(log float64) float64 {
		at := *s
		at.Slope = math.Exp(log) / scale
		return at.loss(scores, labels)
	}
	best, least := 0.0, math.Inf(1)
	for log := float64(leastSlope); log <= mostSlope; log += slopeStep {
		if l := loss(log); l < least {
			best, least = log, l
		}
	}
	for step := slopeStep / 2.0; step > slopeStep/(1<<slopeHalvings); step /= 2 {
		for _, log := range []float64{best - step, best + step} {
			if l := loss(log); l < least {
				best, least = log, l
			}
		}
	}
	if s.loss(scores, labels) > least {
		s.Slope = math.Exp(best) / scale
	}
	return s
}

// loss is the mean logarithmic loss of rows.
func (s *Softmax) loss(scores [][]float64, labels []int) float64 {
	return (&Classified{Truth: labels, Probabilities: s.Probabilities(scores)}).logLoss()
}

// spread returns the mean distance of finite scores from the largest of their row; 0 where all are equal.
func spread(scores [][]float64, rows int) float64 {
	sum, count := 0.0, 0.0
	for i := range rows {
		most := largest(scores, i)
		for c := range scores {
			if d := most - scores[c][i]; d > 0 && !math.IsInf(d, 1) {
				sum, count = sum+d, count+1
			}
		}
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

// largest returns the largest score of a row.
func largest(scores [][]float64, row int) float64 {
	most := math.Inf(-1)
	for c := range scores {
		most = max(most, scores[c][row])
	}
	return most
}

// Probabilities returns those of the classes (C×P) for rows with scores (C×P). A row without a finite score has the
// shares.
func (s *Softmax) Probabilities(scores [][]float64) [][]float64 {
	out := make([][]float64, len(scores))
	for c := range out {
		out[c] = make([]float64, len(scores[c]))
	}
	for i := range scores[0] {
		most, sum := largest(scores, i), 0.0
		for c := range scores {
			weight := 0.0 // of a score of −Inf
			switch {
			case math.IsInf(most, -1):
				weight = s.Shares[c]
			case !math.IsInf(scores[c][i], -1):
				weight = s.Shares[c] * math.Exp(s.Slope*(scores[c][i]-most))
			}
			out[c][i] = weight
			sum += weight
		}
		for c := range out {
			out[c][i] = (1-s.Doubt)*out[c][i]/sum + s.Doubt*s.Shares[c]
		}
	}
	return out
}
