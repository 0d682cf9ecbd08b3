//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// messagesFD is the descriptor that messages go to: standard output stays free
// for what a library may print.
const messagesFD = 3

// openMessages opens in a worker what [startFamily] has given to it.
func openMessages() *os.File {
	out := os.NewFile(messagesFD, "messages")
	if out != nil {
		// What a trial starts must not hold the pipe whose end says that the worker has
		// ended.
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

// close gives up what the system keeps for the family, which is nothing.
func (family) close() {}
