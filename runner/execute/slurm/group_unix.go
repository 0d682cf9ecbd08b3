//go:build unix

package slurm

import "syscall"

// ownGroup keeps the terminal's signals from a command.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
