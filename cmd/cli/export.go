package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"privkern/runner/claims/judge"
	"privkern/runner/show"
	"privkern/runner/show/export"
	"privkern/runner/show/summary"
	"privkern/runner/text"
)

// exportFrom is the help of the flag that all formats share.
const exportFrom = `The trials are those of the output folders given by --from, by default of the
newest in ` + runsFolder + `. No trial is run, and these folders are only read.`

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FORMAT PATH [--from OUT]",
		Short: "Write trials and tables for other programs: Parquet, CSV, LaTeX, MLflow",
		Long: `Write the trials or the tables of output folders in the formats of other programs.

` + exportFrom + `

The output appears when it is complete. A file or folder at PATH that another
program made is not replaced. See run help exit-codes for exit statuses.`,
		Example: `  run export parquet trials.parquet --from results/runs/quickstart
  run export csv trials.csv --from results/runs/a --from results/runs/b
  run export latex paper/tables
  run export mlflow mlruns`,
	}
	return group(cmd, "format",
		a.exportParquetCommand(), a.exportCSVCommand(), a.exportLaTeXCommand(), a.exportMLflowCommand())
}

const exportColumns = `There is one row for every trial of the plan, with status ok, failed, skipped or
not_run, and these columns: key, experiment, result_version, seed, backend, dtype,
status, error; param.NAME and metric.NAME for those of all experiments in it;
privacy.*, warnings, timing.* and provenance.*. A parameter has the type that
its experiment declares; lists, and numbers that may also be words, are texts.`

func (a *app) exportParquetCommand() *cobra.Command {
	return a.exportFormat(&cobra.Command{
		Use:   "parquet FILE",
		Short: "Write all trials as one Parquet file",
		Long: `Write all trials as one Parquet file with typed columns.

` + exportColumns + `
What a trial does not have is null. Units and meaning of the columns are in the
file's metadata, under table_schema.

` + exportFrom,
		Example: `  run export parquet trials.parquet --from results/runs/quickstart
  python3 -c 'import pandas; print(pandas.read_parquet("trials.parquet"))'`,
	}, func(ctx context.Context, path string, dirs []string) error {
		return a.exportTrials(ctx, "parquet", path, dirs, export.Parquet)
	})
}

func (a *app) exportCSVCommand() *cobra.Command {
	keep := false
	cmd := a.exportFormat(&cobra.Command{
		Use:   "csv FILE",
		Short: "Write all trials as one CSV file",
		Long: `Write all trials as one CSV file, and the types, units and meaning of its columns
as a Table Schema (Frictionless Data) next to it: trials.schema.json for
trials.csv.

` + exportColumns + `
What a trial does not have is empty. Numbers have the shortest digits that read
back as the same number, or are inf; warnings and notes are lists in JSON.

A text that a spreadsheet would run as a formula, because it begins with =, +, -, @
or a tab, gets an apostrophe before it; numbers and lists of numbers stay as they
are. --keep-formulas writes all texts as they are, for programs.

` + exportFrom,
		Example: `  run export csv trials.csv --from results/runs/quickstart`,
	}, func(ctx context.Context, path string, dirs []string) error {
		return a.exportTrials(ctx, "csv", path, dirs,
			func(ctx context.Context, path string, from []*export.Folder, opts export.Options) (export.Counts, error) {
				opts.KeepFormulas = keep
				return export.CSV(ctx, path, from, opts)
			})
	})
	cmd.Flags().BoolVar(&keep, "keep-formulas", false, "write texts as they are that a spreadsheet would run")
	return cmd
}

func (a *app) exportLaTeXCommand() *cobra.Command {
	return a.exportFormat(&cobra.Command{
		Use:   "latex DIR",
		Short: "Write the tables as LaTeX",
		Long: `Write the published tables that the output folders' sweeps name into the folder
DIR, published next to reproduced: NAME.tex for \input, and ` + export.Document + `, which has
them all and compiles on its own (twice, for the widths of long tables). They
need the packages array, booktabs and longtable, and any engine.

Of a sweep that names none, the table of each experiment is written as
summary-EXPERIMENT.tex: the swept settings, and the metrics that its file names,
or its results, with standard errors and the best mean in bold.

` + exportFrom,
		Example: "  run export latex paper/tables --from results/runs/table-cloaking-table1\n" +
			"  pdflatex -output-directory paper/tables paper/tables/" + export.Document,
	}, a.exportLaTeX)
}

