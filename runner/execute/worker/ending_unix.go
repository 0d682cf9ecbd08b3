//go:build unix

package worker

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// systemEndings are the ends that only Unix knows.
var systemEndings = []ending{
	{signal: syscall.SIGXCPU, predicate: "was ended by the limit on processor time (SIGXCPU)",
		advice: "raise the limit (ulimit -t)"},
}

// signalName is the name of a signal, such as SIGSEGV.
func signalName(s syscall.Signal) string { return unix.SignalName(s) }
