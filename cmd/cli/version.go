package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the revision and the Go version",
		Example: "  run version\n  run version --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			h := host("")
			if output == "json" {
				return a.printJSON(map[string]string{"version": h.Version, "revision": h.Revision, "go": h.Go})
			}
			_, err := fmt.Fprintf(a.out, "privkern %s (revision %s, %s)\n", h.Version, h.Revision, h.Go)
			return err
		},
	}
	formats(cmd, &output, "table or json", "table", "json")
	return cmd
}
