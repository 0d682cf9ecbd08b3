package regression

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dpgp/own"
	"privkern/experiments/mechanism"
)

// Bounds beyond which the coverage of a region of 95 % is suspect.
const (
	nominalCoverage = 0.95
	suspectlyNarrow = 0.85
	suspectlyWide   = 0.995
	// coverageErrors is how many standard errors are taken for chance.
	coverageErrors = 3
)

// suspicions say what is suspect about the results on a user's own data, given the
// metrics and what they are means of. They depend on the data: they are for judging,
// and no part of a release.
func (r *regressor) suspicions(m *Metrics, splits []split) []string {
	if !own.IsFile(r.settings.Dataset) {
		return nil
	}
	var out []string
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
	if rmse, centre := m.RMSE, m.RMSECentre; rmse >= centre {
		advice := "choose lengthscale, kernel_variance, sigma and inducing inputs anew, without looking at the data"
		if noisy {
			advice = fmt.Sprintf("without noise it is %.3g: if that is far less, use a larger epsilon, fewer "+
				"inducing inputs, or more rows; otherwise ", m.RMSEWithoutNoise) + advice
		}
		out = append(out, fmt.Sprintf("computed but suspect: the predictions have an error of %.3g, and the middle "+
			"of the public range, which costs no privacy, has %.3g; %s", rmse, centre, advice))
	}
	coverage := m.Coverage95
	switch off := math.Abs(coverage - nominalCoverage); {
	case off <= coverageErrors*coverageError(splits, tests):
	case coverage < suspectlyNarrow:
		out = append(out, fmt.Sprintf("computed but suspect: regions of 95 %% hold %.3g of the %d test outputs of "+
			"a split: the standard deviations are too small; use a larger sigma, a shorter lengthscale with more "+
			"inducing inputs, or a larger kernel_variance", coverage, tests))
	case coverage > suspectlyWide:
		out = append(out, fmt.Sprintf("computed but suspect: regions of 95 %% hold %.3g of the %d test outputs of "+
			"a split: the standard deviations are too large; use a smaller sigma or kernel_variance, or, where the "+
			"noise is most of them, a larger epsilon", coverage, tests))
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
	binomial := math.Sqrt(nominalCoverage * (1 - nominalCoverage) / float64(tests))
	if len(splits) < 2 {
		return binomial
	}
	coverage := make([]float64, len(splits))
	for i, s := range splits {
		coverage[i] = s.coverage
	}
	return max(binomial, stat.StdErr(stat.StdDev(coverage, nil), float64(len(splits))))
}
