package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments"
	"privkern/graphs/cpublas"
	"privkern/runner/execute/bench"
	"privkern/runner/execute/bench/peers"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/worker"
	"privkern/runner/experiment"
)

// benchFlags are the flags of run bench.
type benchFlags struct {
	output, backend, peers, compare string
	small, noPeers                  bool
	repeat                          int
	tolerance                       float64
}

func (a *app) benchCommand() *cobra.Command {
	f := new(benchFlags)
	cmd := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Measure the speed of solvers, graphs and the runner, and compare it",
		Long: `Measure the solvers, the graphs and the runner one after another, and print each
measurement beside its bound. A NAME selects the benchmarks whose name begins with
it, or a pattern of them, such as 'graphs/*' or '*/har'. Without a NAME those are left
out that take long, listed on stderr; '*/*' names all. All of it is measured on
the CPU.

A time is the median of --repeat measures or more; "spread" is half the width of their
middle half. Rows named (CPU) are processor time, of all threads.

Peers: where a python3 of PATH has NumPy, the same work is measured in NumPy and SciPy,
on one thread, in turns with the program's, and stands in the same row; "to peer" is the
program's processor time in times the peer's, which has missed its target where it is
above by more than noise. The results are compared, so that both do the same work.
--peers names another Python program, --no-peers leaves them out.

With --compare, each row stands beside the one of FILE, which an earlier run printed,
with "change", its value in times that before. FILE is what --output json prints; the
table is read as well, with the digits that it has. Rows named (CPU) are judged, no
others:

  ~       the difference is within the noise: the middle halves of the repeated
          measures of both runs overlap
  SLOWER  it is beyond the noise, and the row takes longer by more than --tolerance
  faster  the same the other way round

With a SLOWER row the exit status is 4. Where FILE was measured on another processor, its
times say nothing of the program: then the ratio to the peer in each run is compared, and
rows without a peer are not judged. Another BLAS or device is compared, with a warning.
Rows that only FILE has are "gone" (of the benchmarks that are selected), those that it
lacks "new".

The benchmarks device/... are copies, kernel matrices, solves, affine hulls, the
cloaking descent, a kernel affine hull machine and the search for the nearest of some,
with GFLOP/s and their share of what a matrix product and a copy reach. Beside them
stand the launches, waits and copies that a CUDA device is asked for, and times that a
model predicts for named devices. With --backend they alone are run, on that backend
beside the CPU.`,
		Example: `  run bench
  run bench cloaking/
  run bench 'graphs/*' --no-peers
  run bench --output json > before.json
  run bench --compare before.json --tolerance 0.1
  run bench --backend cuda`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.bench(cmd.Context(), f, cmd.Flags().Changed(backendFlag), args)
		},
	}
	cmd.AddCommand(a.sharesCommand())
	flags := cmd.Flags()
	flags.StringVar(&f.output, "output", "table", "table or json")
	flags.StringVar(&f.compare, "compare", "", "compare with `FILE`, which an earlier run printed")
	flags.Float64Var(&f.tolerance, "tolerance", bench.DefaultTolerance,
		"the share by which processor times may be longer than in the FILE of --compare")
	flags.IntVar(&f.repeat, "repeat", bench.DefaultRepeat, "measure times at least `N` times, unless that takes over 5 s")
	flags.StringVar(&f.peers, "peers", "",
		"the `PYTHON` program with NumPy for peers (default: the first python3 of PATH with it)")
	flags.BoolVar(&f.noPeers, "no-peers", false, "measure no peers")
	flags.StringVar(&f.backend, backendFlag, "",
		"measure this backend beside the CPU, by the benchmarks device/...: "+backendUsage)
	flags.BoolVar(&f.small, "small", false,
		"small matrices for device/..., as a simulated device needs them; their rates say nothing about a real one")
	return cmd
}

// check refuses values that flags do not take.
func (f *benchFlags) check() error {
	switch {
	case f.repeat < 1:
		return usagef("--repeat is %d; it takes 1 and more", f.repeat)
	case !(f.tolerance >= 0) || math.IsInf(f.tolerance, 1):
		return usagef("--tolerance is %v; it takes a share that is not negative, such as 0.15", f.tolerance)
	case f.noPeers && f.peers != "":
		return usagef("--peers and --no-peers exclude each other")
	}
	return oneOf("output", f.output, "table", "json")
}

