// Command run launches sweeps of privacy-preserving kernel-method experiments
// and regenerates the tables and figures of the papers they come from, with
// the published value beside every reproduced one.
//
// Each file named after a command holds that command's flags and the calls it
// makes; the work is done in the packages of runner, experiments and graphs.
package main

import (
	"fmt"
	"os"

	"privkern/runner/supervise"
)

func main() { os.Exit(Main()) }

// Main runs the command line and returns the exit status. Under a limit on memory
// the work is done in a child; workers have the runner for a parent.
func Main() int {
	if supervise.Needed() && !isWorker() {
		status, err := supervise.Run()
		if err != nil {
			_, _ = fmt.Fprintf(os.Stderr, "run: %v\n", err)
			return exitStatus(err)
		}
		return status
	}
	ctx, stop := supervise.Context()
	defer stop()
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

func isWorker() bool { return len(os.Args) > 1 && os.Args[1] == workerName }
