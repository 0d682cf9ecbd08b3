//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// messagesFD is the descriptor for messages, so that standard output is free for
// libraries.
const messagesFD = 3

// openMessages opens, in a worker, the file that [startFamily] has passed.
func openMessages() *os.File {
	out := os.NewFile(messagesFD, "messages")
	if out != nil {
		// A process that a trial starts must not hold the pipe, whose end marks the end
		// of the worker.
		syscall.CloseOnExec(messagesFD)
	}
	return out
}

// family is a worker with all that it has started: it leads a process group of its
// own.
type family struct{ leader int }

// startFamily starts a worker, which writes its messages to the file.
func startFamily(cmd *exec.Cmd, messages *os.File) (family, error) {
	cmd.ExtraFiles = []*os.File{messages}
	// A group of its own keeps the terminal's Ctrl-C from the worker: the runner decides
	// how it ends.
	cmd.SysProcAttr = endWithParent(&syscall.SysProcAttr{Setpgid: true})
	if err := cmd.Start(); err != nil {
		return family{}, err
	}
	return family{cmd.Process.Pid}, nil
}

// kill kills them all.
func (f family) kill() error { return syscall.Kill(-f.leader, syscall.SIGKILL) }

// close does nothing: a process group needs no release.
func (family) close() {}
