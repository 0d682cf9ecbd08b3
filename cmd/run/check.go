package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privkern/runner"
	"privkern/runner/plural"
)

func (a *app) checkCommand() *cobra.Command {
	var repair bool
	var output string
	cmd := &cobra.Command{
		Use:   "check FOLDER",
		Short: "Verify an output folder: plan, records, tables and plots",
		Long: `Verify what is in an output folder: the digest of the plan and the keys of its
trials; digest, key and content of every record; and that tables and plots are
those that the records give. A line for each problem and a count are printed.
Logs and report.html are not verified. While a run is at work in the folder,
tables and plots are not either.

Records of early versions have no digest. They are read, and counted as
unsealed: their keys are verified, their numbers cannot be.

With --repair, unsealed records and plans are given their digests, what does not
hold is put aside (in FOLDER/aside), and tables, plots and report are written
anew. The sweep's command then runs the trials again whose records were put
aside. A plan that does not hold stays: run sweep FILE --replan makes it anew.

Exit status: 0 if everything holds, 1 if there was a problem, repaired or not, 2
for a mistake in the call.`,
		Example: `  run check results/runs/quickstart
  run check results/runs/quickstart --output json
  run check /shared/mine --repair; run check /shared/mine`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == "" {
				return usagef("an empty name; name the output folder")
			}
			if err := oneOf("output", output, "text", "json"); err != nil {
				return err
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
		"seal what has no digest, put aside what does not hold, write tables anew")
	cmd.Flags().StringVar(&output, "output", "text", "format on standard output: text or json")
	return cmd
}

// printChecked prints what was found, and returns the status as an error.
func (a *app) printChecked(c *runner.Checked, repair bool, output string) error {
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
		fmt.Fprintf(&b, "%s, %s\n", plural.Count(c.Records, "record"), plural.Count(len(c.Problems), "problem"))
		if _, err := fmt.Fprint(a.out, b.String()); err != nil {
			return err
		}
	}
	if c.AtWork {
		a.say("a run is at work in the folder; tables and plots were not looked at")
	}
	if c.Foreign > 0 {
		a.say("%s of trials that the plan does not have", plural.Count(c.Foreign, "record"))
	}
	switch {
	case repair && c.Sealed > 0:
		a.say("%s sealed", plural.Count(c.Sealed, "file"))
	case c.Unsealed > 0:
		a.say("%s unsealed: the numbers in them cannot be verified; --repair seals them as they are",
			plural.Count(c.Unsealed, "record"))
	}
	if len(c.Problems) > 0 {
		return statusError{status: exitError}
	}
	return nil
}
