package classify

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/cloaking/cloak"
)

// prediction is the posterior of the latent function at P test inputs, for each of
// D draws of the noise.
type prediction struct {
	mean     *mat.Dense // P×D
	variance *mat.Dense // P×D, nil where probabilities are those at the mean
	steps    int        // Newton steps taken
	// moved is, without noise, by how much the last given step moved f; 0 for rounding
	// errors only.
	moved    float64
	releases []cloak.Quality // of every step, and from the second on of every draw
}

// rank is the smallest number of released directions, gap the largest
// certificate over the designs.
func (p *prediction) rank() (rank int, gap float64) {
	for i, q := range p.releases {
		if i == 0 || q.Rank < rank {
			rank = q.Rank
		}
		gap = max(gap, q.Gap)
	}
	return rank, gap
}

// probabilities returns those of the positive class (P×D).
func (p *prediction) probabilities(of Probability) *mat.Dense {
	out := mat.DenseCopyOf(p.mean)
	out.Apply(func(i, j int, mean float64) float64 {
		if of == Averaged {
			return averagedLogistic(mean, p.variance.At(i, j))
		}
		return logistic(mean)
	}, out)
	return out
}

// fitMetrics are those of one fit.
func (c *classifier) fitMetrics(fit *prediction) fitMetrics {
	m := fitMetrics{stepMetric: stepMetric{float64(fit.steps)}}
	if c.scale > 0 {
		rank, gap := fit.rank()
		m.Rank, m.Gap = new(float64(rank)), &gap
	}
	return m
}

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

// logistic is 1/(1 + e^{−f}), the probability of the positive class.
func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// wideVariance is where the normal distribution is wide enough to be smooth on
// the scale of the logistic function.
const wideVariance = 4

// averagedLogistic is the mean of the logistic function under N(mean, variance),
// to 1e-8. For small variances it is a Gauss–Hermite sum. For large ones, the
// logistic function is a step and a rest that falls like e^{−|f|},
//
//	E σ = Φ(mean/s) + ∫₀^∞ σ(−f) (N(−f) − N(f)) df,
//
// which is a Gauss–Legendre sum over [0, 40].
func averagedLogistic(mean, variance float64) float64 {
	s := math.Sqrt(variance)
	average := 0.0
	switch {
	case s == 0:
		return logistic(mean)
	case variance < wideVariance:
		for i, x := range hermite.nodes {
			average += hermite.weights[i] * logistic(mean+math.Sqrt2*s*x)
		}
		return average / math.Sqrt(math.Pi)
	}
	normal := distuv.Normal{Mu: mean, Sigma: s}
	average = distuv.UnitNormal.CDF(mean / s)
	for i, f := range legendre.nodes {
		average += legendre.weights[i] * logistic(-f) * (normal.Prob(-f) - normal.Prob(f))
	}
	return average
}

// rule is a quadrature rule.
type rule struct{ nodes, weights []float64 }

var (
	hermite  = newRule(quad.Hermite{}, 64, math.Inf(-1), math.Inf(1))
	legendre = newRule(quad.Legendre{}, 64, 0, 40)
)

func newRule(q quad.FixedLocationer, n int, low, high float64) rule {
	r := rule{make([]float64, n), make([]float64, n)}
	q.FixedLocations(r.nodes, r.weights, low, high)
	return r
}
