package supervise

import "syscall"

// endsWithParent has the kernel end the child where its parent is killed.
//
// Pdeathsig is sent when the starting thread ends; Go ends threads only where
// a locked goroutine ends, which the parent has none of.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
