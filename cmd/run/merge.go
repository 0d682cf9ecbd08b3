package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privkern/runner/merge"
	"privkern/runner/plural"
	"privkern/runner/record"
)

func (a *app) mergeCommand() *cobra.Command {
	var out, prefer string
	cmd := &cobra.Command{
		Use:   "merge FOLDER... --out OUT",
		Short: "Unite output folders that hold parts of one sweep",
		Long: `Copy the records of output folders into one, which may be there and hold some
already. The folders must have the same plan, as those of run sweep --shard
have. They are only read; a file that is no record is named and left out.

Where a trial has several records, one with a result is taken before one of a
failure or of missing data; times and provenance may differ. Where results
differ, all such trials are named and nothing is written, unless --prefer says
which folder is right. Results of different classes of BLAS kernels may differ in
the last bits: the first folder's is taken, and how far they are apart is said.
Doing it again does what is left. The exit status: run help exit-codes.`,
		Example: `  run merge part1 part2 part3 --out all && run report all
  run merge part4 --out all
  run merge a b --out all --prefer b`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is missing: the folder in which the others are united")
			}
			r, err := merge.Folders(out, args, prefer, a.Experiments)
			for _, f := range r.Ignored {
				if f.Moved != "" {
					a.complain("put aside %s (%s); it is now %s", f.File, f.Reason, f.Moved)
				} else {
					a.complain("left out %s (%s)", f.File, f.Reason)
				}
			}
			a.tellConflicts(r.Conflicts)
			if err != nil {
				var other *merge.PlanError
				if errors.As(err, &other) {
					return usageError{err}
				}
				return err
			}
			if r.Foreign > 0 {
				a.complain("%s of trials that the plan does not have left out", plural.Count(r.Foreign, "file"))
			}
			if text := classesText(r); text != "" {
				a.complain("%s", text)
			}
			if r.Better > 0 {
				a.say("%s with a better record in another folder", plural.Count(r.Better, "trial"))
			}
			a.say("%d of %s with a record in %s, %d of these copied", r.Total-r.Missing, plural.Count(r.Total, "trial"), out, r.Copied)
			a.say("`run report %s` makes and prints the tables", out)
			if r.Skipped > 0 && r.Skipped == r.Total-r.Missing {
				return a.allSkipped("every trial with a record was", r.Plan, a.datasets())
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder in which the others are united")
	cmd.Flags().StringVar(&prefer, "prefer", "", "the folder whose results are taken where they differ")
	return cmd
}

// classesText says which classes of kernels the united results are of, where that is
// not one.
func classesText(r *merge.Report) string {
	if len(r.Classes) < 2 && r.Rounded.Trials == 0 {
		return ""
	}
	text := fmt.Sprintf("the results are of these classes of kernels: %s; %s", r.Classes, record.LastBits)
	if n := r.Rounded; n.Trials > 0 {
		text += fmt.Sprintf("; of %s other folders have results of another class, which were left out", plural.Count(n.Trials, "trial"))
		if n.Metric != "" {
			text += fmt.Sprintf(": they differ by up to %.1g in %s (relative, where values are above 1)", n.Most, n.Metric)
		}
	}
	return text
}

// maxConflicts is how many conflicts are named.
const maxConflicts = 10

func (a *app) tellConflicts(all []merge.Conflict) {
	for i, c := range all {
		if i == maxConflicts {
			a.complain("... and %d more", len(all)-maxConflicts)
			break
		}
		what := c.Trial.Experiment
		if e, err := a.Experiments.Lookup(what); err == nil {
			what = strings.TrimSpace(what + " " + e.Describe(c.Trial.Params))
		}
		text := ""
		if c.Hosts != "" {
			text = "; computed with " + c.Hosts
		}
		a.complain("conflict: %.12s %s --seed %d: %s and %s differ in %s%s", c.Trial.Key, what, c.Trial.Seed, c.Folders[0], c.Folders[1], strings.Join(c.Differences, "; "), text)
	}
	if len(all) > 0 {
		a.complain("--prefer FOLDER says whose results are taken")
	}
}
