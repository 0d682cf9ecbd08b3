//go:build !linux

package cpublas

// limited says whether the memory of this process has a limit, which is not known here.
func limited() bool { return false }
