package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/page"
	"privkern/runner/plan"
	"privkern/runner/show"
	"privkern/runner/show/report"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

func (a *app) reportCommand() *cobra.Command {
	var (
		output, metric string
		check          bool
		view           viewOptions
	)
	cmd := &cobra.Command{
		Use:   "report FOLDER...",
		Short: "Rewrite the tables and the report of an output folder",
		Long: `Write the tables and report.html of an output folder from the records in it,
complete or not, and print the tables. No trial is run. On the terminal a published
table has one line a value, under the variant that is judged; --all-variants prints
all that the files have.

While trials run, run sweep and run work rewrite report.html every ten seconds, or
less often where that would take more than 3% of the time. The page then shows how
far the sweep was and which trials ran, and reloads itself in a browser.

Of several folders, print a table with a column for each of them, of the results of the
experiments that all have, or of --metric, and write nothing. The settings that vary are
the rows; those that each folder has one value of, and not the same, are listed above.`,
		Example: `  run report results/runs/quickstart
  run report results/runs/mine --all-metrics --sort -epsilon
  run report results/runs/quickstart --all-variants
  run report results/runs/mine results/runs/mine-8577ca
  run report results/runs/quickstart --output markdown`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == "" {
				return usagef("an empty name; name the output folder")
			}
			if len(args) > 1 {
				if check {
					return usagef("--check is for one folder")
				}
				return a.reportSeveral(args, output, metricNames(metric))
			}
			format, err := tables.ParseFormat(output)
			if err != nil {
				return oneOf("output", output, tables.Formats...)
			}
			return a.present(args[0], format, check, metric, view)
		},
	}
	cmd.Flags().
		StringVar(&output, "output", "table", "format of the tables on stdout: table, json, csv, latex or markdown")
	cmd.Flags().BoolVar(&check, "check", false, "exit with 4 if a value is outside its reference band or missing")
	cmd.Flags().StringVar(&metric, "metric", "", metricUsage)
	view.addFlags(cmd)
	cmd.Flags().BoolVar(&view.allVariants, allVariantsFlag, false, allVariantsUsage)
	return cmd
}

// allVariantsFlag is the flag of those commands that print published tables.
const allVariantsFlag, allVariantsUsage = "all-variants", "print all variants of published tables as text, with " +
	"differences, settings and remarks"

