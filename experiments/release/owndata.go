package release

import (
	"errors"

	"privkern/experiments/mechanism"
)

// RequireDelta refuses a budget of a trial on the user's own data in which δ is not
// given: it has no default there, since what is small enough depends on how many rows
// there are. Without noise it means nothing.
func RequireDelta(b *mechanism.Budget, given func(field any) bool) error {
	if b.Noiseless() || given(&b.Delta) {
		return nil
	}
	return errors.New("delta is not given: for your own data name it, far below 1/n for n rows, such as delta=1e-6")
}
