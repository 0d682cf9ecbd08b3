package op

import (
	"errors"
	"fmt"
	"slices"
)

// MembersError lists the members of a batch for which an operation failed. Their results are
// NaN, and so are all results computed from them; the other members have theirs.
type MembersError struct {
	Members int // of the batch
	// Failed are the members that failed, in the order of their numbers.
	Failed []MemberError
}

// MemberError is the failure of one member of a batch, numbered from 0 in row-major order.
type MemberError struct {
	Member int
	Err    error // begins with the operation's name
}

// Error names every member, up to a few.
func (e *MembersError) Error() string {
	const most = 4
	text := ""
	for i, f := range e.Failed {
		if i == most {
			return fmt.Sprintf("%s; and %d more", text, len(e.Failed)-most)
		}
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("member %d of %d: %v", f.Member, e.Members, f.Err)
	}
	return text
}

// Unwrap returns the errors of the members.
func (e *MembersError) Unwrap() []error {
	all := make([]error, len(e.Failed))
	for i, f := range e.Failed {
		all[i] = f.Err
	}
	return all
}

// NewMembersError returns the error of a batch for the errors of all its members, or nil where
// all are nil.
func NewMembersError(failed []error) error {
	e := &MembersError{Members: len(failed)}
	for i, err := range failed {
		if err != nil {
			e.Failed = append(e.Failed, MemberError{i, err})
		}
	}
	if len(e.Failed) == 0 {
		return nil
	}
	return e
}

// Failures collects the failures of members over the operations of a run, which goes on
// for the others. Where several operations on batches of equal size fail for a member, the first
// failure stands, because the later ones follow from it. The zero value has none.
type Failures struct{ all []*MembersError }

// Keep adds a *MembersError, or a result of Err, and returns nil. It returns any other error,
// also one that wraps them, because that may wrap more.
func (f *Failures) Keep(err error) error {
	switch e := any(err).(type) {
	case *MembersError:
		f.add(e)
		return nil
	case membersErrors:
		for _, one := range e {
			f.add(one)
		}
		return nil
	}
	return err
}

// add adds the failures of members that have not failed before.
func (f *Failures) add(e *MembersError) {
	known := f.of(e.Members)
	if known == nil {
		f.all = append(f.all, &MembersError{e.Members, slices.Clone(e.Failed)})
		return
	}
	for _, failure := range e.Failed {
		if at, found := known.find(failure.Member); !found {
			known.Failed = slices.Insert(known.Failed, at, failure)
		}
	}
}

// of returns the failures in batches of some size, nil for none.
func (f *Failures) of(members int) *MembersError {
	for _, e := range f.all {
		if e.Members == members {
			return e
		}
	}
	return nil
}

// find returns the index of a member among the failures, and whether it is there.
func (e *MembersError) find(member int) (at int, found bool) {
	return slices.BinarySearchFunc(e.Failed, member, func(f MemberError, member int) int { return f.Member - member })
}

// Known reports whether a member of a batch of some size has failed before.
func (f *Failures) Known(members, member int) bool {
	e := f.of(members)
	if e == nil {
		return false
	}
	_, found := e.find(member)
	return found
}

// Err returns the *MembersError of the run, nil if nothing failed. Where batches of several
// sizes failed, errors.As finds the first one's.
func (f *Failures) Err() error {
	switch len(f.all) {
	case 0:
		return nil
	case 1:
		return f.all[0]
	}
	return membersErrors(slices.Clone(f.all))
}

// membersErrors are those of batches of several sizes.
type membersErrors []*MembersError

func (e membersErrors) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns the errors of the batches.
func (e membersErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}