// metricNames splits the names of metrics at commas.
func metricNames(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// checkable refuses --check for tables without a reference value.
func (a *app) checkable(tables []string) error {
	if ok, err := a.Book.HasReferences(tables); err != nil || ok {
		return err
	}
	return usagef("--check has nothing to check: no table here has reference values")
}

// present writes tables and report of an output folder, and prints the tables, as the view asks; metric is that of a
// comparison.
func (a *app) present(dir string, format tables.Format, check bool, metric string, view viewOptions) error {
	spareMemory()
	r, err := a.Results(dir)
	if err != nil {
		return err
	}
	if check {
		if err := a.checkable(r.Plan.Tables); err != nil {
			return err
		}
	}
	late, misnamed := a.checkView(view, r)
	if misnamed != nil && !late {
		return misnamed
	}
	if misnamed != nil { // of trials that have run: their results are shown all the same
		view.sort = ""
	}
	compared, err := a.compared(r, metric)
	if err != nil {
		return err
	}
	attacked, err := a.attacked(r)
	if err != nil {
		return err
	}
	if compared == nil && metric != "" {
		return usagef("--metric is for the results of run compare, and those in %s are others", dir)
	}
	for _, aside := range r.Store.Asides() {
		a.complain("ignored %s (%s)", aside.File, aside.Reason)
	}
	// The tables are printed also where the folder cannot be written.
	switch {
	case compared != nil:
		err = a.printForms(r, compared.results[0].Measure.Name, format, compared.write)
	case attacked != nil:
		err = a.printForms(r, "membership", format, func(w io.Writer, f page.Format, width int) error {
			return attacked.Write(w, f, text.Command, width)
		})
	default:
		err = a.print(r, format, view)
	}
	if tablesErr := r.WriteTables(); tablesErr != nil {
		return errors.Join(err, fmt.Errorf("the tables cannot be written: %w", tablesErr))
	}
	written, reportErr := r.WriteReport(version)
	if reportErr != nil {
		return errors.Join(err, fmt.Errorf("the report cannot be written: %w", reportErr))
	}
	if err != nil {
		return err
	}
	plots := ""
	if slices.ContainsFunc(r.Figures(), func(f report.Plot) bool { return f.SVG != nil }) {
		plots = fmt.Sprintf("plots in %s/%s, ", dir, show.PlotsDir)
	}
	a.say("tables in %s/tables, %sreport in %s", dir, plots, written)
	if misnamed != nil {
		return misnamed
	}
	a.suspect(&r.Suspicions, "the report lists them")
	if attacked != nil && attacked.Refuted() || compared.refuted() {
		return statusError{exitCheck, "an attack proves more than a guarantee allows"}
	}
	if !check {
		return a.skipped(r)
	}
	if err := a.checked(r.Violations()); err != nil {
		return err
	}
	return a.skipped(r)
}

// skippedError is the error of a run that computed nothing, for want of data.
type skippedError struct{ error }

// skipped returns a *skippedError where all trials were skipped, or all those of a
// table.
func (a *app) skipped(r *show.Results) error {
	switch n := len(r.Plan.Trials); {
	case n > 0 && r.Skipped == n:
		return a.allSkipped(everyOf(n), r.Plan, a.datasets())
	case r.SkippedTables != nil:
		return a.allSkipped("all trials of "+strings.Join(r.SkippedTables, ", ")+" were", r.Plan, a.datasets())
	}
	return nil
}

// everyOf begins a sentence about all of n trials.
func everyOf(n int) string {
	if n == 1 {
		return "the only trial was"
	}
	return fmt.Sprintf("all %d trials were", n)
}

// allSkipped reports that all of something was skipped, and how to get the missing data.
func (a *app) allSkipped(what string, p *plan.Plan, data *plan.Datasets) error {
	text := what + " skipped for lack of data"
	for _, name := range p.DatasetNames() {
		if missing, ok := errors.AsType[plan.MissingDataset](data.Get(name).Err); ok {
			text += "; " + name + ": " + missing.Advice()
		}
	}
	return &skippedError{errors.New(text)}
}

// print writes the published tables, or all metrics where there are none. As text it counts settings that belong to no
// table, unless sweep files name them, or shows all.
func (a *app) print(r *show.Results, format tables.Format, view viewOptions) error {
	if len(r.Evaluated) == 0 {
		shown := r.ForPeople()
		if format == tables.FormatJSON || format == tables.FormatCSV {
			shown = r.Summary
		}
		return a.printSummary(shown, format, view.of(r))
	}
	o := tables.TextOptions{Color: useColor(a.out), Width: columns(a.out), AllVariants: view.allVariants}
	if err := tables.Write(a.out, format, o, r.Evaluated...); err != nil {
		return err
	}
	// Settings that belong to no table are shown to people as text; the other formats are those of the tables.
	rest := r.Unpublished()
	if view != (viewOptions{}) && len(rest) == 0 {
		a.say("--sort and --all-metrics change nothing here: all settings belong to published tables")
	}
	if len(rest) == 0 {
		return nil
	}
	settings, skipped := 0, 0
	for _, t := range rest {
		for _, row := range t.Rows {
			settings++
			if row.Skipped > 0 && row.Trials+row.Failed+row.NotRun == 0 {
				skipped++
			}
		}
	}
	// Sweep files may name settings of their own, whose results are in no table.
	own := len(r.Plan.Sources) > 0 && skipped < settings
	if format != tables.FormatText {
		if own {
			a.say("%s in no published table: the results of all are in %s", areOf(settings, "setting"),
				filepath.Join(r.Store.Dir(), show.TablesDir, "summary.csv"))
		}
		return nil
	}
	if !view.allVariants && !own {
		line := fmt.Sprintf("%s gave no value to a table, %d skipped for lack of data; --%s lists them, as the report does.",
			text.Count(settings, "setting"), skipped, allVariantsFlag)
		_, err := io.WriteString(a.out, "\n"+tables.Hang("", line, o.Width))
		return err
	}
	if _, err := fmt.Fprintf(a.out, "\nSettings that belong to no table\n\n"); err != nil {
		return err
	}
	return a.printSummary(rest, format, view.of(r))
}
