package own

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// The defaults of a user's own data, for outputs scaled to [−1, 1]; docs/dpgp.md, "Defaults on your own data", has
// the data sets that they were found and judged on.
const (
	// Variance is that of the kernel: a function within the public range has a standard deviation of a quarter of it.
	Variance = 0.25
	// Sigma is the standard deviation of the observation noise: a tenth of the range.
	Sigma = 0.2
	// Rho is the probability with which the noise may exceed λ. Where it does, λ is raised by what the noisy sums
	// need, so that little is lost, and λ is smaller in all other cases.
	Rho = 0.5
)

// Ratio returns the standard deviation of the noise in A over that in B for a variance σ_f² of the kernel.
// With κ = R_k²/σ_f⁴ and t = ratio² R_k² the noise in an element of A, over σ_f², is proportional to
// (1 + 2t)/√(2t)·√κ, and that in B, over σ_f⁴, to (1 + 2t)/(√2 t)·κ, because Eq. (6) is a square. The former
// is least at t = 1/2, and the latter falls with t. With 1/σ_f² t is κ, which is little more than 1 where
// inducing inputs are two lengthscales apart.
func Ratio(variance float64) float64 { return 1 / variance }

// WhitenedRatio is [Ratio] of whitened features ([sparse.Whitening]), whose squared norms are up to σ_f²: the noise in
// A is least at ratio²·σ_f² = 1/2.
func WhitenedRatio(variance float64) float64 { return 1 / math.Sqrt(2*variance) }

// FilteredRatio is [WhitenedRatio] of a number, for which the noise in B counts more: ratio²·σ_f² is 1.
func FilteredRatio(variance float64) float64 { return 1 / math.Sqrt(variance) }

// perInput is the number of values of each input in a full design, by the number of inputs that are numbers.
func perInput(numbers int) int {
	switch numbers {
	case 1:
		return 6
	case 2:
		return 3
	}
	return 2
}

const (
	// mostFull is the most points of a full design of two values of each number.
	mostFull = 24
	// mostRuns is the most points of other full designs, and of a fraction of the corners.
	mostRuns = 64
	// inset is how far two values of an input are from the ends of its range, as a share of it: there are few rows
	// in the corners of several inputs.
	inset = 0.125
	// whitenedShare is the lengthscale of whitened features of several numbers over that of kernel vectors, whose noise
	// grows with the overlap of the kernels.
	whitenedShare = 1.4
)

// arrangement is the kind of a [design].
type arrangement struct{ centred, star bool }

// design returns the inducing inputs of the rule (M×columns) between the ends, by the number of inputs and levels
// alone. They are
//
//   - every combination of equidistant values of each number ([perInput]) and of the levels of each category,
//     where these are few ([isFull]);
//   - with star, where it has at most mostFull points, a [star];
//   - otherwise a fraction of the combinations of two values of each input (Box and Hunter 1961, "The 2^(k−p)
//     fractional factorial designs", Technometrics 3): of any two inputs each pair of values is there equally
//     often, and of any three each triple, as long as there are at most half as many inputs as points;
//   - for more inputs than such a design of mostRuns has, a Halton sequence.
//
// When centred, the middle is one of two values' points, too: without it all that is learned of classes is far from
// most rows, where probabilities are then even.
func design(inputs []table.Input, low, high []float64, of arrangement) (*mat.Dense, error) {
	if numbers := numeric(inputs); perInput(numbers) == 2 {
		low, high = inwards(inputs, low, high)
	}
	var z *mat.Dense
	switch factors, runs := fraction(inputs); {
	case isFull(inputs):
		z = crossed(inputs, low, high)
	case of.star && starred(inputs) <= mostFull:
		return star(inputs, low, high), nil
	case runs <= mostRuns:
		z = corners(inputs, factors, runs, low, high)
	default:
		return scattered(defaultScattered, inputs, low, high)
	}
	if of.centred && numeric(inputs) == len(inputs) && perInput(len(inputs)) == 2 {
		middle := mat.NewDense(1, len(low), nil)
		for j := range low {
			middle.Set(0, j, low[j]+(high[j]-low[j])/2)
		}
		var all mat.Dense
		all.Stack(z, middle)
		return &all, nil
	}
	return z, nil
}

