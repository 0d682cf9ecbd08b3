package main

import (
	"strings"

	"github.com/spf13/cobra"

	"privkern/runner/plan"
	"privkern/runner/sweep"
)

func (a *app) tableCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "table NAME...",
		Short: "Compute a published table or figure and print it beside the published values",
		Long: `Run the trials that a published table is made of, where they have no result
yet, and print each cell: the published value, ours with its standard error
and number of trials, the difference, and a verdict.

run list tables shows the names. The exit status: run help exit-codes.`,
		Example: `  run table privacygp/claims
  run table cloaking/table1 --data ~/data
  run table cloaking/table1 --output json
  run table privacygp/figure1 --check`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return a.Book.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			shard, format, err := o.validate(cmd)
			if err != nil {
				return err
			}
			settings, err := a.TableSettings(args...)
			if err != nil {
				return err
			}
			if o.seeds != "" {
				if settings, err = reseed(settings, o.seeds); err != nil {
					return err
				}
			}
			return a.launch(cmd.Context(), o, shard, format, settings, planOptions{
				Options: plan.Options{Title: strings.Join(args, ", "), Tables: args, Backend: o.backend, DType: o.dtype},
				name:    "table-" + strings.ReplaceAll(strings.Join(args, "+"), "/", "-"),
			})
		},
	}
	o.addFlags(cmd)
	return cmd
}

// reseed runs every setting with other seeds than the ledger's.
func reseed(settings []sweep.Setting, text string) ([]sweep.Setting, error) {
	seeds, err := sweep.ParseSeeds(text)
	if err != nil {
		return nil, usagef("--seeds: %w", err)
	}
	var out []sweep.Setting
	for _, s := range settings {
		for _, seed := range seeds {
			s.Seed = seed
			out = append(out, s) // repetitions go when the plan is frozen
		}
	}
	return out, nil
}
