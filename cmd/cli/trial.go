package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/budget"
	"privkern/graphs/backend"
	"privkern/graphs/engine"
	"privkern/runner/execute/machine"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
)

func (a *app) trialCommand() *cobra.Command {
	var (
		o          trialOptions
		rng        string
		strict     bool
		forRelease releaseFlags
	)
	cmd := &cobra.Command{
		Use:   "trial EXPERIMENT [name=value ...]",
		Short: "Run one trial and print its record",
		Long: `Run one trial of an experiment and print its record, one JSON object, to stdout.
Settings that are not given have their defaults; run list EXPERIMENT shows them.

With --rng secure all that is random, the noise as well as splits and starts of
k-means, comes from the operating system's entropy source: the seed determines
nothing, and such a trial cannot be repeated. A record is not a release: it also
holds measurements on the private data.

With --release FILE the trial's mechanism runs once, on all rows, and its
release is written to FILE: comma-separated values with a header; by
dpgp/regression and dpgp/classification, a model with which run predict predicts
at any inputs; by cloaking/selection and dpgp/hyperparameters, a choice of
hyper-parameters, for --tuning; by kahm/classifier, fabricated rows (NAME.csv,
NAME.npy, of pictures FOLDER/) or a classifier (NAME.json). FILE.json describes
what is protected, the noise with its grid, and how the release was made (run
help releases has the format). Both files and the record on standard output hold
nothing that was computed from private data but by the mechanism, and may be
published: no error, no count of clipped values, no SHA-256 of the data, no
path. A release needs --rng secure, and replaces no file. One that fails leaves
no file and prints no record. It computes on the CPU, as run audit does:
--backend auto takes no GPU for it. With --backend cuda, or --dtype float32, it
states that audits do not cover it.

A release books its epsilon and delta on the accounts of the people in its data,
which are recognised in any form of the file, before noise is
drawn, and is refused where they exceed the remainder (run budget --help), or where
the disk has no room for the largest size of its public shape. One that fails later
has spent. --account NAME names the account, and --show-account prints what is
left, for your eyes alone. --no-budget books nothing, and the release says so. delta
of 1/n and more is refused for n rows, unless --allow-large-delta is given.
--tuning states where the hyper-parameters came from; the release repeats it.

With --export FILE the trial writes results that may be handed over although no
(epsilon, delta) holds for them, such as data with privacy-aware noise or compressed features:
FILE and FILE.json, in the formats of a release. The guarantee in FILE.json is
empty, and the notes give the reason. An export books no budget; obfuscated data, which
have the inputs of all rows as they are, are refused where releases of the same people
protect them, and such releases afterwards. No seed has a part in what is random in an
export, because who knows a seed can take the noise off again.

The noise of obfuscated data would average away over several exports. It follows
from a secret of the budget ledger, the rows and its covariance: repeated, an export
is the same, byte for byte. One of the same data with other settings, or of
corrected data, is registered there and put together with those before it; what all
of them keep is printed on standard error, and one after which a tolerance would hold
no longer is refused (docs/privacygp.md). --budget-file names another ledger;
--no-budget registers nothing and draws new noise each time, and the export says so.

Your own data are csv:PATH, comma-separated values with a header, parquet:PATH,
npy:PATH or images:FOLDER (from the current folder), for experiments with a
parameter dataset; run data show DATA has their columns. For them delta must be
named, but by kahm, whose noise has none.

With --profile the record has a member profile: for each program its runs, the
launches, waits and copies that a CUDA device is asked for, also where the CPU
computes, operations and traffic, and times predicted for named devices. A profile
of the processor, for go tool pprof, goes to a file; --profile=FILE names it.

The exit status is 3 if the trial fails; see run help exit-codes.`,
		Example: `  run trial privacygp/example1
  run trial privacygp/satellite alpha=0.5 quantity=angle
  run trial cloaking/regression inputs=age method=sparse epsilon=1 --seed 3
  run trial kahm/fit --profile
  run trial cloaking/regression dataset=csv:my.csv inputs=dose output=response \
      low=0 high=10 lengthscale=2 delta=1e-6 --rng secure --release predictions.csv
  run trial dpgp/regression dataset=csv:my.csv inputs=dose output=response low=0 \
      high=10 input_low=0 input_high=20 lengthscale=4 delta=1e-6 --rng secure --release model.json
  run trial cloaking/selection selection_epsilon=1 --rng secure --release choice.json`,
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
			if err = errors.Join(checkBackend(o.backend), checkDType(o.dtype)); err != nil {
				return err
			}
			if err := oneOf("rng", rng, "seeded", "secure"); err != nil {
				return err
			}
			o.secure = rng == "secure"
			if err := o.secureExport(cmd); err != nil {
				return err
			}
			if o.seed < 0 {
				return usagef("--seed is %d; seeds are whole numbers from 0 up", o.seed)
			}
			e, err := a.Experiments.Lookup(args[0])
			if err != nil {
				return err
			}
			if e.External {
				return usagef("a program is run by a sweep file (run help sweep-files): for one trial, give run sweep FILE the " +
					"value of every setting, and --seeds")
			}
			if err := o.checkProfile(cmd, e.Name); err != nil {
				return err
			}
			assignments := args[1:]
			if strict {
				if _, err := e.Param("strict"); err != nil {
					has := ""
					if slices.ContainsFunc(e.Metrics, func(m experiment.Metric) bool { return m.Name == "clipped_fraction" }) {
						has = "; the share that it clips is the metric clipped_fraction"
					}
					return usagef("--strict: %s has no setting strict%s", e.Name, has)
				}
				assignments = append(slices.Clone(assignments), "strict=true")
			}
			params, err := a.resolveArguments(e, assignments)
			if err != nil {
				return usageError{err}
			}
			if err := forRelease.check(cmd.Flags()); err != nil {
				return err
			}
			if cmd.Flags().Changed("release") {
				if err := a.checkRelease(e, params, o); err != nil {
					return err
				}
				if err := forRelease.into(a, &o, e, params); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("export") {
				if err := a.checkExport(e, params, o); err != nil {
					return err
				}
				if e.Registered {
					if err := forRelease.register(a, &o); err != nil {
						return err
					}
				}
			}
			for _, name := range forRelease.names() {
				switch {
				case !cmd.Flags().Changed(name) || cmd.Flags().Changed("release"):
				case !cmd.Flags().Changed("export") || !ofExports(name):
					return usagef("--%s is for a release: add --release FILE", name)
				case !e.Registered:
					return usagef("--%s: exports of %s have no noise, and are not registered; leave it out", name, e.Name)
				}
			}
			return a.runTrial(cmd, e, params, o)
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&o.seed, "seed", 0, "seed of the random streams, which --rng secure does not use")
	flags.StringVar(&o.backend, backendFlag, backend.Auto, backendUsage)
	flags.StringVar(&o.dtype, "dtype", experiment.Float64, "float64 or float32")
	flags.StringVar(&rng, "rng", "seeded", "source of all that is random: seeded (repeatable, protects nobody) or secure "+
		"(the operating system)")
	flags.BoolVar(&strict, "strict", false, "refuse private values beyond their bounds instead of clipping them: "+
		"strict=true, where the experiment has it")
	flags.BoolVar(&o.ignoreMemory, "ignore-memory", false, "start a trial even if it may not fit into memory")
	flags.StringVar(&o.release, "release", "", "run the mechanism once and write its release to this file; requires "+
		"--rng secure")
	flags.StringVar(&o.export, "export", "", "write to this file results that may be handed over without "+
		"an (epsilon, delta)")
	flags.StringVar(&o.profile, profileFlag, "", "count the requests of the programs to a device, in the record, and "+
		"write a profile of the processor to this file (default "+defaultProfile("EXPERIMENT")+")")
	flags.Lookup(profileFlag).NoOptDefVal = profileByName
	forRelease.add(flags)
	return cmd
}

// trialOptions are the checked flags of `run trial`.
type trialOptions struct {
	seed           int64
	backend, dtype string // backend may be auto
	secure         bool
	release        string // file; empty for a trial that releases nothing
	export         string // file; empty for a trial that exports nothing
	ignoreMemory   bool
	profile        string // file; empty for none
	// summarise prints the files of a release in place of its record; nil for the record.
	summarise func() error

	// For a release only.
	unwritten       bool // it is of a name alone, which is printed
	releaseOptions  trial.ReleaseOptions
	allowLargeDelta bool
	ledger          *budget.Ledger // nil with --no-budget
	account         budget.Request
	showAccount     bool
}

// releases reports whether the trial makes a release.
func (o *trialOptions) releases() bool { return o.release != "" || o.unwritten }

const (
	profileFlag = "profile"
	// profileByName stands for a flag without a file.
	profileByName = "by name"
)

// defaultProfile is the file for the profile of an experiment.
func defaultProfile(experiment string) string {
	return strings.ReplaceAll(experiment, "/", "-") + ".pprof"
}

// checkProfile settles the file of the profile. Counts may depend on the private
// data that secure noise is to protect.
func (o *trialOptions) checkProfile(cmd *cobra.Command, experiment string) error {
	switch {
	case !cmd.Flags().Changed(profileFlag):
		return nil
	case o.secure:
		return usagef("--%s: what is counted and timed may depend on private data; leave out --rng secure", profileFlag)
	case o.profile == "":
		return usagef("--%s names no file", profileFlag)
	case o.profile == profileByName:
		o.profile = defaultProfile(experiment)
	}
	return nil
}

// runTrial runs one trial in this process and prints its record, or writes its release.
func (a *app) runTrial(cmd *cobra.Command, e *experiment.Experiment, params experiment.Params, o trialOptions) error {
	// The noise of an export follows from bits that another backend does not have.
	if o.backend == backend.Auto && (o.releases() || o.export != "" && e.Registered) {
		o.backend = trial.AuditedBackend
	}
	c, err := a.chooseTrial(cmd, sweep.Assignment{Experiment: e, Params: params, Seed: o.seed}, o)
	if err != nil {
		return err
	}
	a.say("%s on %s", e.Name, c.String())
	opts := plan.Options{Backend: c.Backend, DType: o.dtype}
	if o.secure {
		// No two such trials have the same result, so none have the same key. In
		// the key of a release the text also hides the digest of private data.
		opts.RNG = "secure " + rand.Text()
	}
	t, folders, missing, err := plan.Single(
		sweep.Assignment{Experiment: e, Params: params, Seed: o.seed}, a.datasets(), opts)
	if err != nil {
		return err
	}
	job := trial.Job{
		Key: t.Key, Identity: t.Identity, Workers: runtime.GOMAXPROCS(0),
		Folders: folders, Secure: o.secure, Host: host(c.Device), Profile: o.profile,
	}
	if missing != nil && (o.releases() || o.export != "") {
		return missing // neither can be skipped
	}
	if missing == nil && e.Memory != nil {
		refusal := machine.MemoryRefusal(e.Memory(params), availableMemory(o.ignoreMemory), processLimit(o.ignoreMemory))
		switch {
		case refusal == "":
		case o.releases() || o.export != "": // how much depends on the text of the rows
			return fmt.Errorf("%s may need more memory than there is: use fewer rows or a machine with more; "+
				"--ignore-memory starts it all the same", e.Name)
		default: // the machine's doing, and no result of the trial
			return fmt.Errorf("%s %s", e.Name, refusal)
		}
	}
	if missing == nil && !o.releases() && o.export == "" { // a release or an export tells no number of rows
		alone := []sweep.Assignment{{Experiment: e, Params: params}}
		if err := a.warnOfCost(cmd.Context(), alone); err != nil {
			return err
		}
	}
	var rec *record.Record
	switch {
	case missing != nil:
		if rec, err = trial.NewRecord(job); err != nil {
			return err
		}
		plan.WithoutData(rec, missing)
	case o.releases():
		if rec, err = a.release(cmd.Context(), e, job, o); err != nil {
			return err
		}
	case o.export != "":
		if rec, err = a.export(cmd.Context(), e, job, o); err != nil {
			return err
		}
	default:
		watched := progress.Watch(a.progressOptions(), e.Name)
		rec, err = trial.Execute(cmd.Context(), e, job, engine.Opener, watched.Inner)
		watched.Close()
		var trouble *trial.Trouble
		if errors.As(err, &trouble) && trouble.Advice != "" {
			return fmt.Errorf("%w; %s", err, trouble.Advice)
		}
		if err != nil {
			return err
		}
	}
	if o.summarise != nil {
		err = o.summarise()
	} else {
		var raw []byte
		if raw, err = record.Encode(rec); err == nil {
			_, err = a.out.Write(raw)
		}
	}
	if err != nil {
		return err
	}
	for _, w := range rec.Warnings {
		a.complain("warning: %s", w)
	}
	unwritten := func(warning string) bool { return strings.HasPrefix(warning, trial.NoCPUProfile) }
	if o.profile != "" && !slices.ContainsFunc(rec.Warnings, unwritten) {
		a.say("the profile of the processor is in %s: go tool pprof -top %[1]s", o.profile)
	}
	if rec.Log != "" {
		a.complain("%s", rec.Log) // a release that fails has no record, and no stack
	}
	switch rec.Status {
	case record.Failed:
		return statusError{exitTrials, fmt.Sprintf("%s failed: %s", strings.TrimSpace(e.Name+" "+e.Describe(params)),
			*rec.Error)}
	case record.Skipped:
		a.complain("skipped: %s", *rec.Error)
	}
	return nil
}

// resolveArguments reads name=value arguments, and warns of those without effect.
func (a *app) resolveArguments(e *experiment.Experiment, args []string) (experiment.Params, error) {
	given := map[string]any{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, withoutValue(e, arg)
		}
		if _, twice := given[name]; twice {
			return nil, fmt.Errorf("parameter %q is given twice", name)
		}
		if err := severalValues(e, name, value); err != nil {
			return nil, err
		}
		given[name] = value
	}
	params, err := e.Resolve(given)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if why := e.Inert(name, params); why != nil {
			a.complain("warning: %s: %s", arg, why)
		}
	}
	return params, nil
}

