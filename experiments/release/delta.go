package release

import (
	"errors"
	"fmt"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// LargeDeltaError refuses a δ with which a mechanism may publish a row as it is.
type LargeDeltaError struct {
	Delta float64
	Rows  int
}

func (e *LargeDeltaError) Error() string {
	return fmt.Sprintf("nothing is released: delta = %s for %d rows: with delta of 1/n = %.3g or more, a mechanism "+
		"that publishes one row as it is counts as private; use a delta far below that, or --allow-large-delta",
		experiment.FormatNumber(e.Delta), e.Rows, 1/float64(e.Rows))
}

// CheckDelta compares a release's δ with the number of rows n: it returns a
// *[LargeDeltaError] for δ ≥ 1/n, unless large ones are allowed, and a warning for
// δ ≥ 0.1/n.
func CheckDelta(s experiment.Spending, allowLarge bool) (warning string, err error) {
	share := s.Delta * float64(s.Rows)
	switch {
	case share >= 1 && !allowLarge:
		return "", &LargeDeltaError{s.Delta, s.Rows}
	case share >= 0.1:
		return fmt.Sprintf("delta = %s is %.3g/n for n = %d rows: delta should be far below 1/n",
			experiment.FormatNumber(s.Delta), share, s.Rows), nil
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
