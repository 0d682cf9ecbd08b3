package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"privkern/runner/bench"
	"privkern/runner/experiment"
	"privkern/runner/schedule"
	"privkern/runner/worker"
)

// workerCommand is the main function of the processes that sweep and table
// start.
func (a *app) workerCommand() *cobra.Command {
	var noop bool
	cmd := &cobra.Command{
		Use:    "worker",
		Short:  "Run trials for another process",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The runner decides how its workers end.
			signal.Ignore(os.Interrupt, syscall.SIGTERM)
			served := a.Experiments
			if noop {
				served = experiment.NewRegistry(bench.Noop)
			}
			err := worker.Serve(context.WithoutCancel(cmd.Context()), served)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&noop, "noop", false, "offer the experiment of the runner's benchmarks only")
	return cmd
}

// executable is this program, to be started as a worker.
func executable() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("this program's own file cannot be found, and workers cannot be started: %w", err)
	}
	return program, nil
}

// newWorkers returns the function that makes worker processes of this program,
// each with so many threads.
func newWorkers(threads int) (func() schedule.Runner, error) {
	program, err := executable()
	if err != nil {
		return nil, err
	}
	return func() schedule.Runner {
		return &worker.Process{
			Command: []string{program, "worker"},
			Env:     []string{"GOMAXPROCS=" + strconv.Itoa(threads)},
		}
	}, nil
}
