// Package bayesopt proposes points at which a function that is dear to evaluate may be small: those of the largest
// expected improvement under a Gaussian process (Jones, Schonlau and Welch, "Efficient global optimization of
// expensive black-box functions", Journal of Global Optimization 13, 1998).
//
// The process has a Matérn kernel of ν = 5/2 with one lengthscale for each feature. Its hyper-parameters maximise the
// likelihood of package gp times priors, which keep few points from being explained by extremes. Values are first made
// close to normal by the transform of Yeo and Johnson (Biometrika 87, 2000). A batch is chosen point by point, each
// of which is believed to have the mean of the process (kriging believer: Ginsbourger, Le Riche and Carraro, "Kriging
// is well-suited to parallelize optimization", 2010).
package bayesopt

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"privkern/experiments/learn"
	"privkern/graphs/engine"
)

// Question asks for points of the unit cube.
type Question struct {
	Points [][]float64 // where the function is known
	Losses []float64   // its values there, finite and not all equal, to be minimised
	Count  int         // points that are wanted
	Rand   *rand.Rand
	// Features maps a point to the numbers in [0, 1] that the process depends on.
	Features func(point []float64) []float64
	// Allowed reports whether a point may be proposed.
	Allowed func(point []float64) bool
}

// Propose returns Count points that are allowed and differ in their features, fewer where it finds no more. It returns
// an error for a question without values, and those of the engine.
func Propose(ctx context.Context, e *engine.Engine, q Question) ([][]float64, error) {
	if len(q.Points) == 0 || len(q.Points) != len(q.Losses) {
		return nil, errors.New("choice by Gaussian processes: there is not one value for each point")
	}
	features := make([][]float64, len(q.Points))
	for i, point := range q.Points {
		features[i] = q.Features(point)
	}
	p, err := fit(ctx, e, features, normal(q.Losses))
	if err != nil {
		return nil, err
	}
	var out [][]float64
	for len(out) < q.Count {
		margin := 0.0
		if len(p.values)%2 == 1 {
			margin = demanded
		}
		point := q.best(p, margin)
		if point == nil {
			break
		}
		out = append(out, point)
		x := q.Features(point)
		mean, _ := p.at(x)
		if err := p.add(x, mean); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Sizes of the search for the largest expected improvement.
const (
	spread  = 1000 // points that are drawn in the whole cube
	near    = 100  // points that are drawn near each of the best values
	climbed = 8    // of these points, how many are improved
	steps   = 150  // of the improvement of a point
)

// demanded is the improvement, in standard deviations of the values, that every other point has to exceed: without it,
// points gather about a local minimum that is found to ever more digits.
const demanded = 0.1

// candidate is a point with the logarithm of its expected improvement.
type candidate struct {
	point []float64
	value float64
}

// best returns the point with the largest expected improvement by more than a margin, nil where no point is allowed.
func (q *Question) best(p *process, margin float64) []float64 {
	least := p.least() - margin
	value := func(point []float64) candidate {
		mean, deviation := p.at(q.Features(point))
		return candidate{point, logImprovement(least-mean, deviation)}
	}
	var all []candidate
	dimensions := len(q.Points[0])
	for range spread {
		all = append(all, value(q.uniform(dimensions)))
	}
	order := learn.AllRows(len(q.Losses))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(q.Losses[i], q.Losses[j]) })
	for _, i := range order[:min(3, len(order))] {
		for range near {
			all = append(all, value(q.moved(q.Points[i], 0.1)))
		}
	}
	descending := func(a, b candidate) int { return cmp.Compare(b.value, a.value) }
	slices.SortStableFunc(all, descending)
	for i := range climbed {
		size := 0.1
		for range steps {
			if next := value(q.moved(all[i].point, size)); next.value > all[i].value {
				all[i] = next
			} else {
				size = max(size*0.97, 1e-4)
			}
		}
	}
	slices.SortStableFunc(all, descending)
	known := p.features
	for _, c := range all {
		x := q.Features(c.point)
		if q.Allowed(c.point) && !slices.ContainsFunc(known, func(k []float64) bool { return slices.Equal(k, x) }) {
			return c.point
		}
	}
	return nil
}

func (q *Question) uniform(dimensions int) []float64 {
	point := make([]float64, dimensions)
	for i := range point {
		point[i] = q.Rand.Float64()
	}
	return point
}

// moved returns a point near another one: coordinates move by steps of that size, and now and then one is drawn anew,
// since categories have no neighbours.
func (q *Question) moved(point []float64, size float64) []float64 {
	out := slices.Clone(point)
	for i := range out {
		switch u := q.Rand.Float64(); {
		case u < 0.1/float64(len(out)):
			out[i] = q.Rand.Float64()
		case u < 0.6:
			out[i] = min(max(out[i]+size*q.Rand.NormFloat64(), 0), 1)
		}
	}
	return out
}

// logImprovement returns the logarithm of E max(g − sZ, 0) for a standard normal Z, with s > 0: σ(φ(z) + zΦ(z)) at
// z = g/s.
func logImprovement(g, s float64) float64 {
	z := g / s
	density := -z*z/2 - math.Log(2*math.Pi)/2
	if z < -20 { // φ(z)/z² to a percent
		return math.Log(s) + density - 2*math.Log(-z)
	}
	return math.Log(s) + math.Log(math.Exp(density)+z*math.Erfc(-z/math.Sqrt2)/2)
}
