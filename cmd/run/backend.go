package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"privkern/graphs/backend"
	"privkern/graphs/cuda"
	"privkern/graphs/engine"
	"privkern/runner/plan"
	"privkern/runner/store"
)

const (
	backendFlag  = "backend"
	backendUsage = "cpu, cuda, or auto: cuda where a GPU passes a test problem, otherwise cpu"
)

// checkBackend refuses wrong values of --backend and --dtype before anything is
// opened. It has other words for a GPU: "gpu" is a letter away from "cpu".
func checkBackend(name, dtype string) error {
	switch strings.ToLower(name) {
	case "gpu", "nvidia", "device":
		return usagef("--backend is %q; did you mean \"cuda\"?", name)
	}
	return errors.Join(oneOf(backendFlag, name, "cpu", "cuda", backend.Auto), oneOf("dtype", dtype, "float64", "float32"))
}

// choose opens and tests what this process computes on, and says why a device is not
// taken. A backend that this build or machine does not have is an error.
func (a *app) choose(name, dtype string) (backend.Choice, error) {
	c, err := backend.Choose(name, dtype)
	if err == nil && c.Refused != nil {
		a.complain("--backend auto takes the cpu; %v", c.Refused)
	}
	return c, err
}

// openBackend chooses what the workers compute on: the CPU, the device that
// PRIVKERN_DEVICE names, or all devices that pass the test problem. Devices are given
// back: the workers open them.
func (a *app) openBackend(cmd *cobra.Command, o *workOptions, dtype string) error {
	c, err := a.choose(o.backend, dtype)
	if err != nil {
		return err
	}
	o.backend, o.gpu = c.Backend, c.Device
	if o.backend == "cpu" {
		return nil
	}
	if err := cuda.Release(); err != nil {
		return err
	}
	if os.Getenv(engine.DeviceVariable) == "" {
		var refused []error
		o.devices, refused = backend.Devices(cuda.Count(), dtype)
		for _, why := range refused {
			a.complain("%v", why)
		}
	}
	if !cmd.Flags().Changed("jobs") {
		o.jobs = max(1, len(o.devices)) // jobs share the memory of a device
	}
	return nil
}

// describeDevices describes what this machine computes on, for the first line of a run;
// it is empty on the CPU.
func (o *workOptions) describeDevices() string {
	if len(o.devices) > 1 {
		return fmt.Sprintf("%d devices, the first %s", len(o.devices), o.gpu)
	}
	return o.gpu
}

// settle decides where the output folder of a draft is and what its trials compute on.
// A plan that is frozen there keeps its backend unless --backend names another; a plan
// whose trials other machines run takes the CPU unless --backend names cuda.
func (a *app) settle(cmd *cobra.Command, o *runOptions, shard plan.Shard, w *plan.Draft) (dir string, err error) {
	frozen := false
	if o.backend == backend.Auto {
		if on := a.frozenBackend(o, w); on != "" {
			o.backend, frozen = on, true
		}
	}
	elsewhere := o.planOnly || o.executor == "slurm"
	if o.backend == backend.Auto && (elsewhere || shard.Count > 1) {
		o.backend = "cpu"
		a.say("other machines may run this plan, which takes the cpu; --backend cuda makes one for GPUs")
	}
	switch {
	case elsewhere:
		if o.executor == "slurm" {
			err = engine.Known(o.backend) // the tasks run this program
		}
	case o.dryRun && o.backend != backend.Auto: // nothing is computed
	default:
		err = a.openBackend(cmd, &o.workOptions, o.dtype)
	}
	dir = o.folder(w, o.backend)
	if err != nil && frozen && o.backend == "cuda" {
		err = withoutDevice(dir, err)
	}
	return dir, err
}

// withoutDevice says that a frozen plan is for a device that this machine lacks.
func withoutDevice(dir string, err error) error {
	return fmt.Errorf("the plan in %s is for cuda, and cannot be run here: %w; `run report %[1]s` shows its results, and "+
		"--backend cpu with another --out makes a plan for the cpu", dir, err)
}

// folder is the output folder of a draft's plan for a backend.
func (o *runOptions) folder(w *plan.Draft, on string) string {
	if o.out != "" {
		return o.out
	}
	return filepath.Join(runsFolder, w.Folder(o.seeds, on, o.dtype))
}

// frozenBackend is the backend of the plan that the output folder of a draft has, empty
// where there is no plan. By default each backend has a folder of its own: where both
// have a plan, the machine decides.
func (a *app) frozenBackend(o *runOptions, w *plan.Draft) string {
	if o.out != "" {
		if on := store.FrozenBackend(a.Disk, o.out); on == "cpu" || on == "cuda" {
			return on
		}
		return "" // what reads all of the plan says what is wrong with it
	}
	found := ""
	for _, on := range []string{"cpu", "cuda"} {
		switch {
		case store.FrozenBackend(a.Disk, o.folder(w, on)) != on:
		case found != "":
			return ""
		default:
			found = on
		}
	}
	return found
}
