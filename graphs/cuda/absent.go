//go:build !gpu || !linux

package cuda

import "privkern/graphs/engine"

// Built says whether the program was built with CUDA.
const Built = false

// Devices returns engine.ErrNoCUDA.
func Devices() ([]Info, error) { return nil, engine.ErrNoCUDA }

// Release has nothing to do.
func Release() error { return nil }

// Count is 0.
func Count() int { return 0 }
