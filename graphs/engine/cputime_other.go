//go:build !linux

package engine

// processCPU is not known.
func processCPU() (int64, bool) { return 0, false }

// threadCPU is not known.
func threadCPU() int64 { return 0 }
