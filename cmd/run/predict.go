package main

import (
	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/experiments/dpgp/modelfile"
)

func (a *app) predictCommand() *cobra.Command {
	var at, output string
	cmd := &cobra.Command{
		Use:   "predict MODEL --at FILE",
		Short: "Predict from a released model",
		Long: `Predict from the file of a MODEL that was released by run trial
dpgp/regression --release, at the rows of a FILE of comma-separated values with a
header that has the columns of the model's inputs. Other columns are left out.

Printed are the inputs with mean, the predicted output; sd, the standard deviation
of the function there, with what the privacy noise adds; and predictive_sd, that of
an observation. They are in the unit of the output.

Predictions need nothing but the model, and cost no privacy: any number of them
may be made and published. The model says what it protects, and how strongly.

The exit status is 1 if the model or the FILE is malformed, and 2 if the FILE has
no column of that name; see run help exit-codes.`,
		Example: `  run predict model.json --at x.csv
  run predict model.json --at x.csv --output json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("output", output, "csv", "json"); err != nil {
				return err
			}
			if at == "" {
				return usagef("--at names no file; give the inputs at which to predict: --at x.csv")
			}
			m, err := modelfile.Read(args[0])
			if err != nil {
				return err
			}
			x, err := dataset.LoadInputs(at, m.Inputs)
			if err != nil {
				return err
			}
			p, warnings, err := m.Predict(cmd.Context(), x)
			if err != nil {
				return err
			}
			for _, w := range warnings {
				a.complain("warning: %s", w)
			}
			if output == "json" {
				return m.JSON(a.out, x, p)
			}
			return m.CSV(a.out, x, p)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&at, "at", "", "file of the inputs at which to predict (required)")
	flags.StringVar(&output, "output", "csv", "csv or json")
	return cmd
}
