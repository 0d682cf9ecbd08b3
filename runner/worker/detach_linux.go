package worker

import "syscall"

// detached keeps the terminal's Ctrl-C from the workers, so that the runner
// decides how they end, and ends them with the runner, however that ends.
//
// Pdeathsig is sent when the starting thread ends; Go ends threads only where
// a locked goroutine ends, which the runner has none of.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
