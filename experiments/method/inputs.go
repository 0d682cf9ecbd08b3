package method

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

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

// InputRange is the public range of the inputs, over which a grid is laid.
type InputRange struct{ Low, High Ends }

// Of returns the ends for each of the inputs, ∓simulated where none are given.
func (r InputRange) Of(inputs int, simulated float64) (low, high []float64, err error) {
	if r.Low.Is(Absent) && r.High.Is(Absent) {
		return slices.Repeat([]float64{-simulated}, inputs), slices.Repeat([]float64{simulated}, inputs), nil
	}
	return r.Ends(inputLow, inputHigh, inputs)
}

// The settings of a range of inputs.
const inputLow, inputHigh = "input_low", "input_high"

// Ends returns the ends of a range that is given, by settings of those names, for each of so many columns.
func (r InputRange) Ends(lowName, highName string, columns int) (low, high []float64, err error) {
	if low, err = ForInputs(lowName, r.Low.Numbers, columns); err != nil {
		return nil, nil, err
	}
	if high, err = ForInputs(highName, r.High.Numbers, columns); err != nil {
		return nil, nil, err
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
	low, high, err := r.Of(len(rows.Inputs), 1)
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
func (r InputRange) Check(inputs int, needed bool) error {
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
			"the grid of inducing inputs is laid; it must not be read off the data")
	}
	return r.CheckEnds(inputLow, inputHigh)
}

// CheckEnds refuses ends, by settings of those names, that no number of columns can have. Where there is
// one for each column, their number is looked at when that of the columns is known.
func (r InputRange) CheckEnds(lowName, highName string) error {
	low, high := r.Low.Numbers, r.High.Numbers
	if n := max(len(low), len(high)); n > 0 && (len(low) == n || len(low) == 1) && (len(high) == n || len(high) == 1) {
		_, _, err := r.Ends(lowName, highName, n)
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
