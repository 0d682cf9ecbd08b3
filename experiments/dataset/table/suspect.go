package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Warnings of a statistician about results on a user's own data. The texts depend on the data: they
// are for judging, and no part of a release unless they are computed from public numbers.

// nearlyConstant is the share of one value beyond which hardly anything depends on a column.
const nearlyConstant = 0.99

// ColumnWarnings names the inputs with one value in all rows, or in nearly all, and the columns of the
// file that look like identifiers of persons.
func (d *Data) ColumnWarnings() []string {
	var out []string
	for _, i := range d.identifiers {
		out = append(out, "computed but suspect: "+i.String())
	}
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

// widestRatio is how much wider than another an input may be before one
// lengthscale for both is suspect.
const widestRatio = 10

// ScalesWarning warns of inputs x (N×D) that share one lengthscale and extend over ranges of different sizes; it is
// empty where there are none. Advice completes the sentence.
func ScalesWarning(names []string, x *mat.Dense, advice string) string {
	narrow, wide := -1, -1
	lows, highs := Ranges(x)
	width := make([]float64, len(lows))
	for j := range width {
		if width[j] = highs[j] - lows[j]; width[j] == 0 {
			continue
		}
		if narrow < 0 || width[j] < width[narrow] {
			narrow = j
		}
		if wide < 0 || width[j] > width[wide] {
			wide = j
		}
	}
	if narrow == wide || width[wide] <= widestRatio*width[narrow] {
		return ""
	}
	return fmt.Sprintf("computed but suspect: the input %q extends over %.3g and %q over %.3g, but all "+
		"inputs share one lengthscale; %s", names[wide], width[wide], names[narrow], width[narrow], advice)
}

// Constants are the errors of two constants as predictions, in the unit of the output: of the middle of its public
// range, which costs no privacy, and of the mean of the test outputs, which no range makes worse. Tests is the number
// of these.
type Constants struct {
	Middle, Mean float64
	Tests        int
}

// FitWarning warns of predictions that are no better than the middle of the public range, or clearly worse than the
// mean of the outputs, given their error; it is empty for others. Advice completes the sentence.
func FitWarning(err float64, c Constants, advice string) string {
	rule, other := "the middle of the public range, which costs no privacy, has", c.Middle
	if !(err >= c.Middle) {
		if !c.farAbove(err) {
			return ""
		}
		rule, other = "the mean of the outputs has", c.Mean
	}
	got, text := apart(err, other)
	return fmt.Sprintf("computed but suspect: the predictions have an error of %s, and %s %s; %s", got, rule, text, advice)
}

// farAbove reports whether the square of an error exceeds that of the mean of the N test outputs by more than a share
// of 0.1 + 40/N. The mean of other rows, which is worth as much, has a larger one by chance: of four times as many, it
// exceeds this in fewer than one case of 50 for 20 lognormal outputs, of 200 for 100, and hardly ever for normal ones.
// Outputs that are all equal, or fewer than 10, tell nothing.
func (c Constants) farAbove(err float64) bool {
	return c.Tests >= 10 && c.Mean > 0 && err*err > (1.1+40/float64(c.Tests))*c.Mean*c.Mean
}

// Clipping is how many of the outputs lie outside of their public range, to whose ends they were clipped.
type Clipping struct {
	Outside, Of int
	Outputs     string // such as "heights"
	Low, High   float64
	Unit        string // of the outputs, with the space before it
	AsRead      bool   // errors are measured against outputs as they were read, and not against clipped ones
}

// MuchClipped is a suspicious share of outputs outside of their public range.
const MuchClipped = .01

const wereClipped = " and were clipped"

// String is a sentence.
func (c Clipping) String() string {
	against := "the clipped " + c.Outputs
	if c.AsRead {
		against = "those that were read"
	}
	return fmt.Sprintf("%d of %d %s are outside [%.10g, %.10g]%s%s; errors are measured against %s", c.Outside, c.Of,
		c.Outputs, c.Low, c.High, c.Unit, wereClipped, against)
}

// Warning warns of more than a share of the outputs, such as [MuchClipped]; empty for fewer.
func (c Clipping) Warning(share float64) string {
	if !(float64(c.Outside) > share*float64(c.Of)) {
		return ""
	}
	return "computed but suspect: " + c.String() + "; a wider public range costs noise, this one costs accuracy"
}

// IsClipping reports whether a warning is that of a [Clipping].
func IsClipping(warning string) bool {
	before, _, _ := strings.Cut(warning, "; ")
	return strings.HasSuffix(before, wereClipped)
}

// AccuracyWarning warns of an accuracy that is not above that of a rule, such as "the share of the
// larger class"; it is empty where it is. Advice completes the sentence.
func AccuracyWarning(accuracy, rule float64, what, advice string) string {
	switch got, other := apart(accuracy, rule); {
	case accuracy < rule:
		return fmt.Sprintf("computed but suspect: the accuracy of %s is below %s, %s; %s", got, what, other, advice)
	case accuracy == rule:
		return fmt.Sprintf("computed but suspect: the accuracy of %s is equal to %s; %s", got, what, advice)
	}
	return ""
}

// apart writes two numbers with three digits, or with as many as tell them apart.
func apart(a, b float64) (first, second string) {
	for digits := 3; ; digits++ {
		first, second = strconv.FormatFloat(a, 'g', digits, 64), strconv.FormatFloat(b, 'g', digits, 64)
		if first != second || a == b || digits == 17 {
			return first, second
		}
	}
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

// CoverageError returns the standard error of the share of n test outputs inside regions that
// hold 95 % each: the binomial one, since several splits have the same rows, or that of the mean
// of the splits' shares where it is larger, since one draw of the noise moves all predictions of a
// split.
func CoverageError(n int, splits ...float64) float64 {
	binomial := math.Sqrt(nominalCoverage * (1 - nominalCoverage) / float64(n))
	if len(splits) < 2 {
		return binomial
	}
	return max(binomial, stat.StdErr(stat.StdDev(splits, nil), float64(len(splits))))
}

// CoverageWarning warns of 95 % regions that hold far fewer or far more of the test outputs; it is
// empty where they do not, or where chance explains it, given the standard error of the share.
// Narrow and wide are advice for either case.
func CoverageWarning(share, standardError float64, tests int, narrow, wide string) string {
	few, small, advice := "few", "small", narrow
	switch off := math.Abs(share - nominalCoverage); {
	case off <= coverageErrors*standardError:
		return ""
	case share > suspectlyWide:
		few, small, advice = "many", "large", wide
	case share >= suspectlyNarrow:
		return ""
	}
	return fmt.Sprintf("computed but suspect: regions of 95 %% hold too %s of the %d test outputs, %.3g %%: the standard "+
		"deviations are too %s; %s", few, tests, 100*share, small, advice)
}

// BeyondWarnings names the inputs of which many of the rows x (P×d) lie outside a range: results
// there are extrapolated. Low and high are the ends for each column, d; rangeName describes it,
// such as "the public range".
func BeyondWarnings(x *mat.Dense, names []string, low, high []float64, rangeName string) []string {
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
				"what is predicted there is extrapolated", outside, n, name, rangeName, low[j], high[j]))
		}
	}
	return out
}

