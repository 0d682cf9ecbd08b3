package cli

import (
	"encoding/json"
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
			if err := oneOf("output", output, "table", "json"); err != nil {
				return err
			}
			h := host("")
			if output == "json" {
				enc := json.NewEncoder(a.out)
				enc.SetIndent("", "  ")
				return enc.Encode(map[string]string{"version": h.Version, "revision": h.Revision, "go": h.Go})
			}
			_, err := fmt.Fprintf(a.out, "privkern %s (revision %s, %s)\n", h.Version, h.Revision, h.Go)
			return err
		},
	}
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}
