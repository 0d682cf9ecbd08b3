package cli

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"privkern/runner/show/runs"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

func (a *app) listRunsCommand() *cobra.Command {
	var output string
	var tags []string
	cmd := &cobra.Command{
		Use:   "runs [FOLDER]",
		Short: "List output folders: title, trials, state, date, best result",
		Long: `List the output folders in FOLDER, by default ` + runsFolder + `, the latest first: title and tags,
experiments, trials with a record of those planned, state, when the last record was
written, and the best mean of the first result that has a better direction, over the
settings; of a comparison, over those of all methods that protect its unit.

The states are complete, running (a runner holds a lock), stopped (trials are left), the
numbers of failed and skipped trials, foreign (a folder without a plan), unreadable (a
plan that this program cannot read), and recorded: all trials have a record, but more
than 2000 are not read for a list, and the tables are older. run report FOLDER writes
the tables, from which the list then reads failures and the best result.

The exit status is 0, 1 if the folder cannot be read, and 2 for a usage error.`,
		Example: `  run list runs
  run list runs /shared/runs
  run list runs --tag study=first
  run list runs --output json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			wanted, err := parseTags(tags)
			if err != nil {
				return err
			}
			return a.listRuns(args, wanted, output)
		},
	}
	formats(cmd, &output, "table or json", "table", "json")
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "list only runs with this name=value (default: all); repeat for several")
	return cmd
}

func (a *app) listRuns(args []string, tags map[string]string, output string) error {
	folder := runsFolder
	if len(args) == 1 {
		folder = args[0]
	}
	if folder == "" {
		return usagef("an empty name; name the folder of the runs")
	}
	all, err := runs.List(a.Disk, folder, a.Experiments, rivals, tags)
	if len(args) == 0 && errors.Is(err, fs.ErrNotExist) {
		all, err = []runs.Run{}, nil // nothing has run yet
	}
	if err != nil {
		return err
	}
	if output == "json" {
		return a.printJSON(map[string]any{"schema": 1, "runs": all})
	}
	if len(all) == 0 {
		with := ""
		if len(tags) > 0 {
			with = " with this --tag"
		}
		a.say("no runs in %s%s", folder, with)
		return nil
	}
	return runs.Grid(all).WriteText(a.out, tables.TextOptions{Color: useColor(a.out), Width: columns(a.out)})
}

// parseTags reads name=value tags.
func parseTags(tags []string) (map[string]string, error) {
	out := map[string]string{}
	for _, tag := range tags {
		name, value, ok := strings.Cut(tag, "=")
		switch _, twice := out[name]; {
		case !ok || name == "" || value == "":
			return nil, usagef("--tag is %q; it takes name=value", tag)
		case text.Printable(tag) != tag:
			return nil, usagef("--tag is %q; it takes printable characters", tag)
		case twice:
			return nil, usagef("--tag gives %q twice", name)
		}
		out[name] = value
	}
	return out, nil
}
