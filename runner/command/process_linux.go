package command

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWithParent has the kernel kill a program whose worker is killed.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// adoptOrphans makes this process the parent of all processes that a program leaves
// behind, so that they can be found; see prctl(2).
var adoptOrphans = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// maxSweeps bounds the attempts to kill processes that start others.
const maxSweeps = 1000

// endLeft kills the processes that a program has left behind, and returns their number.
// This process has no other children meanwhile.
func endLeft() (n int) {
	for range maxSweeps {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // no children are left
			return n
		case pid > 0 && status.Signaled() && status.Signal() == unix.SIGKILL:
			n++
		case pid == 0:
			for _, child := range children() {
				_ = unix.Kill(child, unix.SIGKILL)
			}
			time.Sleep(time.Millisecond)
		}
	}
	remained.Store(true)
	return n
}

// children returns the processes whose parent this one is; see proc_pid_task_children(5).
func children() []int {
	var out []int
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is right
	for _, list := range lists {
		raw, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that ended
		}
		for _, field := range strings.Fields(string(raw)) {
			if pid, err := strconv.Atoi(field); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}
