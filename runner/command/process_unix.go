//go:build unix

package command

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"privkern/runner/experiment"
)

// usage returns the processor time and the peak memory of the program and of the children
// that it waited for. The peak is no less than that of this process when it started the
// program, of which a child is a copy at first.
func (p *process) usage() experiment.Usage {
	state := p.cmd.ProcessState
	out := experiment.Usage{CPU: state.UserTime() + state.SystemTime()}
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		out.PeakRSS = u.Maxrss
		if runtime.GOOS != "darwin" {
			out.PeakRSS *= 1024 // KiB there, bytes on macOS
		}
	}
	return out
}

// outsideSignal names the signal by which others ended the program; it is empty for an
// exit status, and for a signal that a program causes by itself, such as SIGSEGV.
func outsideSignal(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	switch s := status.Signal(); s {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return unix.SignalName(s)
	}
	return ""
}
