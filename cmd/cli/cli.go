// Package cli is the command line of privkern: of the program run, and of programs in other modules that add
// papers of their own.
//
//	func main() { os.Exit(cli.Main(append(experiments.Papers(), mine.Paper())...)) }
//
// Each file named after a command holds that command's flags and the calls it
// makes; the work is done in the packages of runner, experiments and graphs.
package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"privkern/runner/execute/worker"
	"privkern/runner/experiment"
)

// Main runs the command line, which offers the experiments, tables and figures of the papers, and returns the exit
// status. Under a limit on memory the work is done in a child; workers are further processes of the same program, so
// that Main is all that its main function calls.
func Main(papers ...experiment.Paper) int {
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
	return execute(ctx, papers, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// isWorker reports whether the process was started by a runner, to run trials for it.
func isWorker() bool { return len(os.Args) > 1 && os.Args[1] == workerName }