// inwards returns ends that are moved in by inset, of numbers alone.
func inwards(inputs []table.Input, low, high []float64) (from, to []float64) {
	from, to = slices.Clone(low), slices.Clone(high)
	column := 0
	for _, in := range inputs {
		if in.Levels == 0 {
			by := inset * (high[column] - low[column])
			from[column], to[column] = from[column]+by, to[column]-by
		}
		column += max(1, in.Levels)
	}
	return from, to
}

// numeric is how many of the inputs are numbers.
func numeric(inputs []table.Input) int {
	n := 0
	for _, in := range inputs {
		if in.Levels == 0 {
			n++
		}
	}
	return n
}

// isFull reports whether the inputs have a full design, of at most mostRuns points where numbers have more than two
// values, which a fraction does not.
func isFull(inputs []table.Input) bool {
	each, all, most := perInput(numeric(inputs)), 1, mostFull
	if each > 2 {
		most = mostRuns
	}
	for _, in := range inputs {
		if in.Levels > 0 {
			all *= in.Levels
		} else {
			all *= each
		}
		if all > most {
			return false
		}
	}
	return true
}

// crossed returns the full design, the last input fastest.
func crossed(inputs []table.Input, low, high []float64) *mat.Dense {
	each := perInput(numeric(inputs))
	points := [][]float64{nil}
	column := 0
	for _, in := range inputs {
		var next [][]float64
		for _, p := range points {
			if in.Levels > 0 {
				for level := range in.Levels {
					next = append(next, append(slices.Clip(p), hot(level, in.Levels)...))
				}
				continue
			}
			for i := range each {
				v := low[column] + (high[column]-low[column])*float64(i)/float64(each-1)
				next = append(next, append(slices.Clip(p), v))
			}
		}
		points = next
		column += max(1, in.Levels)
	}
	return mat.NewDense(len(points), column, slices.Concat(points...))
}

// hot is the point of a category: 1 in the column of its level, and 0 in those of its other levels.
func hot(level, levels int) []float64 {
	out := make([]float64, levels)
	out[level] = 1
	return out
}

// fraction returns how many factors of two levels the inputs have, and how many runs a design of them takes: a category
// of k levels has ⌈log₂ k⌉. Runs are 16 at least, and more than the factors.
func fraction(inputs []table.Input) (factors, runs int) {
	for _, in := range inputs {
		factors += factorsOf(in)
	}
	return factors, max(16, 1<<bits.Len(uint(factors)))
}

func factorsOf(in table.Input) int {
	if in.Levels == 0 {
		return 1
	}
	return bits.Len(uint(in.Levels - 1))
}

// words returns the generators of the factors among the numbers below runs, a power of two: a factor is high in
// the runs whose bits that are in its word have odd parity. First come those of single bits. A single one more
// has all bits, which makes the points as different as can be; otherwise those of odd parity follow, the
// longest first, then those of even parity.
func words(factors, runs int) []int {
	var single, odd, even []int
	for w := runs - 1; w > 0; w-- {
		switch n := bits.OnesCount(uint(w)); {
		case n == 1:
			single = append(single, w)
		case n%2 == 1:
			odd = append(odd, w)
		default:
			even = append(even, w)
		}
	}
	if factors == len(single)+1 {
		return append(single, runs-1)
	}
	slices.SortStableFunc(odd, func(a, b int) int { return bits.OnesCount(uint(b)) - bits.OnesCount(uint(a)) })
	return slices.Concat(single, odd, even)[:factors]
}

