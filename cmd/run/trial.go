package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/sweep"
	"privkern/runner/trial"
)

func (a *app) trialCommand() *cobra.Command {
	var (
		seed           int64
		backend, dtype string
		rng            string
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

The exit status is 3 if the trial failed; see run help exit-codes.`,
		Example: `  run trial privacygp/example1
  run trial privacygp/satellite alpha=0.5 quantity=angle
  run trial cloaking/regression inputs=age method=sparse epsilon=1 --seed 3`,
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
			if err := checkBackend(backend, dtype); err != nil {
				return err
			}
			if err := oneOf("rng", rng, "seeded", "secure"); err != nil {
				return err
			}
			if seed < 0 {
				return usagef("--seed is %d; seeds are whole numbers from 0 up", seed)
			}
			e, err := a.Experiments.Lookup(args[0])
			if err != nil {
				return err
			}
			params, err := resolveArguments(e, args[1:])
			if err != nil {
				return usageError{err}
			}
			return a.runTrial(cmd, e, params, seed, backend, dtype, rng == "secure")
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&seed, "seed", 0, "seed of the random streams")
	flags.StringVar(&backend, "backend", "cpu", "cpu or cuda")
	flags.StringVar(&dtype, "dtype", "float64", "float64 or float32")
	flags.StringVar(&rng, "rng", "seeded", "where noise comes from: seeded (repeatable, protects nobody) or secure (the operating system)")
	return cmd
}

func (a *app) runTrial(cmd *cobra.Command, e *experiment.Experiment, params experiment.Params, seed int64, backend, dtype string, secure bool) error {
	data := a.datasets()
	opts := plan.Options{Backend: backend, DType: dtype}
	if secure {
		// No two such trials have the same result, so none have the same key.
		opts.RNG = "secure " + rand.Text()
	}
	p, err := plan.New([]sweep.Setting{{Experiment: e, Params: params, Seed: seed}}, data, opts)
	if err != nil {
		return err
	}
	job := trial.Job{
		Key: p.Trials[0].Key, Experiment: e.Name, Params: params, Seed: seed, Backend: backend, DType: dtype,
		Workers: runtime.GOMAXPROCS(0), Folders: map[string]string{}, Digests: p.Datasets, Secure: secure, Host: host(),
	}
	var missing error
	var file *dataset.MissingFileError
	for _, name := range p.DatasetNames() {
		d := data.Get(name)
		job.Folders[name] = d.Folder
		missing = errors.Join(missing, d.Err)
	}
	if errors.As(missing, &file) {
		return missing // a path was mistyped: there is nothing to skip
	}
	var rec *record.Record
	if missing != nil {
		if rec, err = trial.NewRecord(job); err != nil {
			return err
		}
		plan.WithoutData(rec, missing)
	} else {
		last := time.Now()
		rec, err = trial.Execute(cmd.Context(), e, job, func(done, total int, what string) {
			if isTerminal(a.err) && !a.quiet && time.Since(last) > 200*time.Millisecond {
				last = time.Now()
				_, _ = fmt.Fprintf(a.err, "\r\x1b[K%s %d/%d", what, done, total)
			}
		})
		if isTerminal(a.err) && !a.quiet {
			_, _ = fmt.Fprint(a.err, "\r\x1b[K")
		}
		if err != nil {
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

// checkBackend refuses a backend that this build or machine does not have,
// before anything runs.
func checkBackend(backend, dtype string) error {
	if err := oneOf("backend", backend, "cpu", "cuda"); err != nil {
		return err
	}
	if err := oneOf("dtype", dtype, "float64", "float32"); err != nil {
		return err
	}
	e, err := engine.Open(backend, dtype, 1)
	if err != nil {
		return err
	}
	return e.Close()
}
