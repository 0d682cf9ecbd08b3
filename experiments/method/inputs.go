package method

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// ForInputs returns the numbers of a setting for each of the columns that inputs make: the numbers are
// one for all, or one for each input, where a category is one input whose columns share its number.
// One for each column is taken, too, as earlier versions counted.
func ForInputs(name string, numbers experiment.Several, inputs []table.Input) ([]float64, error) {
	columns := table.Width(inputs)
	if values, ok := numbers.For(columns); ok {
		return values, nil
	}
	if len(numbers) == len(inputs) {
		out := make([]float64, 0, columns)
		for i, in := range inputs {
			out = append(out, slices.Repeat([]float64{numbers[i]}, max(1, in.Levels))...)
		}
		return out, nil
	}
	return nil, CountError(name, numbers.String(), len(numbers), inputs)
}

// mostNamed is how many inputs a message names one by one.
const mostNamed = 12

// CountError refuses a setting with so many numbers, which are neither one nor one for each input.
func CountError(name, value string, numbers int, inputs []table.Input) error {
	list, category := "", ""
	if n := len(inputs); n > 0 && n <= mostNamed && inputs[0].Name != "" {
		names := make([]string, n)
		for i, in := range inputs {
			names[i] = in.Name
		}
		list = " (" + strings.Join(names, ", ") + ")"
	}
	if table.Width(inputs) > len(inputs) {
		category = "; a category is one, of any number of levels"
	}
	return fmt.Errorf("%s = %s: these are %d %s for %d %s%s; give one for all, or one for each%s", name, value, numbers,
		counted(numbers, "number"), len(inputs), counted(len(inputs), "input"), list, category)
}

// counted is a noun for so many of them.
func counted(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// InputRange is the public range of the inputs.
type InputRange struct{ Low, High Ends }

// Of returns the ends for each of the columns that inputs make, ∓simulated where none are given.
func (r InputRange) Of(inputs []table.Input, simulated float64) (low, high []float64, err error) {
	columns := table.Width(inputs)
	if r.Low.Is(Absent) && r.High.Is(Absent) {
		return slices.Repeat([]float64{-simulated}, columns), slices.Repeat([]float64{simulated}, columns), nil
	}
	return r.Ends(inputLow, inputHigh, inputs)
}

// The settings of a range of inputs.
const inputLow, inputHigh = "input_low", "input_high"

// Ends returns the ends of a range that is given, by settings of those names, for each of the columns
// that inputs make ([ForInputs]). A bound is of numbers: a category has 0 and 1, unless there is one for each of its
// columns.
func (r InputRange) Ends(lowName, highName string, inputs []table.Input) (low, high []float64, err error) {
	if low, err = ForInputs(lowName, r.Low.Numbers, inputs); err != nil {
		return nil, nil, err
	}
	if high, err = ForInputs(highName, r.High.Numbers, inputs); err != nil {
		return nil, nil, err
	}
	if most := max(len(r.Low.Numbers), len(r.High.Numbers)); most == 1 || most == len(inputs) {
		j := 0
		for _, in := range inputs {
			for i := range in.Levels {
				low[j+i], high[j+i] = 0, 1
			}
			j += max(1, in.Levels)
		}
	}
	for i := range low {
		switch {
		case !(low[i] < high[i]):
			return nil, nil, fmt.Errorf("%s = %g and %s = %g: %[1]s must be below %[3]s", lowName, low[i], highName, high[i])
		case math.IsInf(high[i]-low[i], 0):
			return nil, nil, fmt.Errorf("%s = %g and %s = %g: they are farther apart than double precision can hold", lowName,
				low[i], highName, high[i])
		}
	}
	return low, high, nil
}

// Warnings returns how many of the rows x lie outside of the range, and whether it is that of the rows. They
// depend on the data: they are for judging, and no part of a release.
func (r InputRange) Warnings(rows *Rows) []string {
	low, high, err := r.Of(rows.Asked, 1)
	if err != nil { // the range is refused elsewhere
		return nil
	}
	out := table.BeyondWarnings(rows.X, rows.Inputs, low, high, "the public range")
	if warning := table.ReadOffWarning(cmp.Or(rows.Extremes, rows.X), rows.Inputs, low, high); warning != "" {
		out = append(out, warning)
	}
	return out
}

// Check refuses an empty range, and one that is needed and not given.
func (r InputRange) Check(inputs []table.Input, needed bool) error {
	if err := r.CheckGiven(needed); err != nil {
		return err
	}
	_, _, err := r.Of(inputs, 1)
	return err
}

// CheckGiven refuses a range of which an end is missing, as far as that shows before the
// number of inputs is known.
func (r InputRange) CheckGiven(needed bool) error {
	if low, high := r.Low.Is(Absent), r.High.Is(Absent); low != high || needed && low {
		return errors.New("input_low and input_high are not given: they are the public range of the inputs over which " +
			"inducing inputs are laid; it must not be read off the data")
	}
	return r.CheckEnds(inputLow, inputHigh)
}

// CheckEnds refuses ends, by settings of those names, that no number of columns can have. Where there is
// one for each column, their number is looked at when that of the columns is known.
func (r InputRange) CheckEnds(lowName, highName string) error {
	low, high := r.Low.Numbers, r.High.Numbers
	if n := max(len(low), len(high)); n > 0 && (len(low) == n || len(low) == 1) && (len(high) == n || len(high) == 1) {
		_, _, err := r.Ends(lowName, highName, make([]table.Input, n))
		return err
	}
	return nil
}

// CheckNames refuses inputs that have the name of a column of predictions.
func CheckNames(inputs string, names []string, taken func(name string) bool) error {
	for _, name := range names {
		if taken(name) {
			return fmt.Errorf("inputs = %s: predictions have a column %q of their own; rename the input", inputs, name)
		}
	}
	return nil
}
