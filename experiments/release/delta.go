package release

import (
	"errors"
	"fmt"
	"slices"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// LargeDeltaError refuses a δ with which a mechanism may publish a row as it is.
type LargeDeltaError struct {
	Delta float64
	Rows  int    // n, of the units that are protected
	Units string // rows or persons
}

func (e *LargeDeltaError) Error() string {
	one := "one row as it is"
	if e.Units == persons {
		one = "all rows of a person as they are"
	}
	return fmt.Sprintf("nothing is released: delta = %s for %d %s: with delta of 1/n = %.3g or more, a mechanism "+
		"that publishes %s counts as private; use a delta far below that, or --allow-large-delta",
		experiment.FormatNumber(e.Delta), e.Rows, e.Units, 1/float64(e.Rows), one)
}

// persons are the units of a release that protects all rows of each.
const persons = "persons"

// CheckDelta compares a release's δ with the number n of rows or persons that it protects: it returns a
// *[LargeDeltaError] for δ ≥ 1/n, unless large ones are allowed, and a warning for
// δ ≥ 0.1/n.
func CheckDelta(s experiment.Spending, allowLarge bool) (warning string, err error) {
	share, units := s.Delta*float64(s.Rows), "rows"
	if slices.Contains(s.Units, experiment.UnitPerson) {
		units = persons
	}
	switch {
	case share >= 1 && !allowLarge:
		return "", &LargeDeltaError{s.Delta, s.Rows, units}
	case share >= 0.1:
		return fmt.Sprintf("delta = %s is %.3g/n for n = %d %s: delta should be far below 1/n",
			experiment.FormatNumber(s.Delta), share, s.Rows, units), nil
	}
	return "", nil
}

// RequireDelta refuses a budget of a trial on the user's own data in which δ is not
// given: it has no default there, because a δ that is small enough depends on the number of
// rows. Without noise it has no meaning.
func RequireDelta(b *mechanism.Budget, given func(field any) bool) error {
	if b.Noiseless() || given(&b.Delta) {
		return nil
	}
	return errors.New("delta is not given: for your own data name it, far below 1/n for n rows, such as delta=1e-6")
}