// bench measures benchmarks, and with a backend those of devices, on it and the CPU.
func (a *app) bench(ctx context.Context, f *benchFlags, onBackend bool, names []string) error {
	if err := f.check(); err != nil {
		return err
	}
	var all []experiment.Benchmark
	var device string
	if onBackend {
		if err := checkBackend(f.backend); err != nil {
			return err
		}
		c, err := a.choose(f.backend, "float64")
		if err != nil {
			return err
		}
		device = c.Device
		a.say("on %s", c)
		all = experiments.DeviceBenchmarks(c.Backend, f.small)
	} else {
		newRunner, err := newNoopWorkers()
		if err != nil {
			return err
		}
		all = a.benchmarks(newRunner, f.small)
	}
	selected, err := selectBenchmarks(all, names)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if out := long(all); len(out) > 0 {
			a.say("left out, as they take long: %s", strings.Join(out, ", "))
		}
	}
	isSelected := func(benchmark string) bool {
		named := func(b experiment.Benchmark) bool { return b.Name == benchmark }
		return slices.ContainsFunc(selected, named) || len(names) == 0 && !onBackend && !slices.ContainsFunc(all, named)
	}
	earlier, err := readEarlier(f.compare, isSelected)
	if err != nil {
		return err
	}
	if blas := cpublas.Setup(); blas.Err != "" { // gonum would be measured in its place
		return errors.New(blas.Err)
	}
	h := host(device)
	report := &bench.Report{Machine: bench.Machine{CPU: h.CPU, BLAS: h.BLAS, Device: device, Revision: h.Revision}}
	a.say("%s, %s, revision %s", h.CPU, h.BLAS, h.Revision)
	if err := a.measure(ctx, f, selected, report); err != nil {
		return err
	}
	if earlier != nil {
		report.Comparison = bench.Compare(report, earlier, f.compare, f.tolerance, isSelected)
		for _, w := range report.Comparison.Warnings {
			a.say("warning: %s", w)
		}
	}
	if err := a.printReport(f, report); err != nil || earlier == nil {
		return err
	}
	if err := report.Comparison.Err(); err != nil {
		return statusError{status: exitCheck, text: err.Error()}
	}
	return nil
}

// benchmarks are all of the CPU.
func (a *app) benchmarks(newRunner func() schedule.Runner, small bool) []experiment.Benchmark {
	// The runner's come first: they measure the memory of the process, and the others need
	// much.
	all := bench.Runner(newRunner)
	for _, p := range a.Papers {
		all = append(all, p.Benchmarks...)
	}
	all = append(all, experiments.EngineBenchmarks()...)
	for _, b := range experiments.DeviceBenchmarks("cpu", small) {
		b.Long = true // of sizes for a device
		all = append(all, b)
	}
	return all
}

// readEarlier reads the report to compare with, before anything is measured; nil without
// one. A report without a row of the selected benchmarks is an error.
func readEarlier(path string, isSelected func(benchmark string) bool) (*bench.Report, error) {
	if path == "" {
		return nil, nil
	}
	r, err := bench.Read(path)
	if in := (*bench.FileError)(nil); errors.As(err, &in) {
		return nil, usageError{fmt.Errorf("--compare: %w", err)}
	} else if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.Measurements, func(m bench.Measurement) bool { return isSelected(m.Benchmark) }) {
		return nil, usagef("--compare: %s has no row of the benchmarks that are selected; it begins with %s", path,
			r.Measurements[0].Benchmark)
	}
	return r, nil
}

// measure runs benchmarks, and their peers where there are some.
func (a *app) measure(ctx context.Context, f *benchFlags, selected []experiment.Benchmark, report *bench.Report) error {
	o := bench.Options{Repeat: f.repeat, Started: func(name, doc string) { a.say("%s: %s", name, doc) }}
	if !f.noPeers {
		client := peers.NewClient(ctx, f.peers, a.say)
		defer client.Close()
		o.Peers = client
		defer func() { report.Machine.Peers = client.Libraries() }()
	}
	var err error
	report.Measurements, err = bench.Run(ctx, selected, o)
	return err
}

func (a *app) printReport(f *benchFlags, report *bench.Report) error {
	if f.output == "json" {
		return report.JSON(a.out)
	}
	return report.Text(a.out)
}

// selectBenchmarks returns the benchmarks whose names begin with one of the prefixes or match
// one as a pattern; without a prefix those that do not take long. A prefix of none is an error.
func selectBenchmarks(all []experiment.Benchmark, prefixes []string) ([]experiment.Benchmark, error) {
	if len(prefixes) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(b experiment.Benchmark) bool { return b.Long }), nil
	}
	var out []experiment.Benchmark
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	for _, prefix := range prefixes {
		found := false
		for _, b := range all {
			matches, err := path.Match(prefix, b.Name)
			if err != nil {
				return nil, usagef("%q is no pattern of benchmarks: %v", prefix, err)
			}
			if !matches && !strings.HasPrefix(b.Name, prefix) {
				continue
			}
			found = true
			if !slices.ContainsFunc(out, func(o experiment.Benchmark) bool { return o.Name == b.Name }) {
				out = append(out, b)
			}
		}
		if !found {
			return nil, experiment.Unknown("benchmark", prefix, names)
		}
	}
	return out, nil
}

// long returns the names of the benchmarks that take long.
func long(all []experiment.Benchmark) []string {
	var names []string
	for _, b := range all {
		if b.Long {
			names = append(names, b.Name)
		}
	}
	return names
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
