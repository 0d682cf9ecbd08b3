// Command run launches sweeps of privacy-preserving kernel-method experiments
// and regenerates the tables and figures of the papers they come from, with
// the published value next to every reproduced one.
//
// Each file named after a command holds that command's flags and the calls it
// makes; the work is done in the packages of runner, experiments and graphs.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"privkern/runner/execute/worker"
)

func main() { os.Exit(Main()) }

// Main runs the command line and returns the exit status. Under a limit on memory
// the work is done in a child; workers have the runner for a parent.
func Main() int {
	// Without a reader a write fails, and the program goes on.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if worker.NeedsSupervision() && !isWorker() {
		messages := messagesTo(os.Stderr)
		defer messages.Flush()
		status, err := worker.Supervise(messages)
		if err != nil {
			_, _ = fmt.Fprintf(messages, "run: %v\n", err)
			return exitStatus(err)
		}
		return status
	}
	ctx, stop := worker.Context()
	defer stop()
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// isWorker reports whether the process was started by a runner, to run trials for it.
func isWorker() bool { return len(os.Args) > 1 && os.Args[1] == workerName }
