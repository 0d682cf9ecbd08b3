package cli

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments"
	"privkern/graphs/cpublas"
	"privkern/runner/execute/bench"
	"privkern/runner/execute/bench/peers"
	"privkern/runner/experiment"
)

// benchFlags are the flags of run bench.
type benchFlags struct {
	output, backend, peers string
	small, noPeers         bool
	repeat                 int
}

func (a *app) benchCommand() *cobra.Command {
	f := new(benchFlags)
	cmd := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Compare programs with other libraries, workers and devices",
		Long: `Measure programs, numbers of workers and devices one after another, and print each
measurement with its bound. A NAME selects the benchmarks whose name begins with
it, or a pattern of them, such as 'graphs/*' or '*/kernel'. Without a NAME those are left
out that take long, listed on stderr; '*/*' names all. All of it is measured on
the CPU. Solvers and the runner are measured by go test -bench, and two revisions
compared by benchstat.

A time is the median of --repeat measures or more; "spread" is half the width of their
middle half. Rows named (CPU) are processor time, of all threads.

Peers: where a python3 of PATH has NumPy, the same work is measured in NumPy and SciPy,
on one thread, in turns with the program's, and stands in the same row; "to peer" is the
program's processor time in times the peer's, which has missed its target where it is
above by more than noise. The results are compared, so that both do the same work.
--peers names another Python program, --no-peers leaves them out.

The benchmarks device/... are copies, kernel matrices, solves, affine hulls, the
cloaking descent, a kernel affine hull machine and the search for the nearest of some,
with GFLOP/s and their share of the rates of a matrix product and a copy; the launches,
waits and copies that a CUDA device is asked for; and times that a model predicts for
named devices. With --backend they alone are run, on that backend and on the CPU.`,
		Example: `  run bench
  run bench 'graphs/*' --no-peers
  run bench graphs/dense
  run bench --output json > report.json
  run bench --backend cuda`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.bench(cmd.Context(), f, cmd.Flags().Changed(backendFlag), args)
		},
	}
	cmd.AddCommand(a.sharesCommand(), a.calibrateCommand(), a.scalingCommand())
	flags := cmd.Flags()
	flags.StringVar(&f.output, "output", "table", "table or json")
	flags.IntVar(&f.repeat, "repeat", bench.DefaultRepeat, "measure times at least `N` times, unless that takes over 5 s")
	flags.StringVar(&f.peers, "peers", "",
		"the `PYTHON` program with NumPy for peers (default: the first python3 of PATH with it)")
	flags.BoolVar(&f.noPeers, "no-peers", false, "measure no peers")
	flags.StringVar(&f.backend, backendFlag, "",
		"measure this backend in addition to the CPU, by the benchmarks device/...: "+backendUsage)
	flags.BoolVar(&f.small, "small", false,
		"small matrices for device/..., as a simulated device needs them; their rates do not apply to a real one")
	return cmd
}

// check refuses values that flags do not take.
func (f *benchFlags) check() error {
	switch {
	case f.repeat < 1:
		return usagef("--repeat is %d; it takes 1 and more", f.repeat)
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
		all = experiments.EngineBenchmarks()
		for _, b := range experiments.DeviceBenchmarks("cpu", f.small) {
			b.Long = true // of sizes for a device
			all = append(all, b)
		}
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
	if blas := cpublas.Setup(); blas.Err != "" { // gonum would be measured in its place
		return errors.New(blas.Err)
	}
	h := host(device)
	report := &bench.Report{Machine: bench.Machine{CPU: h.CPU, BLAS: h.BLAS, Device: device, Revision: h.Revision}}
	a.say("%s, %s, revision %s", h.CPU, h.BLAS, h.Revision)
	if err := a.measure(ctx, f, selected, report); err != nil {
		return err
	}
	if f.output == "json" {
		return report.JSON(a.out)
	}
	return report.Text(a.out)
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

// selectBenchmarks returns the benchmarks whose names begin with one of the prefixes or
// match one as a pattern; without a prefix all but the long ones. A prefix of none is
// an error.
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
