package cli

import (
	"github.com/spf13/cobra"

	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of sweep files",
		Long: `Print the JSON Schema of sweep files, for editors that complete and check YAML.
configs/sweep.schema.json is its output.`,
		Example: "  run schema > configs/sweep.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			raw, err := sweep.Schema(plan.Names(a.Book))
			if err != nil {
				return err
			}
			_, err = a.out.Write(raw)
			return err
		},
	}
}
