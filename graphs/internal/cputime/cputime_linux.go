// Package cputime reads the clocks of processor time of the process and of a thread.
package cputime

import "golang.org/x/sys/unix"

// Process returns the processor time of the process in nanoseconds, and false where the
// system has no such clock.
func Process() (ns int64, ok bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano(), err == nil
}

// Thread returns the processor time of the calling thread in nanoseconds.
func Thread() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return t.Nano()
}