// withoutValue is the error of an argument that is not name=value.
func withoutValue(e *experiment.Experiment, arg string) error {
	p, err := e.Param(arg)
	if err != nil {
		return fmt.Errorf("%q is not of the form name=value (%w); `run list %s` shows the settings", arg, err, e.Name)
	}
	return fmt.Errorf("%s has no value; write %s (`run list %s` shows what it takes)", arg, assignment(p), e.Name)
}

// assignment is name=value with the default, where there is one.
func assignment(p *experiment.Param) string {
	if p.Default == nil {
		return p.Name + "=VALUE"
	}
	v, err := p.Convert(p.Default)
	if err != nil {
		panic(err) // defaults are checked when the program starts
	}
	return p.Name + "=" + experiment.FormatValue(v)
}

// severalValues refuses several values of a parameter that takes one: they are a
// sweep's. Wrong names and wrong values are refused elsewhere.
func severalValues(e *experiment.Experiment, name, value string) error {
	i := slices.Index(e.ParamNames(), name)
	if i < 0 {
		return nil
	}
	wrong := func(v string) bool {
		_, err := e.Params[i].Convert(strings.TrimSpace(v))
		return err != nil
	}
	values := sweep.SplitList(strings.TrimSuffix(strings.TrimPrefix(value, "["), "]"))
	if len(values) < 2 || !wrong(value) || slices.ContainsFunc(values, wrong) {
		return nil
	}
	return fmt.Errorf("%s=%s: a trial takes one value of %[1]s; several are for a sweep: run sweep FILE %[1]s=%[3]s",
		name, value, strings.Join(values, ","))
}
