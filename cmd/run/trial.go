package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
	"privkern/runner/memory"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/release"
	"privkern/runner/sweep"
	"privkern/runner/trial"
)

func (a *app) trialCommand() *cobra.Command {
	var (
		o      trialOptions
		rng    string
		strict bool
	)
	cmd := &cobra.Command{
		Use:   "trial EXPERIMENT [name=value ...]",
		Short: "Run one trial and print its record",
		Long: `Run one trial of an experiment and print its record, one JSON object, on
standard output. Parameters that are not given have their defaults; run list
EXPERIMENT shows them.

With --rng secure the noise comes from the operating system's entropy source
instead of the seed: such a trial cannot be repeated, and only such noise can
protect anybody. A record is not a release: beside what a mechanism would
release it holds what was measured on the private data.

With --release FILE the trial's mechanism runs once, on all rows, and what it
releases is written to FILE: comma-separated values with a header, or, by
dpgp/regression, a model with which run predict predicts at any inputs. FILE.json
says what is protected, and how it was made. Both files and the record on
standard output hold nothing that was computed from private data but by the
mechanism, and may be published: no error, no count of clipped values, no
SHA-256 of the data. It needs --rng secure, and replaces no file. A release that
fails leaves no file and prints no record, since the reason may tell of private
data. Every release spends a privacy budget of its own.

Your own data are a file of comma-separated values with a header, named csv:PATH
(from the current folder), for experiments with a parameter dataset.

The exit status is 3 if the trial failed; see run help exit-codes.`,
		Example: `  run trial privacygp/example1
  run trial privacygp/satellite alpha=0.5 quantity=angle
  run trial cloaking/regression inputs=age method=sparse epsilon=1 --seed 3
  run trial cloaking/regression dataset=csv:my.csv inputs=dose output=response \
      low=0 high=10 lengthscale=2 --rng secure --release predictions.csv
  run trial dpgp/regression dataset=csv:my.csv inputs=dose output=response low=0 \
      high=10 input_low=0 input_high=20 lengthscale=4 --rng secure --release model.json`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.Experiments.Names(), cobra.ShellCompDirectiveNoFileComp
			}
			e, err := a.Experiments.Lookup(args[0])
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []string
			for _, name := range e.ParamNames() {
				out = append(out, name+"=")
			}
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.backend, o.gpu, err = a.resolveBackend(o.backend, o.dtype); err != nil {
				return err
			}
			if err := oneOf("rng", rng, "seeded", "secure"); err != nil {
				return err
			}
			o.secure = rng == "secure"
			if o.seed < 0 {
				return usagef("--seed is %d; seeds are whole numbers from 0 up", o.seed)
			}
			e, err := a.Experiments.Lookup(args[0])
			if err != nil {
				return err
			}
			assignments := args[1:]
			if strict {
				if _, err := e.Param("strict"); err != nil {
					return usagef("--strict: %s clips nothing that it could refuse", e.Name)
				}
				assignments = append(slices.Clone(assignments), "strict=true")
			}
			params, err := resolveArguments(e, assignments)
			if err != nil {
				return usageError{err}
			}
			if cmd.Flags().Changed("release") {
				if err := a.checkRelease(e, params, o); err != nil {
					return err
				}
			}
			return a.runTrial(cmd, e, params, o)
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&o.seed, "seed", 0, "seed of the random streams")
	flags.StringVar(&o.backend, "backend", "cpu", backendUsage)
	flags.StringVar(&o.dtype, "dtype", "float64", "float64 or float32")
	flags.StringVar(&rng, "rng", "seeded", "where noise comes from: seeded (repeatable, protects nobody) or secure (the operating system)")
	flags.BoolVar(&strict, "strict", false, "refuse private values beyond their bounds instead of clipping them: strict=true, where the experiment has it")
	flags.BoolVar(&o.ignoreMemory, "ignore-memory", false, "start a trial that would not fit into the memory, too")
	flags.StringVar(&o.release, "release", "", "run the mechanism once and write what it releases to this file; with --rng secure only")
	return cmd
}

type trialOptions struct {
	seed           int64
	backend, dtype string
	gpu            string // describes the device; empty on the CPU
	secure         bool
	release        string // file; empty for a trial that releases nothing
	ignoreMemory   bool
}

// checkRelease refuses a release that would protect nobody or could not be
// written, before any data are read.
func (a *app) checkRelease(e *experiment.Experiment, params experiment.Params, o trialOptions) error {
	switch {
	case e.Release == nil:
		return usagef("%s has no release; these have: %s", e.Name, strings.Join(a.Experiments.WithRelease(), ", "))
	case !o.secure:
		return usagef("--release: noise from a seed protects nobody; add --rng secure")
	case o.release == "":
		return usagef("--release names no file")
	}
	if e.CheckRelease != nil {
		if err := e.CheckRelease(params); err != nil {
			return usagef("--release: %w", err)
		}
	}
	err := release.Check(o.release)
	var exists *release.ExistsError
	if errors.As(err, &exists) {
		return usagef("--release: %w", err)
	}
	return err
}

