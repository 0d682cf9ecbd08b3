package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"privkern/graphs/cuda"
	"privkern/runner"
	"privkern/runner/claims"
	"privkern/runner/plan"
	"privkern/runner/progress"
	"privkern/runner/schedule"
	"privkern/runner/sweep"
)

// runsFolder is where output folders go by default.
const runsFolder = "results/runs"

// runOptions are the flags that sweep and table share.
type runOptions struct {
	out            string
	backend, dtype string
	gpu            string // describes the device; empty on the CPU
	jobs           int
	seeds          string
	failFast       bool
	keepGoing      bool
	retry          string
	timeout        time.Duration
	shard          string
	executor       string
	check          bool
	replan         bool
	dryRun         bool
	output         string
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "output folder (default "+runsFolder+"/NAME)")
	f.StringVar(&o.backend, "backend", "cpu", backendUsage)
	f.StringVar(&o.dtype, "dtype", "float64", "float64 or float32")
	f.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "trials at a time, on cuda by default one for each device; a trial's own parallelism is the cores divided by this")
	f.StringVar(&o.seeds, "seeds", "", "seeds in place of the file's: 7, 0,1,2 or 0..19")
	f.BoolVar(&o.failFast, "fail-fast", false, "stop at the first failed trial")
	f.BoolVar(&o.keepGoing, "keep-going", true, "run all trials even where some fail")
	f.StringVar(&o.retry, "retry", "", "run finished trials again: failed or all")
	f.DurationVar(&o.timeout, "timeout", 0, "end a trial that takes longer, such as 10m; 0 for never")
	f.StringVar(&o.shard, "shard", "", "run part i of n of the plan, such as 1/4")
	f.StringVar(&o.executor, "executor", "local", "where trials run: local")
	f.BoolVar(&o.check, "check", false, "exit with 4 if a value is out of its reference band or was not computed")
	f.BoolVar(&o.replan, "replan", false, "replace another plan in the output folder, keeping the trials that both have")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would run, and run nothing")
	f.StringVar(&o.output, "output", "table", "format of the tables on standard output: table, json, csv, latex or markdown")
	cmd.MarkFlagsMutuallyExclusive("fail-fast", "keep-going")
}

// validate refuses wrong values of flags.
func (o *runOptions) validate(cmd *cobra.Command) (shard plan.Shard, seeds []int64, format claims.Format, err error) {
	// An empty shell variable must not turn a part into the whole.
	for _, name := range []string{"shard", "seeds", "out", "retry"} {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return shard, nil, "", usagef("--%s is empty", name)
		}
	}
	switch {
	case o.jobs < 1:
		return shard, nil, "", usagef("--jobs is %d; it must be at least 1", o.jobs)
	case o.timeout < 0:
		return shard, nil, "", usagef("--timeout is %v; it must not be negative", o.timeout)
	case o.shard != "" && o.check:
		return shard, nil, "", usagef("--check needs all trials; use it with `run report OUT` once all parts have run")
	}
	if o.retry != "" {
		err = oneOf("retry", o.retry, "failed", "all")
	}
	err = errors.Join(err, oneOf("output", o.output, claims.Formats...), oneOf("executor", o.executor, "local"))
	shard.Count = 1
	if o.shard != "" {
		var shardErr error
		if shard, shardErr = plan.ParseShard(o.shard); shardErr != nil {
			err = errors.Join(err, usagef("--shard: %w", shardErr))
		}
	}
	if o.seeds != "" {
		var seedsErr error
		if seeds, seedsErr = sweep.ParseSeeds(o.seeds); seedsErr != nil {
			err = errors.Join(err, usagef("--seeds: %w", seedsErr))
		}
	}
	if err == nil {
		o.backend, o.gpu, err = resolveBackend(o.backend, o.dtype)
	}
	if err == nil {
		err = cuda.Release() // the workers compute
	}
	if o.backend == "cuda" && !cmd.Flags().Changed("jobs") {
		o.jobs = max(1, cuda.Count()) // jobs share the memory of a device
	}
	return shard, seeds, claims.Format(o.output), err
}

func (a *app) sweepCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "sweep FILE... [name=v1,v2 ...]",
		Short: "Run the trials of sweep files and print their tables",
		Long: `Expand sweep files into trials, freeze the plan in the output folder, run what
has no result yet, and print the tables that the files name, or all metrics
where they name none. Tables, plots and report.html are in the output folder.

Ctrl-C stops; the same command goes on where it stopped. name=v1,v2 replaces
what the files say of a parameter. How to write a sweep file: run help
sweep-files. The exit status: run help exit-codes.`,
		Example: `  run sweep configs/quickstart.yaml
  run sweep configs/cloaking-table1.yaml --jobs 8 --data ~/data
  run sweep my.yaml epsilon=0.5,1 --seeds 0..19 --out results/runs/mine
  run sweep my.yaml --dry-run
  run sweep my.yaml --shard 2/8 --out /shared/mine
  run sweep configs/quickstart.yaml --check --output json`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			shard, seeds, format, err := o.validate(cmd)
			if err != nil {
				return err
			}
			files, overrides := splitArguments(args)
			if len(files) == 0 {
				return usagef("no sweep file is named; `run sweep --help` shows how")
			}
			wanted, err := a.ReadSweeps(files, overrides, seeds)
			if err != nil {
				return err
			}
			return a.launch(cmd.Context(), o, shard, format, wanted)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// splitArguments tells sweep files from name=value overrides. An existing file
