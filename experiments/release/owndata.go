package release

import (
	"errors"

	"privkern/experiments/mechanism"
)

// RequireDelta refuses a budget of a trial on the user's own data in which δ is not
// given: it has no default there, because a δ that is small enough depends on the number of
// rows. Without noise it has no meaning.
func RequireDelta(b *mechanism.Budget, given func(field any) bool) error {
	if b.Noiseless() || given(&b.Delta) {
		return nil
	}
	return errors.New("delta is not given: for your own data name it, far below 1/n for n rows, such as delta=1e-6")
}
