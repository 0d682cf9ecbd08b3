package cli

import (
	"github.com/spf13/cobra"

	"privkern/experiments/budget"
)

func (a *app) budgetLinkCommand(file *string) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "link ACCOUNT ACCOUNT",
		Short: "Make the accounts of two sets of data one",
		Long: `Make the accounts of two sets of data one, of every unit of protection: for data of
the same people that the ledger does not recognise as such. Their releases count
together from then on, within the smaller of their limits; a release of either is
charged to both. It cannot be undone. An ACCOUNT is as for run budget show.

With --from FILE the second is in that ledger. Its accounts are copied; the ledger
itself stays as it is, and is to be used no longer for these people. It recognises
data by a key of its own: here they are found by the forms of the first account, and
by its name.

The exit status is 2 if an account is not there; see run help exit-codes.`,
		Example: `  run budget link 1 4
  run budget link patients visits
  run budget link patients 1 --from old/budget.json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeAccounts(file),
		RunE: func(cmd *cobra.Command, args []string) error {
			ledger, err := a.openLedger(*file)
			if err != nil {
				return err
			}
			var other *budget.Ledger
			if cmd.Flags().Changed("from") {
				if from == "" {
					return usagef("--from names no file")
				}
				if other, err = a.openLedger(from); err != nil {
					return err
				}
			}
			reports, err := ledger.Link(args[0], args[1], other)
			if err != nil {
				return budgetUsage(err)
			}
			return a.changedBudgets(reports)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "ledger that has the second account")
	return cmd
}
