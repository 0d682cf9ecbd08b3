package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"privkern/graphs/backend"
	"privkern/runner"
	"privkern/runner/execute/machine"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/show/tables"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// runsFolder is where output folders go by default.
const runsFolder = "results/runs"

// runOptions are the flags that sweep and table share.
type runOptions struct {
	workOptions
	slurmOptions
	out      string
	dtype    string // empty where the command line names none
	seeds    string
	executor string
	check    bool
	replan   bool
	dryRun   bool
	planOnly bool
	output   string
	metric   string // of a comparison; empty for the first one
	view     viewOptions
	attack   bool // the methods of a comparison, too
	tags     []string
}

func (o *runOptions) addFlags(cmd *cobra.Command, dtypeUsage string) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "output folder (default "+runsFolder+"/NAME; see run help folders)")
	f.StringVar(&o.backend, backendFlag, backend.Auto, backendUsage)
	f.StringVar(&o.dtype, "dtype", "", dtypeUsage)
	f.StringVar(&o.seeds, "seeds", "", "seeds instead of the file's: 7, 0,1,2 or 0..19")
	f.StringVar(&o.executor, "executor", "local", "where trials run: local, or slurm for a cluster (run help clusters)")
	f.BoolVar(&o.check, "check", false, "exit with 4 if a value is outside its reference band or missing")
	f.BoolVar(&o.replan, "replan", false,
		"replace a different plan in the output folder, keeping the trials of both plans")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the trials that would run, and run and write nothing")
	f.BoolVar(&o.planOnly, "plan-only", false, "freeze the plan in the output folder for run work, and run nothing")
	f.StringVar(&o.output, "output", "table", "format of the tables on stdout: table, json, csv, latex or markdown")
	f.BoolVar(&o.view.allVariants, allVariantsFlag, false, allVariantsUsage)
	f.StringArrayVar(&o.tags, "tag", nil,
		"name=value that run list runs shows of the output folder (default none); repeat for several")
	o.workOptions.addFlags(cmd)
	o.slurmOptions.addFlags(cmd)
}

// validate refuses wrong values of flags.
func (o *runOptions) validate(
	cmd *cobra.Command,
) (shard plan.Shard, seeds []int64, format tables.Format, err error) {
	// An empty shell variable must not turn a part into the whole.
	if err := notEmpty(cmd, "seeds", "out", "dtype"); err != nil {
		return shard, nil, "", err
	}
	if o.shard != "" && o.check {
		return shard, nil, "", usagef("--check needs all trials; use it with `run report OUT` once all parts have run")
	}
	shard, err = o.workOptions.validate(cmd)
	err = errors.Join(err, oneOf("output", o.output, tables.Formats...), oneOf("executor", o.executor, "local", "slurm"))
	if err == nil {
		err = o.slurmOptions.validate(cmd, o.executor == "slurm")
	}
	_, tagsErr := parseTags(o.tags)
	err = errors.Join(err, tagsErr)
	if o.seeds != "" {
		var seedsErr error
		if seeds, seedsErr = sweep.ParseSeeds(o.seeds); seedsErr != nil {
			err = errors.Join(err, usagef("--seeds: %w", seedsErr))
		}
	}
	if err == nil {
		err = checkBackend(o.backend)
		if o.dtype != "" {
			err = errors.Join(err, checkDType(o.dtype))
		}
	}
	return shard, seeds, tables.Format(o.output), err
}

