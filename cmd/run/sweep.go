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
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"privkern/runner"
	"privkern/runner/claims"
	"privkern/runner/experiment"
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
	f.StringVar(&o.backend, "backend", "cpu", "cpu or cuda")
	f.StringVar(&o.dtype, "dtype", "float64", "float64 or float32")
	f.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "trials at a time; a trial's own parallelism is the cores divided by this")
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
func (o *runOptions) validate(cmd *cobra.Command) (plan.Shard, claims.Format, error) {
	shard := plan.Shard{Count: 1}
	// An empty shell variable must not turn a part into the whole.
	for _, name := range []string{"shard", "seeds", "out", "retry"} {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return shard, "", usagef("--%s is empty", name)
		}
	}
	format, err := claims.ParseFormat(o.output)
	if err != nil {
		return shard, "", oneOf("output", o.output, claims.Formats...)
	}
	if err := oneOf("retry", o.retry, "failed", "all"); o.retry != "" && err != nil {
		return shard, "", err
	}
	if err := oneOf("executor", o.executor, "local"); err != nil {
		return shard, "", err
	}
	if o.jobs < 1 {
		return shard, "", usagef("--jobs is %d; it must be at least 1", o.jobs)
	}
	if o.timeout < 0 {
		return shard, "", usagef("--timeout is %v; it must not be negative", o.timeout)
	}
	if o.shard != "" {
		if o.check {
			return shard, "", usagef("--check needs all trials; use it with `run report OUT` once all parts have run")
		}
		if shard, err = plan.ParseShard(o.shard); err != nil {
			return shard, "", usagef("--shard: %w", err)
		}
	}
	return shard, format, checkBackend(o.backend, o.dtype)
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
			shard, format, err := o.validate(cmd)
			if err != nil {
				return err
			}
			settings, opts, err := a.readSweeps(args, o)
			if err != nil {
				return err
			}
			return a.launch(cmd.Context(), o, shard, format, settings, opts)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// readSweeps reads the files and overrides among the arguments.
func (a *app) readSweeps(args []string, o runOptions) ([]sweep.Setting, planOptions, error) {
	opts := planOptions{Options: plan.Options{Backend: o.backend, DType: o.dtype}}
	var sweeps []*sweep.Sweep
	var titles, stems []string
	for _, arg := range args {
		// An existing file is a file, whatever its name.
		if _, err := os.Stat(arg); err != nil && strings.Contains(arg, "=") {
			name, _, _ := strings.Cut(arg, "=")
			if slices.ContainsFunc(opts.Overrides, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
				return nil, opts, usagef("parameter %q is given twice; several values go behind one =, separated by commas", name)
			}
			opts.Overrides = append(opts.Overrides, arg)
			continue
		}
		s, err := sweep.ReadFile(arg, a.Names())
		if err != nil {
			return nil, opts, err
		}
		sum := sha256.Sum256(s.Source)
		opts.Sources = append(opts.Sources, plan.Source{Path: arg, SHA256: hex.EncodeToString(sum[:])})
		opts.Tables = append(opts.Tables, s.Tables...)
		stems = append(stems, strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg)))
		if s.Title != "" {
			titles = append(titles, s.Title)
		}
		sweeps = append(sweeps, s)
	}
	if len(sweeps) == 0 {
		return nil, opts, usagef("no sweep file is named; `run sweep --help` shows how")
	}
	opts.Title = strings.Join(titles, "; ")
	opts.name = strings.Join(stems, "+")
	if err := override(sweeps, opts.Overrides); err != nil {
		return nil, opts, usageError{err}
	}
	var settings []sweep.Setting
	for _, s := range sweeps {
		if o.seeds != "" {
			seeds, err := sweep.ParseSeeds(o.seeds)
			if err != nil {
				return nil, opts, usagef("--seeds: %w", err)
			}
			s.SetSeeds(seeds)
		}
		expanded, err := s.Expand()
		if err != nil {
			return nil, opts, err
		}
		if len(expanded) == 0 { // a file of tables only
			if expanded, err = a.TableSettings(s.Tables...); err != nil {
				return nil, opts, err
			}
			if o.seeds != "" {
				if expanded, err = reseed(expanded, o.seeds); err != nil {
					return nil, opts, err
				}
			}
		}
		settings = append(settings, expanded...)
	}
	return settings, opts, nil
}

// override applies name=value arguments to the sweeps. Each must apply to one
// of them at least; the others' experiments may lack the parameter.
func override(sweeps []*sweep.Sweep, assignments []string) error {
	for _, assignment := range assignments {
		var unknown error
		applied := false
		for _, s := range sweeps {
			err := s.Override(assignment)
			var lacks *experiment.UnknownError
			switch {
			case err == nil:
				applied = true
			case errors.As(err, &lacks):
				unknown = err
			default:
				return err
			}
		}
		if !applied {
			return unknown
		}
	}
	return nil
}

// planOptions are the plan's, and the name of its default output folder.
type planOptions struct {
	plan.Options
	name string
}

// launch plans, runs, and prints the tables.
func (a *app) launch(ctx context.Context, o runOptions, shard plan.Shard, format claims.Format, settings []sweep.Setting, opts planOptions) error {
	data := a.datasets()
	p, err := plan.New(settings, data, opts.Options)
	if err != nil {
		return err
	}
	dir := o.out
	if dir == "" {
		dir = filepath.Join(runsFolder, opts.name)
		if variant := strings.Join(append(append([]string(nil), opts.Overrides...), o.seeds, o.backend, o.dtype), "\x00"); variant != "\x00cpu\x00float64" {
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
	newRunner, err := newWorkers(threads)
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
			Host: host(), NewRunner: newRunner, Observer: reporter,
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
	_, err := fmt.Fprintf(a.out, "%d trials for %s\n", len(indices), dir)
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
