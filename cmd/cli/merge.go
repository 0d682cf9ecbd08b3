package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privkern/runner/execute/merge"
	"privkern/runner/record"
	"privkern/runner/text"
)

func (a *app) mergeCommand() *cobra.Command {
	var out, prefer string
	cmd := &cobra.Command{
		Use:   "merge FOLDER... --out OUT",
		Short: "Merge output folders that hold parts of one sweep",
		Long: `Copy the records of output folders into one folder, which may already exist and
hold records. The folders must have the same plan, as those of run sweep --shard
do. They are only read; files that are not records are listed and left out.

If a trial has several records, one with a result is preferred to one of a failure
or of missing data; times and provenance may differ. If results differ, all such
trials are listed and nothing is written, unless --prefer names the folder whose
results are taken. Results of different BLAS classes may differ in the
last bits: the first folder's result is taken, and the difference is reported.
Repeating the command completes an interrupted merge. See run help exit-codes.`,
		Example: `  run merge part1 part2 part3 --out all && run report all
  run merge part4 --out all
  run merge a b --out all --prefer b`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is missing: name the folder that takes the records of the others")
			}
			r, err := merge.Folders(a.Disk, out, args, prefer, a.Experiments)
			for _, f := range r.Ignored {
				if f.Moved != "" {
					a.complain("put aside %s (%s); it is now %s", f.File, f.Reason, f.Moved)
				} else {
					a.complain("left out %s (%s)", f.File, f.Reason)
				}
			}
			a.reportConflicts(r.Conflicts)
			if err != nil {
				if _, ok := errors.AsType[*merge.PlanError](err); ok {
					return usageError{err}
				}
				return err
			}
			if r.Foreign > 0 {
				a.complain("%s of trials that the plan does not have left out", text.Count(r.Foreign, "file"))
			}
			if text := classesText(r); text != "" {
				a.complain("%s", text)
			}
			if r.Better > 0 {
				a.say("%s with a better record in another folder", text.Count(r.Better, "trial"))
			}
			a.say("%d of %s with a record in %s, %d of these copied", r.Total-r.Missing,
				text.Count(r.Total, "trial"), out, r.Copied)
			a.say("`run report %s` makes and prints the tables", out)
			if r.Skipped > 0 && r.Skipped == r.Total-r.Missing {
				return a.allSkipped("every trial with a record was", r.Plan, a.datasets())
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder that takes the records of the others")
	cmd.Flags().StringVar(&prefer, "prefer", "", "folder whose results are taken if results differ")
	return cmd
}

// classesText names the BLAS classes of the united results where there are several.
func classesText(r *merge.Union) string {
	if len(r.Classes) < 2 && r.Rounded.Trials == 0 {
		return ""
	}
	sentence := fmt.Sprintf("the results are of these BLAS classes: %s; %s", r.Classes, record.LastBits)
	if n := r.Rounded; n.Trials > 0 {
		sentence += fmt.Sprintf("; of %s other folders have results of another class, which were left out",
			text.Count(n.Trials, "trial"))
		if n.Metric != "" {
			sentence += fmt.Sprintf(": they differ by up to %.1g in %s (relative, where values are above 1)", n.Most, n.Metric)
		}
	}
	return sentence
}

// maxConflicts limits the conflicts that are named.
const maxConflicts = 10

// reportConflicts names the first conflicts, with the flag that resolves them.
func (a *app) reportConflicts(all []merge.Conflict) {
	for i, c := range all {
		if i == maxConflicts {
			a.complain("... and %d more", len(all)-maxConflicts)
			break
		}
		name := c.Trial.Experiment
		if e, err := a.Experiments.Lookup(name); err == nil {
			name = strings.TrimSpace(name + " " + e.Describe(c.Trial.Params))
		}
		text := ""
		if c.Hosts != "" {
			text = "; computed with " + c.Hosts
		}
		a.complain(
			"conflict: %.12s %s --seed %d: %s and %s differ in %s%s",
			c.Trial.Key,
			name,
			c.Trial.Seed,
			c.Folders[0],
			c.Folders[1],
			strings.Join(c.Differences, "; "),
			text,
		)
	}
	if len(all) > 0 {
		a.complain("--prefer FOLDER chooses the folder whose results are taken")
	}
}
