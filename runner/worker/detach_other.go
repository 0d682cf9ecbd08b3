//go:build unix && !linux

package worker

import "syscall"

// detached keeps the terminal's Ctrl-C from the workers; they end when their
// standard input does.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
