package batch

import (
	"errors"

	"privkern/graphs/op"
)

// Failures splits the error of a run of len(failed) members: failed[i] receives the error of member
// i, unless it has one already. Failures returns an error of the whole run.
func Failures(err error, failed []error) error {
	var members *op.MembersError
	if !errors.As(err, &members) || members.Members != len(failed) {
		return err
	}
	for _, f := range members.Failed {
		if failed[f.Member] == nil {
			failed[f.Member] = f.Err
		}
	}
	return nil
}
