//go:build !linux

package command

import "syscall"

// endWithParent asks for nothing: only Linux ends a child with its parent.
func endWithParent() *syscall.SysProcAttr { return nil }

func adoptOrphans() {}

// endLeft leaves it to the runner to kill the group of this worker, in which the processes
// are that a program has left behind.
func endLeft() int {
	remained.Store(true)
	return 0
}
