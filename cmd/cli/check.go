package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privkern/runner"
	"privkern/runner/text"
)

func (a *app) checkCommand() *cobra.Command {
	var repair bool
	var output string
	cmd := &cobra.Command{
		Use:   "check FOLDER",
		Short: "Verify an output folder: plan, records, tables and plots",
		Long: `Verify an output folder: the digest of the plan and the keys of its trials;
digest, key and content of every record; digests of shared work; and that
tables and plots match the records, and are not older. Each problem is printed on a
line, followed by a count. Logs and report.html are not verified, nor are tables
and plots while a run is in progress.

Records of early versions have no digest. They are read, and counted as unsealed:
their keys are verified, but their numbers cannot be.

With --repair, unsealed records and plans get digests, invalid files are put aside
(in FOLDER/aside), and tables, plots and report are rewritten. The sweep's command
then reruns the trials whose records were put aside. An invalid plan stays: run
sweep FILE --replan replaces it.

The exit status is 0 if there is no problem, 1 if there is one, repaired or not,
and 2 for a usage error.`,
		Example: `  run check results/runs/quickstart
  run check results/runs/quickstart --output json
  run check /shared/mine --repair; run check /shared/mine`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == "" {
				return usagef("an empty name; name the output folder")
			}
			spareMemory()
			checked, err := a.Check(args[0], repair, version)
			if err != nil {
				return err
			}
			return a.printChecked(checked, repair, output)
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false,
		"seal files without a digest, put invalid files aside, rewrite the tables")
	formats(cmd, &output, "format on stdout: text or json", "text", "json")
	return cmd
}

// printChecked prints the findings, and returns the status as an error.
func (a *app) printChecked(c *runner.Inspection, repair bool, output string) error {
	if output == "json" {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", " ")
		if err := enc.Encode(c); err != nil {
			return err
		}
	} else {
		var b strings.Builder
		for _, p := range c.Problems {
			fmt.Fprintf(&b, "%s: %s", p.File, p.Reason)
			if p.Repair != "" {
				fmt.Fprintf(&b, "; %s", p.Repair)
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s, %s\n", text.Count(c.Records, "record"), text.Count(len(c.Problems), "problem"))
		if _, err := fmt.Fprint(a.out, b.String()); err != nil {
			return err
		}
	}
	if c.AtWork {
		a.say("a run is at work in the folder; tables and plots were not looked at")
	}
	if c.Foreign > 0 {
		a.say("%s of trials that the plan does not have", text.Count(c.Foreign, "record"))
	}
	if c.Shared > 0 {
		a.say("%s of work that trials share, %.1f MiB", text.Count(c.Shared, "result"), float64(c.SharedBytes)/(1<<20))
	}
	switch {
	case repair && c.Sealed > 0:
		a.say("%s sealed", text.Count(c.Sealed, "file"))
	case c.Unsealed > 0:
		a.say("%s unsealed: the numbers in them cannot be verified; --repair seals them as they are",
			text.Count(c.Unsealed, "record"))
	}
	if len(c.Problems) > 0 {
		return statusError{status: exitError}
	}
	return nil
}
