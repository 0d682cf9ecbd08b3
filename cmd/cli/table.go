package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privkern/runner/claims/judge"
	"privkern/runner/plan"
	"privkern/runner/show/score"
	"privkern/runner/show/tables"
)

func (a *app) tableCommand() *cobra.Command {
	var o runOptions
	var of scored
	cmd := &cobra.Command{
		Use:   "table NAME... | --all [FOLDER...]",
		Short: "Compute a published table or figure and print it beside the published values",
		Long: `Run the trials behind a published table that have no result yet, and print each
value in a line: the published value, the reproduced value with its standard error
under the variant that is judged, and a verdict. --all-variants prints all variants,
with difference and number of trials, whether the paper states the settings, and
whether the data are the paper's, as the report and the files in the output folder
do. Lines have the width of the terminal, or that in COLUMNS. The folder is by default
` + runsFolder + `/table-NAME, with -HASH behind it for --seeds and --dtype.

With --all, run nothing: print how the values and claims of every paper came out, a
line a paper and one in all, from the results in folders: output folders, folders of
such, or folders with tables as CSV. Without a folder that is --out, or
` + runsFolder + `. Values that are nowhere there are "not run". With --check the
status is 4 where a value is outside its reference band, or not run. With --outside,
print which values lie outside their bands, and which claims do not hold; with
--joint, the verdict on all values of a table and metric together; with --sources,
the origin of each table: trials, seeds, processor time, program, machine and data,
of which output folders have records; with --against FOLDER, how the tables agree
with those of another run, such as one with another BLAS or on a GPU: verdicts, joint
ones too, values, the largest difference, and what was left out and why. With --check the
status is then 4 where one that counts has another verdict or cannot be compared, of the
tables that both have results of, and where nothing that counts was compared.

compare/NAME compares the private methods on the papers' data (kung, hmeq, mnist, har,
stress), as run compare does, and with --attack attacks them.

run list tables lists the names; run help exit-codes explains the exit statuses.`,
		Example: `  run table privacygp/claims
  run table cloaking/table1 --data ~/data
  run table cloaking/table1 --all-variants
  run table cloaking/table1 --output json
  run table privacygp/figure1 --check
  run table --all
  run table --all results --output markdown
  run table --all results --check
  run table --all results --outside
  run table --all results --joint
  run table --all --sources
  run table --all results/runs/gpu --against results --check`,
		Args: func(cmd *cobra.Command, args []string) error {
			if of.all {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			if of.all {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			names, err := a.Book.Names()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return append(names, suiteNames()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			shard, seeds, format, err := o.validate(cmd)
			if err != nil {
				return err
			}
			if of.all {
				return a.score(cmd, args, &o, format, &of)
			}
			if of.instead() > 0 {
				return usagef("--outside, --joint, --sources and --against go with --all")
			}
			if s, ok := suiteOf(args); ok {
				return a.runSuite(cmd, &o, shard, seeds, format, s)
			}
			if err := refuseSuites(args); err != nil {
				return err
			}
			if o.attack {
				return usagef("--attack is for one of the comparisons, %s", strings.Join(suiteNames(), ", "))
			}
			return a.launch(cmd, o, shard, format, func() (*plan.Draft, error) {
				return plan.ReadTables(a.Book, args, seeds, o.dtype)
			})
		},
	}
	o.addFlags(cmd, "float64 or float32 (default float64)")
	cmd.Flags().Lookup("check").Usage += "; with --against, if a value or claim that counts has another verdict or " +
		"cannot be compared"
	o.addAttack(cmd)
	cmd.Flags().BoolVar(&of.all, "all", false, "print how all papers came out, from finished results")
	cmd.Flags().BoolVar(&of.outside, "outside", false, "with --all, print instead which values lie outside their bands "+
		"and which claims do not hold, and the attempts")
	cmd.Flags().BoolVar(&of.joint, "joint", false, "with --all, print instead the verdict on all values of a table and "+
		"metric together")
	cmd.Flags().BoolVar(&of.sources, "sources", false, "with --all, print instead the origin of each table")
	cmd.Flags().StringArrayVar(&of.against, "against", nil, "with --all, print instead how the tables agree with those "+
		"of this folder; repeatable")
	return cmd
}

// scored selects the output of finished results.
type scored struct {
	all, outside, joint, sources bool
	against                      []string // folders
}

// instead is the number of things that are printed instead of the scoreboard.
func (s *scored) instead() (n int) {
	for _, is := range []bool{s.outside, s.joint, s.sources, len(s.against) > 0} {
		if is {
			n++
		}
	}
	return n
}

// validate refuses more than one of the things that are printed instead of the scoreboard,
// and formats that these do not have.
func (s *scored) validate(format tables.Format) error {
	against := len(s.against) > 0
	switch plain := format == tables.FormatText || format == tables.FormatMarkdown; {
	case s.instead() > 1:
		return usagef("--outside, --joint, --sources and --against print different things: give one of them")
	case (s.outside || s.joint || s.sources) && !plain:
		return usagef("--outside, --joint and --sources print a table or markdown; " +
			"--all --output json has the same beside the scoreboard")
	case slices.Contains(s.against, ""):
		return usagef("--against wants a folder; it has an empty name")
	case against && !plain && format != tables.FormatJSON:
		return usagef("--against prints a table, markdown or json")
	}
	return nil
}

// score prints the scoreboard of the results in the folders; without any, of those in the
// folder of --out.
func (a *app) score(
	cmd *cobra.Command, folders []string, o *runOptions, format tables.Format, of *scored,
) error {
	refused := of.validate(format)
	out := o.out
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains([]string{"all", "check", "out", "output", "outside", "joint", "sources",
			"against"}, f.Name) {
			refused = errors.Join(refused, usagef("--all runs nothing, so --%s says nothing", f.Name))
		}
	})
	switch {
	case refused != nil:
		return refused
	case len(folders) > 0 && out != "":
		return usagef("give the folders either as arguments or by --out")
	case len(folders) == 0 && out != "":
		folders = []string{out}
	case len(folders) == 0:
		if _, err := os.Stat(runsFolder); errors.Is(err, fs.ErrNotExist) {
			a.say("nothing has run yet: there is no folder %s", runsFolder)
		} else {
			folders = []string{runsFolder}
		}
	}
	board, err := a.Score(folders)
	if err != nil {
		return err
	}
	a.unused(board)
	if len(of.against) > 0 {
		return a.against(board, of.against, format, o.check)
	}
	write := score.Write
	switch {
	case of.outside:
		write = score.WriteOutside
	case of.joint:
		write = score.WriteJoint
	case of.sources:
		write = score.WriteSources
	}
	if err := write(a.out, board, format, columns(a.out)); err != nil || !o.check {
		return err
	}
	if err := a.checked(board.Violations); err != nil {
		return err
	}
	a.say("check: all %d values with a reference are within its band", board.References)
	return nil
}

// unused reports the results in the folders that could not be used.
func (a *app) unused(b *score.Board) {
	for _, s := range b.Skipped {
		a.complain("warning: not used: %s", s)
	}
}

// against prints how tables agree with those of other folders, and with --check fails where a
// verdict that counts differs or could not be compared, of tables that both have.
func (a *app) against(board *score.Board, folders []string, format tables.Format, check bool) error {
	other, err := a.Score(folders)
	if err != nil {
		return err
	}
	a.unused(other)
	agreement := board.Against(other)
	if err := score.WriteAgreement(a.out, agreement, format, columns(a.out)); err != nil || !check {
		return err
	}
	all, changed := agreement.All(), agreement.JudgedChanges()
	all.Open += agreement.Joint.Open
	switch {
	case all.Compared == 0:
		return statusError{exitCheck, "the two have no value from the same numbers of trials"}
	case all.Counted+all.Open == 0:
		return statusError{exitCheck, "nothing that the scoreboard counts was compared"}
	case changed > 0 || all.Open > 0:
		return statusError{exitCheck, fmt.Sprintf("values, claims and joint verdicts that count with another verdict: %d; "+
			"cells that count and could not be compared: %d", changed, all.Open)}
	}
	a.say("check: all %d cells that count have the same verdict, of %d compared", all.Counted, all.Compared)
	return nil
}

// checked returns an error that names the values which do not pass --check.
func (a *app) checked(violations []judge.Violation) error {
	for _, v := range violations {
		a.complain("check: %s", v)
	}
	if len(violations) > 0 {
		return statusError{exitCheck, fmt.Sprintf("%d values do not pass the check", len(violations))}
	}
	return nil
}
