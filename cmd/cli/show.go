package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"privkern/runner/show/runs"
)

func (a *app) showCommand() *cobra.Command {
	var output, in string
	cmd := &cobra.Command{
		Use:   "show KEY | FOLDER",
		Short: "Show one trial, or one output folder",
		Long: `Show the record of a trial: settings that are not defaults, metrics, warnings,
privacy, timing, provenance. KEY is its key or the first six digits of it or more, as
run sweep --dry-run, reports and run export print them. It is looked for in the
folders of ` + runsFolder + `, or with --in FOLDER in that run or those below it.

Of an output folder, show title, sources, settings that vary, the number of trials by
state, failures and warnings with how many trials have each, and where tables and
report are.

--output json prints the record as it is in its file, byte for byte, or the overview.

The exit status is 0, 1 if a file cannot be read, and 2 for a usage error, such as a key
of no trial or the beginning of several.`,
		Example: `  run show 5c1f0a
  run show 5c1f0a --in /shared/runs --output json
  run show results/runs/quickstart`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.show(args[0], in, output == "json")
		},
	}
	formats(cmd, &output, "format on stdout: text or json", "text", "json")
	cmd.Flags().StringVar(&in, "in", "",
		"the output folder that has the trial, or a folder of such (default "+runsFolder+")")
	return cmd
}

func (a *app) show(what, in string, asJSON bool) error {
	if what == "" {
		return usagef("an empty name; name a trial by its key, or an output folder")
	}
	_, err := os.Stat(what)
	if err == nil && in == "" {
		return a.showFolder(what, asJSON)
	}
	key := strings.ToLower(what)
	if !runs.IsKey(key) {
		if errors.Is(err, fs.ErrNotExist) && in == "" {
			return usagef("%q is no folder, and no key: six to 64 digits of 0-9 and a-f", what)
		}
		return usagef("%q is no key: six to 64 digits of 0-9 and a-f", what)
	}
	if in == "" {
		in = runsFolder
	}
	found, err := runs.Find(a.Disk, in, key, a.Experiments)
	if err != nil {
		return err
	}
	if len(found.Others) > 0 {
		a.say("%s has the trial, too", strings.Join(found.Others, ", "))
	}
	if asJSON {
		_, err = a.out.Write(found.Text)
		return err
	}
	_, err = io.WriteString(a.out, found.Page(a.Experiments, columns(a.out)))
	return err
}

func (a *app) showFolder(dir string, asJSON bool) error {
	spareMemory()
	o, err := runs.Look(a.Disk, dir, a.Experiments, rivals)
	if err != nil {
		return err
	}
	if !asJSON {
		_, err = fmt.Fprint(a.out, o.Page(columns(a.out)))
		return err
	}
	return a.printJSON(struct {
		Schema int `json:"schema"`
		*runs.Overview
	}{1, o})
}
