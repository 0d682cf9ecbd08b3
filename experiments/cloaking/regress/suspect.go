package regress

import (
	"fmt"
	"math"

	"privkern/experiments/dataset/table"
)

// What is suspect about the results on a user's own data. These warnings depend on
// the outputs: they are for judging, and no part of a release.

// suspicions are those of a cross-validated regression, whose error and whose
// noise's standard deviation are given, in the unit of the outputs.
func (v *validation) suspicions(rmse, noiseSD float64) []string {
	if !v.settings.own().IsFile() {
		return nil
	}
	number := func(f float64) string { return fmt.Sprintf("%.3g", f) }
	var out []string
	if noiseSD > v.data.Width {
		out = append(out, fmt.Sprintf("computed but suspect: the noise has a standard deviation of %s, more than "+
			"the public range of the output, %s; use a larger epsilon, method=sparse with few inducing inputs, a "+
			"longer lengthscale, or more rows",
			number(noiseSD), number(v.data.Width)))
	}
	advice := "choose lengthscale, kernel_variance and noise_variance anew, without looking at the outputs"
	if v.scale > 0 {
		advice = "epsilon=inf shows how much of it is noise: if most, use a larger epsilon, method=sparse, or " +
			"more rows; otherwise " + advice
	}
	if s := table.FitWarning(rmse, v.middleError(), "the middle of the public range", advice); s != "" {
		out = append(out, s)
	}
	if v.scale > 0 {
		out = append(out, v.settings.Suspicions(len(v.data.Output))...)
	}
	return out
}

// middleError is the error of the middle of the outputs' interval, over folds as
// the error of predictions is.
func (v *validation) middleError() float64 {
	middle := v.data.Low + (v.data.High-v.data.Low)/2
	sum := 0.0
	for _, f := range v.folds {
		square := 0.0
		for _, row := range f.Test {
			square += (v.data.Output[row] - middle) * (v.data.Output[row] - middle)
		}
		sum += math.Sqrt(square / float64(len(f.Test)))
	}
	return sum / float64(len(v.folds))
}
