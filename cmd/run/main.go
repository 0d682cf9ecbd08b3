// Command run launches sweeps of privacy-preserving kernel-method experiments
// and regenerates the tables and figures of the papers they come from, with
// the published value beside every reproduced one.
//
// Each file named after a command holds that command's flags and the calls it
// makes; the work is done in the packages of runner, experiments and graphs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(Main()) }

// Main runs the command line and returns the exit status.
func Main() int {
	// The first signal ends the context, and with it the work in an orderly
	// way; after that the default holds, so that a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
