package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"privkern/graphs/backend"
	"privkern/graphs/cuda"
	"privkern/graphs/engine"
	"privkern/runner/execute/schedule"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/store"
)

const (
	backendFlag  = "backend"
	backendUsage = "cpu, cuda, or auto: cuda where a GPU is predicted to be faster and passes a test problem, else cpu"
)

// checkBackend refuses wrong values of --backend before anything is opened. It has
// other words for a GPU: "gpu" is a letter away from "cpu".
func checkBackend(name string) error {
	switch strings.ToLower(name) {
	case "gpu", "nvidia", "device":
		return usagef("--backend is %q; did you mean \"cuda\"?", name)
	}
	return oneOf(backendFlag, name, "cpu", "cuda", backend.Auto)
}

// checkDType refuses wrong values of --dtype.
func checkDType(name string) error { return oneOf("dtype", name, experiment.DTypes()...) }

// choose opens and tests the backend of this process, and reports why a device is not
// taken. A backend that this build or machine does not have is an error.
func (a *app) choose(name, dtype string) (backend.Choice, error) {
	c, err := backend.Choose(name, dtype)
	return a.chosen(c, err)
}

// chosen reports the reason of a choice, and the warnings about it.
func (a *app) chosen(c backend.Choice, err error) (backend.Choice, error) {
	if err == nil && c.Why != "" {
		a.say("--backend auto takes %s: %s", map[string]string{"cpu": "the cpu", "cuda": "cuda"}[c.Backend], c.Why)
	}
	if err == nil && c.Refused != nil {
		a.complain("--backend auto takes the cpu; %v", c.Refused)
	}
	if err == nil && c.Host != "" {
		a.complain("libraries are missing, see run doctor: %s", c.Host)
	}
	if err == nil && c.Backend == "cuda" {
		if problem := cuda.CacheProblem(); problem != nil {
			a.complain("%v", problem)
		}
	}
	return c, err
}

// openBackend chooses the backend of the workers: the CPU, the device that
// PRIVKERN_DEVICE names, or all devices that pass the test problem. Devices are given
// back: the workers open them.
func (a *app) openBackend(cmd *cobra.Command, o *workOptions, dtype string) error {
	c, err := a.choose(o.backend, dtype)
	if err != nil {
		return err
	}
	return a.take(cmd, o, c, dtype)
}

// take is openBackend for a choice that was made.
func (a *app) take(cmd *cobra.Command, o *workOptions, c backend.Choice, dtype string) error {
	o.backend, o.gpu = c.Backend, c.Device
	if o.backend == "cpu" {
		return nil
	}
	cuda.Prepare(dtype)
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

// describeDevices describes the devices of a run for its first line;
// it is empty on the CPU.
func (o *workOptions) describeDevices() string {
	if len(o.devices) > 1 {
		return fmt.Sprintf("%d devices, the first %s", len(o.devices), o.gpu)
	}
	return o.gpu
}

// settle decides on the output folder of a draft and the backend of its trials.
// A plan that is frozen there keeps its backend unless --backend names another; a plan
// whose trials other machines run takes the CPU unless --backend names cuda. It resolves
// auto on this machine and opens nothing; see ready.
func (a *app) settle(cmd *cobra.Command, o *runOptions, shard plan.Shard, w *plan.Draft) (dir string, err error) {
	if o.out == "" && strings.Trim(w.Name, ".") == "" {
		return "", usagef("the sweep file has no name to call an output folder by; give one with --out")
	}
	if o.backend == backend.Auto {
		if on := a.frozenBackend(o, w); on != "" {
			o.backend = on
		}
	}
	elsewhere := o.planOnly || o.executor == "slurm"
	if o.backend == backend.Auto && (elsewhere || shard.Count > 1) {
		o.backend = "cpu"
		a.say("other machines may run this plan, which takes the cpu; --backend cuda makes one for GPUs")
	}
	switch {
	case o.executor == "slurm":
		err = engine.Known(o.backend) // the tasks run this program
	case o.backend == backend.Auto:
		var c backend.Choice
		if c, err = a.choosePlan(cmd, o, w); err == nil {
			err = a.take(cmd, &o.workOptions, c, w.DType)
		}
	}
	return o.folder(w, o.backend), err
}

// ready opens the backend of a plan, unless it is open or all trials have
// a result: then a machine without a device prints their tables too.
func (a *app) ready(cmd *cobra.Command, o *workOptions, shard plan.Shard, dir string, p *plan.Plan) error {
	if o.gpu != "" {
		return nil
	}
	if o.backend == "cuda" && o.retry == "" {
		if left, err := a.left(dir, p, o.only, shard); err != nil || left == 0 {
			return err
		}
	}
	err := a.openBackend(cmd, o, p.DType)
	if err != nil && o.backend == "cuda" && store.FrozenBackend(a.Disk, dir) == o.backend {
		err = withoutDevice(dir, err)
	}
	return err
}

// left is how many trials of a part of a plan have no record, at least 1 where one is
// damaged.
func (a *app) left(dir string, p *plan.Plan, kind string, shard plan.Shard) (int, error) {
	positions, err := schedule.TrialKind(kind).Positions(p, a.Experiments)
	if err != nil {
		return 0, err
	}
	positions = shard.Of(positions)
	s, err := store.Open(a.Disk, dir)
	if err != nil {
		return len(positions), nil // there is no folder yet, or its maker reports the reason
	}
	defer func() { _ = s.Close() }()
	keys, err := s.Keys()
	if err != nil {
		return 0, err
	}
	left := 0
	for _, i := range positions {
		if !keys[p.Trials[i].Key] {
			left++
		}
	}
	for _, i := range positions { // a file may hold no record
		if left > 0 {
			break
		}
		_, ok, err := s.Get(p.Trials[i].Key)
		if err != nil {
			return 0, err
		}
		if !ok {
			left++
		}
	}
	return left, nil
}

// withoutDevice is the error of a frozen plan for a device that this machine lacks.
func withoutDevice(dir string, err error) error {
	return fmt.Errorf("the plan in %s is for cuda, and cannot be run here: %w; `run report %[1]s` shows its results, and "+
		"--backend cpu with another --out makes a plan for the cpu", dir, err)
}

// folder is the output folder of a draft's plan for a backend.
func (o *runOptions) folder(w *plan.Draft, on string) string {
	if o.out != "" {
		return o.out
	}
	return filepath.Join(runsFolder, w.Folder(o.seeds, on))
}

// frozenBackend is the backend of the plan that the output folder of a draft has, empty
// where there is no plan. By default each backend has a folder of its own: where both
// have a plan, the machine decides.
func (a *app) frozenBackend(o *runOptions, w *plan.Draft) string {
	if o.out != "" {
		if on := store.FrozenBackend(a.Disk, o.out); on == "cpu" || on == "cuda" {
			return on
		}
		return "" // the reader of the whole plan reports the error
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