func (a *app) exportMLflowCommand() *cobra.Command {
	return a.exportFormat(&cobra.Command{
		Use:   "mlflow DIR",
		Short: "Write a file store that MLflow opens",
		Long: `Write the trials that have a result into the MLflow file store DIR, which is made
if need be and may have experiments of others. To look at it:

  MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri file:DIR

MLflow has put its file store into maintenance: recent versions, such as 3.17,
open one only with that variable; earlier ones need none (tried: 2.0, 2.22, 3.1).
mlflow migrate-filestore copies it into a database. The store has a file for each
metric, parameter and tag: 10,000 trials are some 400,000 files, which take 2 GB
of disk; an export of more than 20,000 files announces their number.

Each experiment is one of MLflow's, and each trial a run, under a parent run for
its sweep with the tables and plots as artifacts. A skipped trial is KILLED.
Parameters, seed, backend and dtype are parameters; series whose x increases are
metrics series/NAME/COLUMN, a step for each point, where x is a step if it is
whole. The whole record is the artifact record.json. The time of a run is
that at which its record was written.

Runs are named by the keys of the trials: exporting again replaces them, and
keeps tags that were added since. Artifacts are found under DIR as it is named
now; export again after moving it.

` + exportFrom,
		Example: `  run export mlflow mlruns
  run export mlflow mlruns --from results/runs/a --from results/runs/b`,
	}, a.exportMLflow)
}

// exportFormat completes the command of a format with the flags that they share.
func (a *app) exportFormat(
	cmd *cobra.Command,
	write func(ctx context.Context, path string, dirs []string) error,
) *cobra.Command {
	var from []string
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().
		StringArrayVar(&from, "from", nil, "output folder to export; repeatable (default: the newest in "+runsFolder+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if slices.Contains(append([]string{args[0]}, from...), "") {
			return usagef("a name is empty; see `%s --help`", cmd.CommandPath())
		}
		dirs := from
		if len(dirs) == 0 {
			newest, err := newestRun(runsFolder)
			if err != nil {
				return err
			}
			a.say("from %s, the newest output folder", newest)
			dirs = []string{newest}
		}
		return write(cmd.Context(), args[0], dirs)
	}
	return cmd
}

// newestRun returns the output folder in which something was last done.
func newestRun(folder string) (string, error) {
	plans, err := filepath.Glob(filepath.Join(folder, "*", "plan.json"))
	if err != nil {
		return "", err
	}
	newest, at := "", time.Time{}
	for _, p := range plans {
		dir := filepath.Dir(p)
		for _, name := range []string{"plan.json", "log.jsonl"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.ModTime().After(at) {
				newest, at = dir, info.ModTime()
			}
		}
	}
	if newest == "" {
		return "", usagef("there is no output folder in %s; name one: --from OUT", folder)
	}
	return newest, nil
}

// exportOptions returns the options that all formats share; done ends the display of progress.
func (a *app) exportOptions() (opts export.Options, done func()) {
	progress, done := a.exportProgress()
	return export.Options{Experiments: a.Experiments, Version: version, Progress: progress}, done
}

