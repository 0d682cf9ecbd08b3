package main

import (
	"github.com/spf13/cobra"

	"privkern/runner/plan"
)

func (a *app) tableCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "table NAME...",
		Short: "Compute a published table or figure and print it beside the published values",
		Long: `Run the trials behind a published table that have no result yet, and print each
cell: the published value, the reproduced value with its standard error and number
of trials, the difference, and a verdict.

run list tables lists the names; run help exit-codes explains the exit statuses.`,
		Example: `  run table privacygp/claims
  run table cloaking/table1 --data ~/data
  run table cloaking/table1 --output json
  run table privacygp/figure1 --check`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			names, err := a.Book.Names()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			shard, seeds, format, err := o.validate(cmd)
			if err != nil {
				return err
			}
			return a.launch(cmd, o, shard, format, func() (*plan.Draft, error) {
				return plan.ReadTables(a.Book, args, seeds, o.dtype)
			})
		},
	}
	o.addFlags(cmd, "float64 or float32 (default float64)")
	return cmd
}