// is a file, whatever its name.
func splitArguments(args []string) (files, overrides []string) {
	for _, arg := range args {
		if _, err := os.Stat(arg); err != nil && strings.Contains(arg, "=") {
			overrides = append(overrides, arg)
		} else {
			files = append(files, arg)
		}
	}
	return files, overrides
}

// launch plans, runs, and prints the tables.
func (a *app) launch(ctx context.Context, o runOptions, shard plan.Shard, format claims.Format, w *runner.Wanted) error {
	data := a.datasets()
	p, err := plan.New(w.Settings, data, plan.Options{
		Title: w.Title, Sources: w.Sources, Overrides: w.Overrides, Tables: w.Tables, Backend: o.backend, DType: o.dtype,
	})
	if err != nil {
		return err
	}
	dir := o.out
	if dir == "" {
		dir = filepath.Join(runsFolder, w.Name)
		if variant := strings.Join(append(append([]string(nil), w.Overrides...), o.seeds, o.backend, o.dtype), "\x00"); variant != "\x00cpu\x00float64" {
			// Other settings than the file's are another plan.
			sum := sha256.Sum256([]byte(variant))
			dir += "-" + hex.EncodeToString(sum[:3])
		}
	}
	if o.dryRun {
		return a.dryRun(p, data, shard, dir)
	}
	start := time.Now()
	threads := max(1, runtime.GOMAXPROCS(0)/o.jobs)
	newRunner, err := newWorkers(threads, o.backend)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("the output folder cannot be made: %w", err)
	}
	log, err := progress.OpenLog(filepath.Join(dir, "log.jsonl"))
	if err != nil {
		return fmt.Errorf("the output folder cannot be written: %w", err)
	}
	defer func() { _ = log.Close() }()
	reporter := progress.New(a.progressOptions(), a.Experiments, log)
	sum, err := a.Run(ctx, runner.Request{
		Dir: dir, Plan: p, Data: data, Shard: shard, Replan: o.replan,
		Schedule: schedule.Options{
			Jobs: o.jobs, Workers: threads, Timeout: o.timeout, FailFast: o.failFast || !o.keepGoing, Retry: schedule.Retry(o.retry),
			Host: host(o.gpu), NewRunner: newRunner, Observer: reporter,
		},
	})
	reporter.Close()
	if err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, schedule.ErrFailFast) {
			a.say("%d of %d trials have a result in %s; the same command goes on", sum.OK+sum.Failed+sum.Skipped, sum.Total, dir)
		}
		return err
	}
	a.say("%s in %s", countText(sum), runner.Elapsed(time.Since(start)))
	if shard.Count > 1 {
		a.say("part %s is done; `run report %s` makes and prints the tables once all parts are", o.shard, dir)
		return failures(sum)
	}
	if err := a.present(dir, format, o.check); err != nil {
		return err
	}
	return failures(sum)
}

func failures(sum schedule.Summary) error {
	if sum.Failed > 0 {
		return statusError{exitTrials, fmt.Sprintf("%d of %d trials failed", sum.Failed, sum.Total)}
	}
	return nil
}

func countText(s schedule.Summary) string {
	parts := []string{fmt.Sprintf("%d ok", s.OK)}
	for _, part := range []struct {
		n    int
		what string
	}{{s.Failed, "failed"}, {s.Skipped, "skipped"}, {s.NotRun, "not run"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if s.Cached > 0 {
		parts = append(parts, fmt.Sprintf("%d of these from before", s.Cached))
	}
	return strings.Join(parts, ", ")
}

// dryRun shows what would run.
func (a *app) dryRun(p *plan.Plan, data *plan.Datasets, shard plan.Shard, dir string) error {
	indices := shard.Indices(len(p.Trials))
	noun := "trials"
	if len(indices) == 1 {
		noun = "trial"
	}
	_, err := fmt.Fprintf(a.out, "%d %s for %s\n", len(indices), noun, dir)
	const shown = 20
	for n, i := range indices {
		if err != nil {
			return err
		}
		if n == shown {
			_, err = fmt.Fprintf(a.out, "... and %d more\n", len(indices)-shown)
			break
		}
		t := p.Trials[i]
		e, lookupErr := a.Experiments.Lookup(t.Experiment)
		if lookupErr != nil {
			return lookupErr
		}
		_, err = fmt.Fprintln(a.out, strings.TrimSpace(fmt.Sprintf("%.12s %s --seed %d %s", t.Key, t.Experiment, t.Seed, e.Describe(t.Params))))
	}
	for _, name := range p.DatasetNames() {
		if problem := data.Get(name).Err; err == nil && problem != nil {
			_, err = fmt.Fprintf(a.out, "the data set %s cannot be used: %v\n", name, problem)
		}
	}
	return err
}
