// Package own is what the experiments on a user's own data share: the names of columns,
// public ranges with an end for all inputs or one for each, and inducing inputs on a grid
// over them or from a file.
package own

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

// Simulated is the name of the data that are no file.
const Simulated = "simulated"

// None is the word of what is not given.
type None int

// Absent is its only value.
const Absent None = 0

// Choices are the word.
func (None) Choices() []string { return []string{"none"} }

// Ends are the ends of a public range, one for all inputs or one for each.
type Ends = experiment.SeveralOr[None]

// IsFile says whether data are a file of the user's.
func IsFile(name string) bool {
	_, file := dataset.FilePath(name)
	return file
}

// Like names a file that a setting of data may have meant, in words that end a refusal: "" for
// none.
func Like(name string) string {
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", table.Named(name))
}

// CheckLevels refuses a release of inputs of which some, private, are categories whose levels
// are read off the rows: not even how many there are is public.
func CheckLevels(inputs string, private []string) error {
	if len(private) == 0 {
		return nil
	}
	return fmt.Errorf("inputs = %s: the levels of %q are read off the data, which a release protects; write them, "+
		"such as inputs=colour[red|green]", inputs, private[0])
}

// ForInputs returns the numbers of a setting for each of the inputs.
func ForInputs(name string, numbers experiment.Several, inputs int) ([]float64, error) {
	values, ok := numbers.For(inputs)
	if !ok {
		noun := "inputs"
		if inputs == 1 {
			noun = "input"
		}
		return nil, fmt.Errorf("%s = %s: these are %d numbers for %d %s; give one for all, or one for each", name,
			numbers, len(numbers), inputs, noun)
	}
	return values, nil
}

// Range is the public range of inputs.
type Range struct{ Low, High Ends }

// Of returns the ends in each of that many inputs, ∓simulated where none are given.
func (r Range) Of(inputs int, simulated float64) (low, high []float64, err error) {
	if r.Low.Is(Absent) && r.High.Is(Absent) {
		return slices.Repeat([]float64{-simulated}, inputs), slices.Repeat([]float64{simulated}, inputs), nil
	}
	if low, err = ForInputs("input_low", r.Low.Numbers, inputs); err != nil {
		return nil, nil, err
	}
	if high, err = ForInputs("input_high", r.High.Numbers, inputs); err != nil {
		return nil, nil, err
	}
	for i := range low {
		if !(low[i] < high[i] && !math.IsInf(high[i]-low[i], 0)) {
			return nil, nil, fmt.Errorf("input_low = %g and input_high = %g: input_low must be below input_high", low[i],
				high[i])
		}
	}
	return low, high, nil
}

// Warnings say what is suspect about the inputs of the rows that were read: those with one value
// in all or nearly all rows, and rows outside of the public range, where a grid is laid over it.
// They depend on the data: they are for judging, and no part of a release.
func (r Range) Warnings(data *table.Data, grid bool) []string {
	out := data.ColumnWarnings()
	if !grid {
		return out
	}
	low, high, err := r.Of(len(data.Names), 1)
	if err != nil { // there is no grid over a range that is none
		return out
	}
	return append(out, table.BeyondWarnings(data.X, data.Names, low, high, "the public range")...)
}

// Check refuses a range that is none; needed says that there must be one.
func (r Range) Check(inputs int, needed bool) error {
	if err := r.CheckGiven(needed); err != nil {
		return err
	}
	_, _, err := r.Of(inputs, 1)
	return err
}

// CheckGiven refuses one end without the other, or none where one is needed: what can be
// seen before it is known how many inputs there are.
func (r Range) CheckGiven(needed bool) error {
	if low, high := r.Low.Is(Absent), r.High.Is(Absent); low != high || needed && low {
		return errors.New("input_low and input_high are not given: they are the public range of the inputs over which " +
			"the grid of inducing inputs is laid; it must not be read off the data")
	}
	// Where there is one for each, their number is looked at when that of the inputs is known.
	low, high := r.Low.Numbers, r.High.Numbers
	if n := max(len(low), len(high)); n > 0 && (len(low) == n || len(low) == 1) && (len(high) == n || len(high) == 1) {
		_, _, err := r.Of(n, 1)
		return err
	}
	return nil
}

// CheckGrid refuses a grid of count inducing inputs in each of the inputs that has too many.
func CheckGrid(count, inputs int) error {
	if all := math.Pow(float64(count), float64(inputs)); all > sparse.MaxInducing {
		what := fmt.Sprintf("%d inputs", inputs)
		if inputs == 1 {
			what = "one input"
		}
		return fmt.Errorf("inducing = %d: a grid in %s has %.4g points; at most %d are possible: use fewer, or give points "+
			"in a file", count, what, all, sparse.MaxInducing)
	}
	return nil
}

// Grid is a regular grid (count^d × d) between the ends in each of d inputs.
func Grid(count int, low, high []float64) *mat.Dense {
	all, d := 1, len(low)
	for range d {
		all *= count
	}
	out := mat.NewDense(all, d, nil)
	for i := range all {
		for j, rest := d-1, i; j >= 0; j, rest = j-1, rest/count {
			v := low[j] + (high[j]-low[j])/2
			if count > 1 {
				v = low[j] + (high[j]-low[j])*float64(rest%count)/float64(count-1)
			}
			out.Set(i, j, v)
		}
	}
	return out
}

// InducingFile reads inducing inputs (M×D) from the file of a data set of a trial.
func InducingFile(t *experiment.Trial, name string, inputs []string) (*mat.Dense, error) {
	z, err := table.LoadPoints(t, name, inputs)
	if err != nil {
		return nil, err
	}
	n, _ := z.Dims()
	written, _ := dataset.FilePath(name)
	if n > sparse.MaxInducing {
		return nil, fmt.Errorf("%s: %d inducing inputs; at most %d are possible", written, n, sparse.MaxInducing)
	}
	if n > 1 {
		if i, j, distance := sparse.Nearest(z); distance == 0 {
			return nil, fmt.Errorf("%s: the inducing inputs %d and %d are equal, which makes their covariance singular",
				written, min(i, j)+1, max(i, j)+1)
		}
	}
	return z, nil
}

// Model returns the sparse GP with a lengthscale for each input, or one for all, and what
// its inputs are scaled by.
func Model(
	z *mat.Dense, lengthscale experiment.Several, variance, noise, jitter float64,
) (*sparse.Model, sparse.Scaling) {
	if len(lengthscale) == 1 {
		return sparse.NewModel(z, lengthscale[0], variance, noise, jitter), nil
	}
	scaling := sparse.Scaling(lengthscale)
	return sparse.NewModel(scaling.Apply(z), 1, variance, noise, jitter), scaling
}

// Rows are the rows of a matrix, as a file has them.
func Rows(a *mat.Dense) [][]float64 {
	n, _ := a.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = slices.Clone(a.RawRowView(i))
	}
	return out
}