// corners returns the fraction of the corners. A category's factors are the digits of its level, modulo the number
// of levels; of equal points, which that may make, the first is kept.
func corners(inputs []table.Input, factors, runs int, low, high []float64) *mat.Dense {
	generators := words(factors, runs)
	var points [][]float64
	for run := range runs {
		point, factor := make([]float64, 0, len(low)), 0
		for _, in := range inputs {
			level := 0
			for range factorsOf(in) {
				level = 2*level + bits.OnesCount(uint(run&generators[factor]))%2
				factor++
			}
			switch column := len(point); {
			case in.Levels > 0:
				point = append(point, hot(level%in.Levels, in.Levels)...)
			case level > 0:
				point = append(point, high[column])
			default:
				point = append(point, low[column])
			}
		}
		if !slices.ContainsFunc(points, func(p []float64) bool { return slices.Equal(p, point) }) {
			points = append(points, point)
		}
	}
	return mat.NewDense(len(points), len(low), slices.Concat(points...))
}

// Lengthscales returns the numbers of the setting, or else those of the rule, for inducing inputs z (M×columns) that
// were placed.
func (i Inducing) Lengthscales(s method.Lengthscale, inputs []table.Input, z *mat.Dense) (experiment.Several, error) {
	if !s.IsWord {
		return s.Numbers, nil
	}
	low, high, err := i.ends(inputs, z)
	if err != nil {
		return nil, err
	}
	return i.byRange(inputs, low, high)
}

// Known returns the setting with the numbers of the rule, where they follow from settings alone: the inputs are named
// and their range is given. Otherwise it stays as it is; what is wrong with a range, a check reports.
func (i Inducing) Known(s method.Lengthscale, inputs []table.Input) method.Lengthscale {
	if !s.IsWord || len(inputs) == 0 || !i.Computed() || i.Range.Low.Is(method.Absent) {
		return s
	}
	numbers, err := i.Lengthscales(s, inputs, nil)
	if err != nil {
		return s
	}
	return method.LengthscalesOf(numbers...)
}

// ends are those of the range of each column: the public ones or, of inducing inputs that are given, their extremes.
func (i Inducing) ends(inputs []table.Input, z *mat.Dense) (low, high []float64, err error) {
	if i.Computed() {
		return i.Range.Of(inputs, simulatedEnd)
	}
	n, columns := z.Dims()
	low, high = make([]float64, columns), make([]float64, columns)
	for j := range columns {
		low[j], high[j] = z.At(0, j), z.At(0, j)
		for row := range n {
			low[j], high[j] = min(low[j], z.At(row, j)), max(high[j], z.At(row, j))
		}
	}
	return low, high, nil
}

// byRange returns the lengthscales of the rule ([method.ByRange]).
//
// The fraction is a tenth for one input, and √d/4 for d of them, as distances in units of the ranges grow; of whitened
// features of a number it is [whitenedShare] times that of several inputs. Where
// a number of inducing inputs was given, it is half their least distance at least: there is no gap between them.
func (i Inducing) byRange(inputs []table.Input, low, high []float64) (experiment.Several, error) {
	share, err := i.share(inputs)
	if err != nil {
		return nil, err
	}
	return method.ByRange(share, inputs, low, high, "inducing inputs")
}

// share is the fraction of a range that is a lengthscale.
func (i Inducing) share(inputs []table.Input) (float64, error) {
	share := 0.1
	if d := len(inputs); d > 1 {
		share = method.Share(d)
		if i.Whitened {
			share *= whitenedShare
		}
	}
	if !i.Computed() || i.Auto {
		return share, nil
	}
	unit := Inducing{Count: i.Count, Range: method.InputRange{
		Low: experiment.SeveralOf[method.None](0), High: experiment.SeveralOf[method.None](1)}}
	z, err := unit.overRange(inputs)
	if err != nil {
		return 0, err
	}
	return max(share, spacing(z)/2), nil
}

// spacing is the least distance of two inducing inputs; 1 for a single one.
func spacing(z *mat.Dense) float64 {
	if n, _ := z.Dims(); n < 2 {
		return 1
	}
	_, _, least := sparse.Nearest(z)
	return least
}
