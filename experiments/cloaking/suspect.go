package cloaking

import (
	"fmt"
	"math"
	"slices"

	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// What is suspect about the results on a user's own data. These warnings depend on
// the outputs: they are for judging, and no part of a release.

// suspicions are those of a cross-validated regression, whose error and whose
// noise's standard deviation are given, in the unit of the outputs.
func (r *predictor) suspicions(folds []learn.Fold, rmse, noiseSD float64) []string {
	p := r.t.Params
	if !ownFile(p) {
		return nil
	}
	number := func(v float64) string { return fmt.Sprintf("%.3g", v) }
	var out []string
	if noiseSD > r.data.width {
		out = append(out, fmt.Sprintf("computed but suspect: the noise has a standard deviation of %s, more than "+
			"the public range of the output, %s; use a larger epsilon, method=sparse with few inducing inputs, a "+
			"longer lengthscale, or more rows",
			number(noiseSD), number(r.data.width)))
	}
	if middle := r.middleError(folds); rmse >= middle {
		advice := "choose lengthscale, kernel_variance and noise_variance anew, without looking at the outputs"
		if r.scale > 0 {
			advice = "epsilon=inf shows how much of it is noise: if most, use a larger epsilon, method=sparse, or " +
				"more rows; otherwise " + advice
		}
		out = append(out, fmt.Sprintf("computed but suspect: the predictions have an error of %s, and the middle "+
			"of the public range, which costs no privacy, has %s; %s", number(rmse), number(middle), advice))
	}
	if r.scale > 0 {
		out = append(out, suspectDelta(p, len(r.data.output))...)
	}
	return out
}

// middleError is the error of the middle of the outputs' interval, over folds as
// the error of predictions is.
func (r *predictor) middleError(folds []learn.Fold) float64 {
	middle := r.data.low + (r.data.high-r.data.low)/2
	sum := 0.0
	for _, f := range folds {
		square := 0.0
		for _, row := range f.Test {
			square += (r.data.output[row] - middle) * (r.data.output[row] - middle)
		}
		sum += math.Sqrt(square / float64(len(f.Test)))
	}
	return sum / float64(len(folds))
}

// suspicions are those of a cross-validated classification, given the accuracy and
// the share of the larger class. Labels have no range for noise to be compared
// with.
func (c *classifier) suspicions(rows int, accuracy, majority float64) []string {
	p := c.t.Params
	if !ownFile(p) {
		return nil
	}
	var out []string
	if accuracy < majority {
		advice := "choose lengthscale and kernel_variance anew, without looking at the classes"
		if c.scale > 0 {
			advice = "epsilon=inf shows how much of it is noise: if most, use a larger epsilon, method=sparse, or " +
				"more rows; otherwise " + advice
		}
		out = append(out, fmt.Sprintf("computed but suspect: the accuracy of %.3g is below the share of the larger "+
			"class, %.3g; %s", accuracy, majority, advice))
	}
	if c.scale > 0 {
		out = append(out, suspectDelta(p, rows)...)
	}
	return out
}

func suspectDelta(p experiment.Params, rows int) []string {
	return slices.DeleteFunc([]string{mechanism.SuspectDelta(p.Float("delta"), rows)},
		func(s string) bool { return s == "" })
}
