//go:build unix

package worker

import (
	"os"
	"syscall"
)

// killAll kills a worker with all that it has started: it leads a process
// group of its own.
func killAll(worker *os.Process) error { return syscall.Kill(-worker.Pid, syscall.SIGKILL) }
