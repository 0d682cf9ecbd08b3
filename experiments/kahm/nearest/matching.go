package nearest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// matchingScores returns the class-matching scores (Definition 8, Eq. 63) of
// points with the given distances to the classes, both q×C:
//
//	ms_c = exp(−Γ_c² / Σ_c Γ_c²)
//
// A class to which a point has no distance (+Inf) has the score 0, the limit,
// and is left out of the sum, which leaves the other classes comparable. A point
// that is in all classes (Σ = 0) matches all alike.
//
// Other scores are between e⁻¹ (the sum is this class's alone) and 1 (distance zero).
// They do not sum to one and are no probabilities; only their order over points of one
// class is used.
func matchingScores(distances *mat.Dense) *mat.Dense {
	q, classes := distances.Dims()
	scores := mat.NewDense(q, classes, nil)
	for i := range q {
		sum, known := 0.0, 0
		for _, g := range distances.RawRowView(i) {
			if !math.IsInf(g, 1) {
				sum += g * g
				known++
			}
		}
		for c, g := range distances.RawRowView(i) {
			switch {
			case math.IsInf(g, 1):
			case sum == 0:
				scores.Set(i, c, math.Exp(-1/float64(known)))
			default:
				scores.Set(i, c, math.Exp(-g*g/sum))
			}
		}
	}
	return scores
}

// overall returns the nearest machine of any class from the nearest ones of
// each class; of equal distances that of the class that comes first.
// It saves a second search where distances to all classes are computed anyway.
func overall(byClass *hull.Nearest) *hull.Nearest {
	q, _ := byClass.Distance.Dims()
	out := *byClass
	out.Distance, out.Machine = mat.NewDense(q, 1, nil), make([][]int, q)
	for i := range q {
		best, at := math.Inf(1), -1
		for c, g := range byClass.Distance.RawRowView(i) {
			if g < best {
				best, at = g, byClass.Machine[i][c]
			}
		}
		out.Distance.Set(i, 0, best)
		out.Machine[i] = []int{at}
	}
	return &out
}

// match evaluates the class-matching scores of the test points of d. Every class must have
// a test point.
//
// The area is that of each class against all others, averaged; the balanced accuracy is
// the unweighted mean of those of the classes.
func (r *evaluation) match(c *classification, d *classData) error {
	scores := matchingScores(c.byClass)
	auc, err := learn.MacroAUC(scores, d.testLabels)
	if err != nil {
		return err
	}
	roc, err := meanROC(scores, d.testLabels)
	if err != nil {
		return err
	}
	r.BalancedAccuracy = c.balanced()
	r.AUC, r.series["roc"] = auc, roc
	return nil
}

// rocPoints are the false positive rates at which the mean ROC curve is drawn.
const rocPoints = 101

// meanROC returns the mean over the classes of the true positive rates of a class against the
// others, at rocPoints equally spaced false positive rates. scores are n×C; labels are from 0.
//
// Between the points of a curve the true positive rate is linear, where a threshold
// admits points of both kinds at once; at a vertical step the upper end counts.
func meanROC(scores *mat.Dense, labels []int) (experiment.Series, error) {
	_, classes := scores.Dims()
	x, mean := make([]float64, rocPoints), make([]float64, rocPoints)
	for k := range x {
		x[k] = float64(k) / (rocPoints - 1)
	}
	for c := range classes {
		var own, others []float64
		for i, l := range labels {
			if v := scores.At(i, c); l == c {
				own = append(own, v)
			} else {
				others = append(others, v)
			}
		}
		fpr, tpr, err := learn.ROC(own, others)
		if err != nil {
			return nil, fmt.Errorf("class %d against the others: %w", c, err)
		}
		at := 0
		for k, v := range x {
			for at+1 < len(fpr) && fpr[at+1] <= v {
				at++
			}
			y := tpr[at]
			if at+1 < len(fpr) {
				y += (tpr[at+1] - tpr[at]) * (v - fpr[at]) / (fpr[at+1] - fpr[at])
			}
			mean[k] += y / float64(classes)
		}
	}
	return experiment.Series{"x": x, "mean_true_positive_rate": mean}, nil
}
