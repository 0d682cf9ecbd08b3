package engine

import "golang.org/x/sys/unix"

// processCPU is the processor time of the process in nanoseconds.
func processCPU() (int64, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano(), err == nil
}

// threadCPU is the processor time of the calling thread in nanoseconds.
func threadCPU() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return t.Nano()
}
