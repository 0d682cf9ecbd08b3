package worker

import "syscall"

// endWithParent has the kernel end a child where its parent is killed.
//
// Pdeathsig is sent when the starting thread ends; Go ends threads only where
// a locked goroutine ends, which the parent has none of.
func endWithParent(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGKILL
	return a
}
