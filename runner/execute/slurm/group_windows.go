package slurm

import "syscall"

// ownGroup keeps the console's Ctrl-C from a command.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
