package classify

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// accuracyMetrics are those of one fit on test inputs with these classes.
func (c *classifier) accuracyMetrics(fit *prediction, truth []float64) accuracyMetrics {
	mean, variance := stat.PopMeanVariance(accuracies(fit.mean, truth), nil)
	m := accuracyMetrics{Accuracy: mean}
	if c.scale > 0 {
		sd := math.Sqrt(max(0, variance))
		m.SD, m.SE = &sd, new(sd/math.Sqrt(float64(c.draws)))
	}
	return m
}

// accuracies returns, for each draw, the share of the test inputs where the
// latent mean (P×D) has the sign of the class. A mean of zero is the negative
// class.
func accuracies(mean *mat.Dense, truth []float64) []float64 {
	points, draws := mean.Dims()
	out := make([]float64, draws)
	for i := range points {
		for j, v := range mean.RawRowView(i) {
			if (v > 0) == (truth[i] > 0) {
				out[j]++
			}
		}
	}
	for j := range out {
		out[j] /= float64(points)
	}
	return out
}

// positiveShare is the share of positive labels.
func positiveShare(labels []float64) float64 {
	n := 0
	for _, y := range labels {
		if y > 0 {
			n++
		}
	}
	return float64(n) / float64(len(labels))
}
