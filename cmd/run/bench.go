package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments"
	"privkern/runner/execute/bench"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/worker"
	"privkern/runner/experiment"
)

func (a *app) benchCommand() *cobra.Command {
	var output, on string
	var small bool
	cmd := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Measure the speed of solvers, graphs and the runner",
		Long: `Measure the solvers, the graphs and the runner one after another, and print each
measurement beside its bound. A NAME selects the benchmarks whose name begins with
it. Machines are noisy: compare measurements of one run only. All of it is measured on
the CPU.

The benchmarks device/... are copies, kernel matrices, solves, affine hulls, the
cloaking descent, a kernel affine hull machine and the search for the nearest of some,
with GFLOP/s and their share of what a matrix product and a copy reach. Beside them
stand the launches, waits and copies that a CUDA device is asked for, and times that a
model predicts for named devices. With --backend they alone are run, on that backend
beside the CPU.`,
		Example: `  run bench
  run bench cloaking/
  run bench device/solves
  run bench runner/plan --output json
  run bench --backend cuda`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("output", output, "table", "json"); err != nil {
				return err
			}
			if cmd.Flags().Changed(backendFlag) {
				return a.benchDevice(cmd.Context(), on, small, output, args)
			}
			newRunner, err := newNoopWorkers()
			if err != nil {
				return err
			}
			// The runner's come first: they measure the memory of the process, and
			// the others need much.
			all := bench.Runner(newRunner)
			for _, p := range a.Papers {
				all = append(all, p.Benchmarks...)
			}
			all = append(all, experiments.EngineBenchmarks()...)
			all = append(all, experiments.DeviceBenchmarks("cpu", small)...)
			selected, err := selectBenchmarks(all, args)
			if err != nil {
				return err
			}
			h := host("")
			a.say("%s, %s, revision %s", h.CPU, h.BLAS, h.Revision)
			ms, err := bench.Run(cmd.Context(), selected, func(name, doc string) { a.say("%s: %s", name, doc) })
			if err != nil {
				return err
			}
			if output == "json" {
				return bench.JSON(a.out, ms)
			}
			return bench.Text(a.out, ms)
		},
	}
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	cmd.Flags().
		StringVar(&on, backendFlag, "", "measure this backend beside the CPU, by the benchmarks device/...: "+backendUsage)
	cmd.Flags().BoolVar(&small, "small", false,
		"small matrices for device/..., as a simulated device needs them; their rates say nothing about a real one")
	return cmd
}

// benchDevice measures a backend beside the CPU.
func (a *app) benchDevice(ctx context.Context, on string, small bool, output string, names []string) error {
	if err := checkBackend(on); err != nil {
		return err
	}
	c, err := a.choose(on, "float64")
	if err != nil {
		return err
	}
	selected, err := selectBenchmarks(experiments.DeviceBenchmarks(c.Backend, small), names)
	if err != nil {
		return err
	}
	h := host(c.Device)
	a.say("%s, %s, revision %s", h.CPU, h.BLAS, h.Revision)
	a.say("on %s", c)
	ms, err := bench.Run(ctx, selected, func(name, doc string) { a.say("%s: %s", name, doc) })
	if err != nil {
		return err
	}
	if output == "json" {
		return bench.JSON(a.out, ms)
	}
	return bench.Text(a.out, ms)
}

// selectBenchmarks returns the benchmarks whose names begin with one of the prefixes; all
// without a prefix. A prefix of none is an error.
func selectBenchmarks(all []experiment.Benchmark, prefixes []string) ([]experiment.Benchmark, error) {
	if len(prefixes) == 0 {
		return all, nil
	}
	var out []experiment.Benchmark
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	for _, prefix := range prefixes {
		found := false
		for _, b := range all {
			if strings.HasPrefix(b.Name, prefix) {
				out = append(out, b)
				found = true
			}
		}
		if !found {
			return nil, experiment.Unknown("benchmark", prefix, names)
		}
	}
	return out, nil
}

// newNoopWorkers returns the function that makes worker processes for the
// benchmarks of the runner.
func newNoopWorkers() (func() schedule.Runner, error) {
	program, err := executable()
	if err != nil {
		return nil, err
	}
	return func() schedule.Runner { return &worker.Process{Command: []string{program, workerName, "--noop"}} }, nil
}
