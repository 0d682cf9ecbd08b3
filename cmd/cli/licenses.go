package cli

import (
	"io"

	"github.com/spf13/cobra"

	"privkern/cmd/cli/notices"
)

func (a *app) licensesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of the program and of the modules linked into it",
		Long: `Print the licences of the program and of every module that is linked into one of
its builds: names, versions, SPDX identifiers, credits, and each text once. Pass
this on together with the program.`,
		Example: "  run licenses | less",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.out, notices.Text)
			return err
		},
	}
}
