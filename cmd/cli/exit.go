package cli

import (
	"context"
	"errors"
	"fmt"

	"privkern/experiments/dataset"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/schedule"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/show/runs"
	"privkern/runner/store"
)

// Exit statuses; `run help exit-codes` explains them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitTrials      = 3
	exitCheck       = 4
	exitInterrupted = 130
	exitNoReader    = 141 // as a shell has it for SIGPIPE
)

// usageError is a mistake in how the program was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// statusError carries an exit status that is not 1; its text, which may be
// empty, is printed.
type statusError struct {
	status int
	text   string
}

func (e statusError) Error() string { return e.text }

// exitStatus maps every error to its exit status: the only place that does.
func exitStatus(err error) int {
	var (
		usage    usageError
		status   statusError
		inFile   *sweep.Error
		noFile   *sweep.MissingError
		unknown  *experiment.UnknownError
		mismatch *store.PlanMismatchError
		data     *dataset.UnknownError
		override *plan.OverrideError
		dtypes   *plan.DTypeError
		refused  *schedule.RefusedError
		key      *runs.KeyError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, progress.ErrNoReader):
		return exitNoReader
	case errors.As(err, &status):
		return status.status
	case errors.Is(err, schedule.ErrFailFast), errors.As(err, &refused):
		return exitTrials
	case errors.As(err, &usage), errors.As(err, &inFile), errors.As(err, &noFile), errors.As(err, &unknown),
		errors.As(err, &mismatch), errors.As(err, &data), errors.As(err, &override),
		errors.As(err, &dtypes), errors.As(err, &key):
		return exitUsage
	}
	return exitError
}
