//go:build unix

package machine

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// AvailableMemory returns the bytes that programs may still allocate on this machine:
// the least of the available memory of the kernel and of the control groups (v1 and v2)
// of this process. It is 0 where nothing is known.
func AvailableMemory() int64 { return available(os.DirFS("/")) }

// WatchOthers begins a measurement.
func WatchOthers() *Others { return watchOthers(func() reading { return read(os.DirFS("/")) }) }

// CPUSeconds is the processor time of this process, user and system.
func CPUSeconds() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// ResetPeakRSS resets the peak on Linux, so that it leaves out earlier work; see
// proc_pid_clear_refs(5).
func ResetPeakRSS() {
	// Where it cannot be reset, the peak is that of the process: an upper bound.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600)
}

// PeakRSS is the largest resident set of this process in bytes.
func PeakRSS() int64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				if kib, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
					return kib * 1024
				}
			}
		}
	}
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss // bytes there, KiB elsewhere
	}
	return u.Maxrss * 1024
}

// BrokenPipe reports whether an error is that of a write to a pipe without a reader.
func BrokenPipe(err error) bool { return errors.Is(err, unix.EPIPE) }
