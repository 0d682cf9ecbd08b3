package main

import (
	"github.com/spf13/cobra"

	"privkern/runner/sweep"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of sweep files",
		Long:    "Print the JSON Schema of sweep files, for editors that complete and check YAML.\nconfigs/sweep.schema.json holds what this prints.",
		Example: "  run schema > configs/sweep.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			raw, err := sweep.Schema(a.Names())
			if err != nil {
				return err
			}
			_, err = a.out.Write(raw)
			return err
		},
	}
}