// exportProgress shows how far an export is: a bar on a terminal, a line every
// few seconds elsewhere.
func (a *app) exportProgress() (show func(done, total int), end func()) {
	if a.quiet {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	last := time.Now()
	show = func(done, total int) {
		switch {
		case isTerminal(a.err) && a.logFormat == "text":
			if bar == nil {
				bar = progressbar.NewOptions(
					total,
					progressbar.OptionSetWriter(a.err),
					progressbar.OptionSetWidth(a.barWidth(24, 28)),
					progressbar.OptionThrottle(
						65*time.Millisecond,
					),
					progressbar.OptionClearOnFinish(),
					progressbar.OptionSetPredictTime(true),
				)
			}
			_ = bar.Set(done)
		case time.Since(last) > 5*time.Second:
			last = time.Now()
			a.say("%d %%", 100*done/total)
		}
	}
	return show, func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
}

// exportSources opens the folders.
func (a *app) exportSources(dirs []string) ([]*export.Folder, error) {
	var out []*export.Folder
	for _, dir := range dirs {
		s, err := export.Open(dir, a.Experiments)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// exportTrials writes all trials as one file.
func (a *app) exportTrials(ctx context.Context, format, path string, dirs []string,
	write func(context.Context, string, []*export.Folder, export.Options) (export.Counts, error)) error {
	if filepath.Clean(path) == "-" {
		return usagef("%s is written to a file, not to standard output; name one", format)
	}
	sources, err := a.exportSources(dirs)
	if err != nil {
		return err
	}
	opts, done := a.exportOptions()
	counts, err := write(ctx, path, sources, opts)
	done()
	a.ignored(sources)
	if err != nil {
		return err
	}
	more := ""
	if counts.NotRun > 0 {
		more = fmt.Sprintf(", %d of them not run", counts.NotRun)
	}
	if format == "csv" {
		more += "; the types of its columns are in " + export.SchemaPath(path)
	}
	a.say("%s in %s%s", text.Count(counts.Trials, "trial"), path, more)
	return nil
}

// ignored lists the files that are not records.
func (a *app) ignored(sources []*export.Folder) {
	for _, f := range export.Ignored(sources) {
		a.complain("ignored %s (%s)", f.File, f.Reason)
	}
}

// exportLaTeX writes the evaluated tables of the folders, and a document that has them all.
func (a *app) exportLaTeX(_ context.Context, dir string, dirs []string) error {
	var tables []*judge.Evaluation
	var own []export.Fragment
	var sources []*export.Folder
	for _, from := range dirs {
		r, err := a.results(from)
		if err != nil {
			return err
		}
		if len(r.Evaluated) == 0 {
			view := summary.View{Metrics: r.Plan.Metrics}
			fragments, err := export.Summaries(r.Plan.Title, view.Of(r.Summary))
			if err != nil {
				return err
			}
			own = append(own, fragments...)
		}
		tables = append(tables, r.Evaluated...)
		sources = append(sources, &export.Folder{Plan: r.Plan, Store: r.Store})
	}
	a.ignored(sources)
	paths, err := export.LaTeX(dir, tables, own...)
	if err != nil {
		return err
	}
	a.say("%s in %s; %s has them all", text.Count(len(paths), "table"), dir, filepath.Join(dir, export.Document))
	return nil
}

// results evaluates an output folder that has trials.
func (a *app) results(dir string) (*show.Results, error) {
	if _, err := export.Open(dir, a.Experiments); err != nil {
		return nil, err
	}
	return a.Results(dir)
}

// exportMLflow writes the trials of the folders into an MLflow file store.
func (a *app) exportMLflow(ctx context.Context, dir string, dirs []string) error {
	var sweeps []*export.RunGroup
	var sources []*export.Folder
	for _, from := range dirs {
		r, err := a.results(from)
		if err != nil {
			return err
		}
		artifacts, err := r.Artifacts()
		if err != nil {
			return err
		}
		s := &export.Folder{Plan: r.Plan, Store: r.Store}
		sources = append(sources, s)
		sweeps = append(sweeps, &export.RunGroup{Folder: s, Artifacts: artifacts})
	}
	opts, done := a.exportOptions()
	opts.Foresee = func(files int, bytes int64) {
		const many = 20_000 // which take seconds
		if files >= many {
			a.say("MLflow's file store has a file for each metric, parameter and tag: up to %d files, which take %.1f GB of "+
				"disk; run export parquet writes one file", files, float64(bytes)/1e9)
		}
	}
	counts, err := export.MLflow(ctx, dir, sweeps, opts)
	done()
	a.ignored(sources)
	if err != nil {
		return err
	}
	more := ""
	if counts.NotRun > 0 {
		more = fmt.Sprintf("; %d have not run and are left out", counts.NotRun)
	}
	a.say("%s in %s%s; MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri file:%s shows them",
		text.Count(counts.Trials, "run"), dir, more, dir)
	return nil
}
