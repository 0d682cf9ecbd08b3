package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"privkern/graphs/engine"
	"privkern/runner/command"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/worker"
	"privkern/runner/experiment"
)

const workerName = "worker"

// workerCommand is the main function of the processes that sweep and table
// start. It reads no ledgers: that would be most of its start.
func (a *app) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    workerName,
		Short:  "Run trials for another process",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			worker.PreferOOMKill()
			// The runner decides how its workers end. The signals are caught, not ignored: programs that a
			// trial starts would ignore them too.
			signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
			served := experiment.RegistryOf(a.papers)
			command.Admit(served)
			err := worker.Serve(context.WithoutCancel(cmd.Context()), served, worker.Backend{
				Describe: describeDevice, Open: engine.Opener,
				Failed: func() bool { return engine.DeviceFailed() || command.Remained() }})
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		},
	}
}

// executable is this program, to be started as a worker.
func executable() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("this program's own file cannot be found, and workers cannot be started: %w", err)
	}
	return program, nil
}

// describeDevice describes the device of this process for a backend.
func describeDevice(backend string) string {
	if backend == "cpu" {
		return ""
	}
	e, err := engine.Open(backend, "float64", 1)
	if err != nil {
		return "" // the trial reports the error
	}
	defer func() { _ = e.Close() }()
	return e.Accelerator()
}

// newWorkers returns the function that makes worker processes of this program,
// each with that number of threads. They take the devices in turn; without devices
// they compute on the CPU, or on the device of the environment.
func newWorkers(threads int, devices []int) (func() schedule.Runner, error) {
	program, err := executable()
	if err != nil {
		return nil, err
	}
	var slots atomic.Int64
	return func() schedule.Runner {
		env := []string{"GOMAXPROCS=" + strconv.Itoa(threads)}
		if slot := int(slots.Add(1)) - 1; len(devices) > 0 {
			env = append(env, engine.DeviceVariable+"="+strconv.Itoa(devices[slot%len(devices)]))
		}
		return &worker.Process{Command: []string{program, workerName}, Env: env}
	}, nil
}