func (a *app) sweepCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "sweep FILE... [name=v1,v2 ...]",
		Short: "Run the trials of sweep files and print their tables",
		Long: `Expand sweep files into trials, freeze the plan in the output folder, run the
trials that have no result yet, and print the tables that the files name, or, if
they name none, one table of the swept settings and the metrics that they name
(by default the results of the experiment; the best mean is marked). Tables, plots
and report.html are in the output folder, by default ` + runsFolder + `/NAME of
NAME.yaml, a+b of two files, NAME-HASH with other values, seeds or element type
from the command line, and -cuda behind it on a GPU.

The trials run on a GPU if there is one that is predicted to be faster, from a second
of trials on the CPU, and passes a test problem; otherwise on the CPU. --backend
chooses. A plan that is frozen keeps its backend.

Ctrl-C stops the sweep; the same command resumes it. name=v1,v2 replaces the
values of a setting in the files. See run help sweep-files for the format of sweep
files, run help clusters for clusters, and run help exit-codes for exit statuses.`,
		Example: `  run sweep configs/quickstart.yaml
  run sweep configs/cloaking-table1.yaml --jobs 8 --data ~/data
  run sweep my.yaml epsilon=0.5,1 --seeds 0..19 --out results/runs/mine
  run sweep my.yaml --sort rmse
  run sweep my.yaml --dry-run
  run sweep my.yaml --shard 2/8 --out /shared/mine
  run sweep my.yaml --executor slurm --backend cuda --slurm partition=gpu,gres=gpu:1,time=2:00:00
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
			if err := a.refuseSettings(files); err != nil {
				return err
			}
			return a.launch(cmd, o, shard, format, func() (*plan.Draft, error) {
				return plan.ReadSweeps(a.Book, files, overrides, seeds, o.dtype)
			})
		},
	}
	o.addFlags(cmd, "float64 or float32 (default: the file's, or float64)")
	o.view.addFlags(cmd)
	return cmd
}

// splitArguments separates sweep files from name=value overrides. An existing file
// is a file, also where its name has an equals sign.
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

// refuseSettings refuses names of settings among the files: their values
// are missing.
func (a *app) refuseSettings(files []string) error {
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			continue
		}
		for _, name := range a.Experiments.Names() {
			e, err := a.Experiments.Lookup(name)
			if err != nil {
				return err
			}
			if slices.Contains(e.ParamNames(), file) {
				return usagef("%s has no value; write %[1]s=V or %[1]s=V1,V2 (`run list %s` shows what it takes)",
					file, name)
			}
		}
	}
	return nil
}

// launch plans, runs, and prints the tables. Where --backend auto stands for another
// backend than that of the plan that another machine has frozen meanwhile, it stands for
// that of the plan. The draft is read again then: of a large sweep it takes memory that
// nothing may hold while the sweep runs.
func (a *app) launch(cmd *cobra.Command, o runOptions, shard plan.Shard, format tables.Format,
	read func() (*plan.Draft, error)) error {
	spareMemory()
	w, err := read()
	if err != nil {
		return err
	}
	if o.check {
		if err := a.checkable(w.Tables); err != nil {
			return err
		}
	}
	for _, warning := range w.Warnings {
		a.complain("warning: %s", warning)
	}
	took := o
	err = a.runDraft(cmd, &took, shard, format, w)
	var mismatch *store.PlanMismatchError
	if o.backend != backend.Auto || !errors.As(err, &mismatch) {
		return err
	}
	if on := store.FrozenBackend(a.Disk, mismatch.Dir); on == "" || on == took.backend {
		return err
	}
	a.say("another machine has made the plan in %s meanwhile, which is followed", mismatch.Dir)
	if w, err = read(); err != nil {
		return err
	}
	return a.runDraft(cmd, &o, shard, format, w)
}

// runDraft is launch but for that.
func (a *app) runDraft(cmd *cobra.Command, o *runOptions, shard plan.Shard, format tables.Format, w *plan.Draft) error {
	dir, err := a.settle(cmd, o, shard, w)
	if err != nil {
		return err
	}
	if err := o.view.check(w.Settings); err != nil {
		return err
	}
	data := a.datasets()
	p, err := w.Plan(cmd.Context(), data, o.backend, host(o.gpu).Class())
	if err != nil {
		return err
	}
	if w.Merged > 0 {
		a.say("%s equal to another one by what the command line replaces; each runs once", areTrials(w.Merged))
	}
	if w.Seedless > 0 {
		a.say("%s left out: nothing is drawn at random in their settings, which run with the first seed alone",
			areTrials(w.Seedless))
	}
	if n := len(w.Settings) - len(p.Trials); n > 0 {
		a.say("%s in another file or table, too; each runs once", areTrials(n))
	}
	if err := a.takeRounds(dir, w, p, data, o); err != nil {
		return err
	}
	if err := a.warnOfPending(cmd.Context(), dir, p, shard); err != nil {
		return err
	}
	if o.dryRun {
		return a.dryRun(p, data, o, shard, dir)
	}
	tags, err := parseTags(o.tags)
	if err != nil {
		return err
	}
	if o.planOnly {
		return a.freezeRound(cmd.Context(), dir, w, p, data, o.replan, tags)
	}
	sum, err := a.runRounds(cmd, o, dir, w, p, data, func() (schedule.Summary, error) {
		return a.runPlan(cmd, o, shard, dir, p, data, tags)
	})
	if err != nil {
		return err
	}
	if shard.Count > 1 {
		a.settleReport(dir)
		a.say("part %s is done; `run report %s` makes and prints the tables once all parts are", o.shard, dir)
		a.suspectPart(dir, shard)
		return a.outcome(sum, p, data)
	}
	err = a.present(dir, format, o.check, o.metric, o.view)
	if err == nil {
		err = a.presentSearch(dir, w, format)
	}
	var skipped *skippedError
	if failed := failures(sum); failed != nil && (err == nil || errors.As(err, &skipped)) {
		return failed
	}
	return err
}

// runPlan runs the trials of a plan without a result, where the options have them run.
func (a *app) runPlan(cmd *cobra.Command, o *runOptions, shard plan.Shard, dir string, p *plan.Plan,
	data *plan.Datasets, tags map[string]string) (schedule.Summary, error) {
	var executor newExecutor
	if o.executor == "slurm" {
		executor = a.slurm(cmd, *o)
	} else {
		if err := a.ready(cmd, &o.workOptions, shard, dir, p); err != nil {
			return schedule.Summary{}, err
		}
		p.BLASClass = host(o.gpu).Class()
		executor = a.local(o.workOptions, shard, data)
	}
	return a.run(cmd.Context(), runner.SweepRun{Dir: dir, Plan: p, Replan: o.replan, Tags: tags}, o.describeDevices(),
		"log.jsonl", executor)
}

// outcome is the error of a part of a plan.
func (a *app) outcome(sum schedule.Summary, p *plan.Plan, data *plan.Datasets) error {
	if sum.Total > 0 && sum.Skipped == sum.Total {
		return a.allSkipped(everyOf(sum.Total), p, data)
	}
	return failures(sum)
}

// areTrials begins a sentence about n trials.
func areTrials(n int) string { return areOf(n, "trial") }

// areOf begins a sentence about n things.
func areOf(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// run runs a plan with the executor that newExecutor makes, shows progress,
// and writes events to the log, a file in the output folder. device describes
// this machine's, where it computes on any.
func (a *app) run(
	ctx context.Context, req runner.SweepRun, device, log string, newExecutor newExecutor,
) (schedule.Summary, error) {
	start := time.Now()
	path := filepath.Join(req.Dir, log)
	if err := disk.MakeFolder(a.Disk, filepath.Dir(path), 0o777); err != nil {
		return schedule.Summary{}, fmt.Errorf("the output folder cannot be made: %w", err)
	}
	file, err := progress.OpenLog(path)
	if err != nil {
		return schedule.Summary{}, fmt.Errorf("the output folder cannot be written: %w", err)
	}
	defer func() { _ = file.Close() }()
	a.goOnUnread(path)
	options := a.progressOptions()
	options.Backend, options.Device = req.Plan.Backend, device
	reporter := progress.New(options, a.Experiments, file)
	if req.Executor, err = newExecutor(reporter); err != nil {
		return schedule.Summary{}, err
	}
	req.Rewriting = &runner.Rewriting{Version: version, Running: reporter.Running,
		Notice: func(text string) { reporter.Notice(text, false) }}
	sum, err := a.Run(ctx, req)
	reporter.Close()
	if err != nil {
		var refused *schedule.RefusedError
		if errors.Is(err, context.Canceled) || errors.Is(err, schedule.ErrFailFast) || errors.As(err, &refused) {
			a.say("%d of %d trials have a result in %s; the same command goes on", sum.OK+sum.Failed+sum.Skipped,
				sum.Total, req.Dir)
		}
		return sum, err
	}
	a.say("%s in %s", countText(sum), runner.Elapsed(time.Since(start)))
	return sum, nil
}

// goOnUnread has a run go on where a reader of this program is gone, and note it in its log.
func (a *app) goOnUnread(log string) {
	note := func(text string) func() {
		return func() {
			if file, err := progress.OpenLog(log); err == nil { // the log is a convenience
				progress.Note(file, text)
				_ = file.Close()
			}
		}
	}
	a.err.OnGone(note("nobody reads standard error any more: the run goes on without messages"))
	a.out.OnGone(note(progress.ErrNoReader.Error() + ": the tables are in the output folder"))
}

// failures returns the exit status of a run in which trials failed or have no result, nil
// for one in which all are ok or skipped.
func failures(sum schedule.Summary) error {
	switch {
	case sum.NotRun > 0 && sum.Failed > 0:
		return statusError{exitTrials, fmt.Sprintf("%d of %d trials failed, %d have no result", sum.Failed, sum.Total,
			sum.NotRun)}
	case sum.NotRun > 0:
		return statusError{exitTrials, fmt.Sprintf("%d of %d trials have no result", sum.NotRun, sum.Total)}
	case sum.Failed > 0:
		return statusError{exitTrials, fmt.Sprintf("%d of %d trials failed", sum.Failed, sum.Total)}
	}
	return nil
}

// countText describes a summary, such as "18 ok, 1 failed, 3 of these from before".
func countText(s schedule.Summary) string {
	parts := []string{fmt.Sprintf("%d ok", s.OK)}
	for _, part := range []struct {
		n    int
		what string
	}{{s.Failed, "failed"}, {s.Skipped, "skipped"}, {s.NotRun, "without a result"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if s.Cached > 0 {
		parts = append(parts, fmt.Sprintf("%d of these from before", s.Cached))
	}
	return strings.Join(parts, ", ")
}

// dryRun lists the trials of a part of a plan that a run would compute: those without a
// result in the output folder, or that --retry runs again.
func (a *app) dryRun(p *plan.Plan, data *plan.Datasets, o *runOptions, shard plan.Shard, dir string) error {
	s, err := store.Peek(a.Disk, dir, p, a.Experiments, o.replan)
	if err != nil {
		return err
	}
	indices := shard.Indices(len(p.Trials))
	pending, err := schedule.Pending(s, p, indices, schedule.Retry(o.retry))
	if err != nil {
		return err
	}
	for _, aside := range s.Asides() {
		a.complain("would be put aside: %s (%s)", aside.File, aside.Reason)
	}
	stay := ""
	if n := len(indices) - len(pending); n > 0 {
		stay = fmt.Sprintf("; %s there already", text.Count(n, "result"))
	}
	timed := 0
	_, err = fmt.Fprintf(a.out, "%s on %s for %s%s\n", text.Count(len(pending), "trial"), p.Backend, dir, stay)
	const shown = 20
	for n, i := range pending {
		if err != nil {
			return err
		}
		t := p.Trials[i]
		e, lookupErr := a.Experiments.Lookup(t.Experiment)
		if lookupErr != nil {
			return lookupErr
		}
		if e.Timed() {
			timed++
		}
		if n == shown {
			_, err = fmt.Fprintf(a.out, "... and %d more\n", len(pending)-shown)
		}
		if n >= shown {
			continue
		}
		_, err = fmt.Fprintln(a.out,
			strings.TrimSpace(fmt.Sprintf("%.12s %s --seed %d %s", t.Key, t.Experiment, t.Seed,
				text.Printable(e.Describe(t.Params)))))
	}
	if notice := schedule.TimedNotice(timed); err == nil && notice != "" && !o.shareTimings {
		_, err = fmt.Fprintln(a.out, notice)
	}
	for _, name := range p.DatasetNames() {
		if problem := data.Get(name).Err; err == nil && problem != nil {
			_, err = fmt.Fprintf(a.out, "the data set %s cannot be used: %v\n", name, problem)
		}
	}
	return err
}

// spareMemory has the runner's own garbage collected earlier: the memory is for
// the trials, and the runner needs little time. GOGC, where it is set, decides.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
}

const ignoreMemoryUsage = "start trials even if they may not fit into memory"

// availableMemory returns the memory for trials; 0 for no limit.
func availableMemory(ignore bool) int64 {
	if ignore {
		return 0
	}
	return machine.AvailableMemory()
}

// processLimit is the limit on the memory of a trial's process; the zero value is
// none.
func processLimit(ignore bool) machine.MemoryLimit {
	limit, ok := machine.ProcessLimit()
	if ignore || !ok {
		return machine.MemoryLimit{}
	}
	return limit
}

// settleReport makes the page of a sweep the last one, where no runner is at work. It is a convenience: an
// error is named and changes no outcome.
func (a *app) settleReport(dir string) {
	if err := a.SettleReport(dir, version); err != nil {
		a.complain("%v", err)
	}
}
