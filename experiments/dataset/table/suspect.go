package table

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// What a statistician would say of results on a user's own data. These texts depend on
// the data: they are for judging, and no part of a release unless what they are computed
// from is public.

// nearlyConstant is the share of one value beyond which hardly anything depends on a column.
const nearlyConstant = 0.99

// ColumnWarnings say which inputs have one value in all rows, or in nearly all.
func (d *Data) ColumnWarnings() []string {
	var out []string
	for _, name := range d.Constant {
		out = append(out, fmt.Sprintf("computed but suspect: the input %q has the same value in all rows, so that no "+
			"prediction depends on it", name))
	}
	n, _ := d.X.Dims()
	for j, name := range d.Names {
		if slices.Contains(d.levelled, name) {
			continue // a rare level is no fault of its column
		}
		if most := mostFrequent(mat.Col(nil, j, d.X)); most < n && float64(most) >= nearlyConstant*float64(n) {
			out = append(out, fmt.Sprintf("computed but suspect: the input %q has one value in %d of %d rows: hardly any "+
				"prediction depends on it", name, most, n))
		}
	}
	return out
}

// mostFrequent is how often the most frequent value is there. The values are sorted.
func mostFrequent(values []float64) int {
	slices.Sort(values)
	most, run := 0, 0
	for i, v := range values {
		if i > 0 && v != values[i-1] {
			run = 0
		}
		run++
		most = max(most, run)
	}
	return most
}

// FitWarning says that predictions are no better than what costs no privacy. The error is
// compared with that of the baseline, such as "the middle of the public range"; empty
// where it is lower. Advice completes the sentence.
func FitWarning(err, baseline float64, what, advice string) string {
	if !(err >= baseline) {
		return ""
	}
	return fmt.Sprintf("computed but suspect: the predictions have an error of %.3g, and %s, which costs no privacy, has "+
		"%.3g; %s", err, what, baseline, advice)
}

// Central95 is how many standard deviations the ends of a normal variate's central region of
// 95 % lie from its mean.
const Central95 = 1.959963984540054

// Bounds beyond which the coverage of regions of 95 % is suspect.
const (
	nominalCoverage = 0.95
	suspectlyNarrow = 0.85
	suspectlyWide   = 0.995
	// coverageErrors is how many standard errors are taken for chance.
	coverageErrors = 3
)

// CoverageError is the standard error of the share of n test outputs inside regions that
// hold 95 % each: the binomial one, since several splits have the same rows.
func CoverageError(n int) float64 {
	return math.Sqrt(nominalCoverage * (1 - nominalCoverage) / float64(n))
}

// CoverageWarning says that regions of 95 % hold far fewer or more of the test outputs;
// empty where they do not, or where it may be chance, given the standard error of the
// share. Narrow and wide are advice for either.
func CoverageWarning(share, standardError float64, tests int, narrow, wide string) string {
	what, advice := "too small", narrow
	switch off := math.Abs(share - nominalCoverage); {
	case off <= coverageErrors*standardError:
		return ""
	case share > suspectlyWide:
		what, advice = "too large", wide
	case share >= suspectlyNarrow:
		return ""
	}
	return fmt.Sprintf("computed but suspect: regions of 95 %% hold %.3g of the %d test outputs: the standard deviations "+
		"are %s; %s", share, tests, what, advice)
}

// BeyondWarnings say of which inputs many of the rows x (P×d) lie outside of a range: what
// is computed there is extrapolated. Low and high are ends a column, d; what names the
// range, such as "the public range".
func BeyondWarnings(x *mat.Dense, names []string, low, high []float64, what string) []string {
	n, _ := x.Dims()
	var out []string
	for j, name := range names {
		outside := 0
		for i := range n {
			if v := x.At(i, j); v < low[j] || v > high[j] {
				outside++
			}
		}
		if outside > 0 {
			out = append(out, fmt.Sprintf("computed but suspect: in %d of %d rows the input %q is outside of %s, %.4g to %.4g: "+
				"what is predicted there is extrapolated", outside, n, name, what, low[j], high[j]))
		}
	}
	return out
}

// Ranges are the ends of the columns of x.
func Ranges(x *mat.Dense) (low, high []float64) {
	_, d := x.Dims()
	for j := range d {
		column := mat.Col(nil, j, x)
		low, high = append(low, slices.Min(column)), append(high, slices.Max(column))
	}
	return low, high
}
