//go:build unix && !linux

package worker

import "syscall"

// endWithParent changes nothing here: a child outlives a parent that is killed. A
// worker ends when its standard input does, a supervised program by itself.
func endWithParent(a *syscall.SysProcAttr) *syscall.SysProcAttr { return a }
