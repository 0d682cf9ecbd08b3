//go:build !linux

// Package cputime reads the clocks of processor time of the process and of a thread, which
// are not known on this system.
package cputime

// Process returns false: the clock is not known.
func Process() (ns int64, ok bool) { return 0, false }

// Thread returns 0: the clock is not known.
func Thread() int64 { return 0 }