// ReadOffWarning names the columns of x (N×d) of which an end of the range that is given as public is the
// smallest or the largest value of the data: it was probably read off them. Ends of one digit, such as 0
// or 100, are passed over, because data often reach these. Empty for none.
func ReadOffWarning(x *mat.Dense, names []string, low, high []float64) string {
	lows, highs := Ranges(x)
	var found []string
	for j, name := range names {
		switch atLow, atHigh := low[j] == lows[j] && !round(low[j]), high[j] == highs[j] && !round(high[j]); {
		case atLow && atHigh:
			found = append(found, fmt.Sprintf("of %q is %g to %g, the smallest and the largest value", name, low[j], high[j]))
		case atLow:
			found = append(found, fmt.Sprintf("of %q begins at %g, the smallest value", name, low[j]))
		case atHigh:
			found = append(found, fmt.Sprintf("of %q ends at %g, the largest value", name, high[j]))
		}
	}
	if found == nil {
		return ""
	}
	const most = 5
	if more := len(found) - most; more > 0 {
		found = append(found[:most], fmt.Sprintf("and so do those of %d more columns", more))
	}
	return "computed but suspect: the public range " + strings.Join(found, "; that ") + " of the data: a range that was " +
		"read off them tells about single rows, and is not public; take one that was known before, or release one " +
		"(run release stats)"
}

// round reports whether a number has one digit that is not 0.
func round(v float64) bool {
	digits, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', -1, 64), "e")
	return len(digits) == 1
}

// Ranges returns the minimum and the maximum of the finite values of each column of x; NaN where none is.
func Ranges(x *mat.Dense) (low, high []float64) {
	_, d := x.Dims()
	for j := range d {
		least, largest := endsOf(mat.Col(nil, j, x))
		low, high = append(low, least), append(high, largest)
	}
	return low, high
}

// endsOf returns the least and the largest of the finite values; NaN where none is.
func endsOf(values []float64) (least, largest float64) {
	least, largest = math.NaN(), math.NaN()
	for _, v := range values {
		if math.IsNaN(v - v) {
			continue
		}
		if !(v >= least) {
			least = v
		}
		if !(v <= largest) {
			largest = v
		}
	}
	return least, largest
}
