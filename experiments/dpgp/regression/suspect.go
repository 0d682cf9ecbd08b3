package regression

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/mechanism"
)

// suspicions say what is suspect about the results on a user's own data, given the
// metrics and what they are means of. They depend on the data: they are for judging,
// and no part of a release.
func (r *regressor) suspicions(m *Metrics, splits []split) []string {
	if !own.IsFile(r.settings.Dataset) {
		return nil
	}
	out := slices.Clone(r.suspect)
	tests := r.tests()
	train := len(r.y) - tests
	noisy := r.Noise.SigmaA > 0
	// An element of A is a sum of kernel values, at most σ_f², times outputs from −1
	// to 1.
	if most := 2 * float64(train) * r.Model.Variance; r.Noise.SigmaA > most {
		out = append(out, fmt.Sprintf("computed but suspect: the noise in an element of A has a standard deviation "+
			"of %.3g, and the public range of that sum over %d rows is %.3g wide; use a larger epsilon, fewer "+
			"inducing inputs, or more rows",
			r.Noise.SigmaA, train, most))
	}
	advice := "choose lengthscale, kernel_variance, sigma and inducing inputs anew, without looking at the data"
	if noisy {
		advice = fmt.Sprintf("without noise it is %.3g: if that is far less, use a larger epsilon, fewer inducing inputs, "+
			"or more rows; otherwise ", m.RMSEWithoutNoise) + advice
	}
	if s := table.FitWarning(m.RMSE, m.RMSECentre, "the middle of the public range", advice); s != "" {
		out = append(out, s)
	}
	if s := table.CoverageWarning(m.Coverage95, coverageError(splits, tests), tests, "use a larger sigma, a shorter "+
		"lengthscale with more inducing inputs, or a larger kernel_variance", "use a smaller sigma or kernel_variance, or, "+
		"where the noise is most of them, a larger epsilon"); s != "" {
		out = append(out, s)
	}
	if noisy {
		if s := mechanism.SuspectDelta(r.settings.Delta, len(r.y)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// coverageError is the standard error of the mean coverage of splits with the given
// number of test rows each: the binomial one of a single split, since the rows of several are
// the same, or that of the splits where it is larger, since one draw of the noise
// moves all predictions of a split.
func coverageError(splits []split, tests int) float64 {
	binomial := table.CoverageError(tests)
	if len(splits) < 2 {
		return binomial
	}
	coverage := make([]float64, len(splits))
	for i, s := range splits {
		coverage[i] = s.coverage
	}
	return max(binomial, stat.StdErr(stat.StdDev(coverage, nil), float64(len(splits))))
}