func (a *app) runTrial(cmd *cobra.Command, e *experiment.Experiment, params experiment.Params, o trialOptions) error {
	data := a.datasets()
	opts := plan.Options{Backend: o.backend, DType: o.dtype}
	if o.secure {
		// No two such trials have the same result, so none have the same key. In
		// the key of a release the text also hides the digest of private data.
		opts.RNG = "secure " + rand.Text()
	}
	p, err := plan.New([]sweep.Setting{{Experiment: e, Params: params, Seed: o.seed}}, data, opts)
	if err != nil {
		return err
	}
	job := trial.Job{
		Key: p.Trials[0].Key, Experiment: e.Name, Params: params, Seed: o.seed, Backend: o.backend, DType: o.dtype,
		Workers: runtime.GOMAXPROCS(0), Folders: map[string]string{}, Digests: p.Datasets, Secure: o.secure, Host: host(o.gpu),
	}
	var missing error
	var file *dataset.MissingFileError
	for _, name := range p.DatasetNames() {
		d := data.Get(name)
		job.Folders[name] = d.Folder
		missing = errors.Join(missing, d.Err)
	}
	if errors.As(missing, &file) || missing != nil && o.release != "" {
		return missing // a path was mistyped, or a release cannot be skipped
	}
	refusal := ""
	if e.Memory != nil {
		refusal = memory.Refusal(e.Memory(params), availableMemory(o.ignoreMemory))
	}
	var rec *record.Record
	switch {
	case refusal != "" && o.release != "":
		return errors.New(refusal)
	case refusal != "" && missing == nil:
		if rec, err = trial.NewRecord(job); err != nil {
			return err
		}
		rec.Fail(refusal)
	case missing != nil:
		if rec, err = trial.NewRecord(job); err != nil {
			return err
		}
		plan.WithoutData(rec, missing)
	case o.release != "":
		if rec, err = a.release(cmd.Context(), e, job, o.release); err != nil {
			return err
		}
	default:
		progress, done := a.trialProgress()
		rec, err = trial.Execute(cmd.Context(), e, job, progress)
		if done(); err != nil {
			return err
		}
	}
	raw, err := record.Encode(rec)
	if err != nil {
		return err
	}
	if _, err := a.out.Write(raw); err != nil {
		return err
	}
	for _, w := range rec.Warnings {
		a.complain("warning: %s", w)
	}
	switch rec.Status {
	case record.Failed:
		return statusError{exitTrials, fmt.Sprintf("%s failed: %s", strings.TrimSpace(e.Name+" "+e.Describe(params)), *rec.Error)}
	case record.Skipped:
		a.complain("skipped: %s", *rec.Error)
	}
	return nil
}

// release runs the job's release and writes its files.
func (a *app) release(ctx context.Context, e *experiment.Experiment, job trial.Job, path string) (*record.Record, error) {
	progress, done := a.trialProgress()
	unbooked := trial.ReleaseOptions{Book: func(experiment.Spending) error { return nil }, Unbooked: true, Tuning: experiment.TuningUnaccounted}
	rec, rel, err := trial.Release(ctx, e, job, unbooked, progress)
	done()
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		return nil, statusError{exitTrials, fmt.Sprintf("%s failed, and nothing is released: %s", e.Name, err)}
	}
	if err := release.Write(path, rec, rel); err != nil {
		return nil, err
	}
	if rel.Model != nil {
		a.say("a model released in %s, for run predict; %s%s says what it protects", path, path, release.DescriptionSuffix)
		return rec, nil
	}
	a.say("%d rows released in %s; %s%s says what they protect", len(rel.Rows), path, path, release.DescriptionSuffix)
	return rec, nil
}

// trialProgress shows a trial's inner progress on a terminal, until done is
// called.
func (a *app) trialProgress() (progress trial.Progress, done func()) {
	if !isTerminal(a.err) || a.quiet {
		return nil, func() {}
	}
	last := time.Now()
	return func(done, total int, what string) {
			if time.Since(last) > 200*time.Millisecond {
				last = time.Now()
				_, _ = fmt.Fprintf(a.err, "\r\x1b[K%s %d/%d", what, done, total)
			}
		}, func() {
			_, _ = fmt.Fprint(a.err, "\r\x1b[K")
		}
}

// resolveArguments reads name=value arguments.
func resolveArguments(e *experiment.Experiment, args []string) (experiment.Params, error) {
	given := map[string]any{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not of the form name=value", arg)
		}
		if _, twice := given[name]; twice {
			return nil, fmt.Errorf("parameter %q is given twice", name)
		}
		given[name] = value
	}
	return e.Resolve(given)
}

// backendUsage describes --backend.
const backendUsage = "cpu, cuda, or auto: cuda where it can be used, else cpu"

// resolveBackend chooses between cuda and cpu for auto, and refuses a backend that
// this build or machine does not have, before anything runs. It also describes
// the device.
func (a *app) resolveBackend(backend, dtype string) (resolved, gpu string, err error) {
	if err := oneOf("backend", backend, "cpu", "cuda", "auto"); err != nil {
		return "", "", err
	}
	if err := oneOf("dtype", dtype, "float64", "float32"); err != nil {
		return "", "", err
	}
	if backend == "auto" {
		_, gpu, err := a.resolveBackend("cuda", dtype)
		if err == nil {
			return "cuda", gpu, nil
		}
		a.say("--backend auto takes the cpu; %v", err)
		backend = "cpu"
	}
	e, err := engine.Open(backend, dtype, 1)
	if err != nil {
		return "", "", err
	}
	return backend, e.Accelerator(), e.Close()
}

// backendElsewhere checks the backend of trials that other machines run: this
// one need not have the device.
func backendElsewhere(backend, dtype string) error {
	if backend == "auto" {
		return usagef("--backend auto: this machine cannot tell what those that run the trials have; name cpu or cuda")
	}
	return errors.Join(oneOf("backend", backend, "cpu", "cuda"), oneOf("dtype", dtype, "float64", "float32"))
}
