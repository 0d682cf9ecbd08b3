package regress

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
)

// Warnings about the results on a user's own data. They depend on the outputs: they are for
// judging, and no part of a release.

// judged is whether they are looked for: the papers' data are as they are.
func (v *validation) judged() bool { return v.settings.own().IsFile() }

// suspicions are those of a cross-validated regression, whose error and whose
// noise's standard deviation are given, in the unit of the outputs.
func (v *validation) suspicions(rmse, noiseSD float64, scores []score) []string {
	if !v.judged() {
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
	if s := table.FitWarning(rmse, v.constants(), advice); s != "" {
		out = append(out, s)
	}
	if s := v.coverageWarning(scores); s != "" {
		out = append(out, s)
	}
	if v.scale > 0 {
		out = append(out, v.settings.Suspicions(v.data.People.Units(len(v.data.Output)))...)
	}
	return out
}

// coverageWarning looks at the regions of 95 % of all test rows, by the predictive variance of an
// observation and that of the noise. Its standard error is the binomial one, or that of the
// folds where it is larger: one draw of the noise moves all predictions of a fold.
func (v *validation) coverageWarning(scores []score) string {
	n, share := len(cloak.Tested(v.folds)), v.coverage(scores)
	folds := make([]float64, len(scores))
	for i, s := range scores {
		folds[i] = s.coverage
	}
	deviation := table.CoverageError(n, folds...)
	const unit = "; both variances are in squares of a quarter of the public range"
	narrow := "use a larger noise_variance or kernel_variance, or a shorter lengthscale" + unit
	if v.scale > 0 && !v.settings.Rank.Is(cloak.FullRank) {
		narrow = "directions beyond rank are left out, and what they would add is not known: use rank=full; otherwise " +
			narrow
	}
	return table.CoverageWarning(share, deviation, n, narrow, "use a smaller noise_variance or kernel_variance"+unit)
}

// coverage is the share of all test outputs inside their region of 95 %.
func (v *validation) coverage(scores []score) (share float64) {
	n := float64(len(cloak.Tested(v.folds)))
	for i, s := range scores {
		share += s.coverage * float64(len(v.folds[i].Test)) / n
	}
	return share
}

// constants are the errors that predictions are compared with.
func (v *validation) constants() table.Constants {
	outputs := learn.Select(v.truth, cloak.Tested(v.folds))
	return table.Constants{Middle: v.middleError(), Mean: v.constantError(stat.Mean(outputs, nil)), Tests: len(outputs)}
}

// middleError is the error of the middle of the outputs' interval.
func (v *validation) middleError() float64 {
	return v.constantError(v.data.Low + (v.data.High-v.data.Low)/2)
}

// constantError is the error of a constant, over folds as the error of predictions is.
func (v *validation) constantError(constant float64) float64 {
	sum := 0.0
	for _, f := range v.folds {
		square := 0.0
		for _, row := range f.Test {
			square += (v.truth[row] - constant) * (v.truth[row] - constant)
		}
		sum += math.Sqrt(square / float64(len(f.Test)))
	}
	return sum / float64(len(v.folds))
}
