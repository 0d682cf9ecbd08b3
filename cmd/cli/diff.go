package cli

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"privkern/runner/show/runs"
	"privkern/runner/show/tables"
)

func (a *app) diffCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "diff FOLDER FOLDER",
		Short: "Compare two output folders: settings, and metrics trial by trial",
		Long: `Compare two runs, A and B: result versions, backend, element type, data, program and
machine where they differ; settings that have one value in each and not the same; how
many trials only one of them has. Trials of equal settings, apart from those that
differ, and of equal seeds are pairs: how many are bit-equal, in metrics (but times) and
series, and for each metric the mean difference B - A with its standard error.

The p-value is that of Student's t-test for pairs. Trials of a seed share their random
numbers, so that one difference a seed is tested, the mean over its settings; with a
single seed nothing is, nor is a difference that all seeds have alike. It is adjusted
over the metrics by Holm's procedure, times are not tested, and it concerns other seeds,
and no other data.

The exit status is 0 whether they differ or not, 1 if a folder cannot be read, and 2 for a
usage error, or runs without a common experiment.`,
		Example: `  run diff results/runs/mine results/runs/mine-8577ca
  run diff /shared/before /shared/after --output json`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == "" || args[1] == "" {
				return usagef("an empty name; name two output folders")
			}
			spareMemory()
			x, err := runs.Diff(a.Disk, args[0], args[1], a.Experiments)
			if err != nil {
				return disjoint(err)
			}
			if output == "json" {
				return a.printJSON(struct {
					Schema int `json:"schema"`
					*runs.Difference
				}{1, x})
			}
			_, err = io.WriteString(a.out, x.Lines(columns(a.out)))
			return err
		},
	}
	formats(cmd, &output, "format on stdout: text or json", "text", "json")
	return cmd
}

// disjoint makes runs without a common experiment a usage error.
func disjoint(err error) error {
	if _, ok := errors.AsType[*runs.DisjointError](err); ok {
		return usageError{err}
	}
	return err
}

// reportSeveral prints runs next to each other.
func (a *app) reportSeveral(folders []string, output string, metrics []string) error {
	if err := oneOf("output", output, "table", "json"); err != nil {
		return err
	}
	if slices.Contains(folders, "") {
		return usagef("an empty name; name output folders")
	}
	spareMemory()
	s, err := runs.Beside(a.Disk, folders, metrics, a.Experiments)
	if err != nil {
		return disjoint(err)
	}
	if output == "json" {
		return a.printJSON(struct {
			Schema int `json:"schema"`
			*runs.SideBySide
		}{1, s})
	}
	return s.Text(a.out, tables.TextOptions{Color: useColor(a.out), Width: columns(a.out)})
}
