//go:build unix

package curves

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident set of a process that has ended, in bytes. On Linux that of the program that started it
// is in it: that program must be small.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return u.Maxrss // bytes there, KiB elsewhere
	}
	return u.Maxrss * 1024
}
