//go:build !linux || !(amd64 || arm64)

package cuda

import (
	"context"

	"privkern/graphs/engine"
)

// Built reports whether the program can use CUDA on this system.
const Built = false

// Devices returns engine.ErrNoCUDA.
func Devices() ([]Info, error) { return nil, engine.ErrNoCUDA }

// Look returns engine.ErrNoCUDA.
func Look(string) (Info, bool, error) { return Info{}, false, engine.ErrNoCUDA }

// Libraries returns none.
func Libraries() []Found { return nil }

// Release has nothing to do.
func Release() error { return nil }

// CacheProblem is nil.
func CacheProblem() error { return nil }

// OnCompiling does nothing.
func OnCompiling(func(text string)) {}

// Prepare has nothing to do.
func Prepare(string) {}

// Kernels is empty.
func Kernels() string { return "" }

// Count is 0.
func Count() int { return 0 }

// MeasureCopies returns engine.ErrNoCUDA.
func MeasureCopies(context.Context) (CopyRates, error) { return CopyRates{}, engine.ErrNoCUDA }
