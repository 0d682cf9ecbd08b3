package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"privkern/graphs/backend"
	"privkern/graphs/cost"
	"privkern/runner/store/disk"
)

func (a *app) calibrateCommand() *cobra.Command {
	var on, out string
	var small bool
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the GPU, for the predictions of --backend auto",
		Long: `Measure the time of a launch, of a wait, of copies between host and device and of
the start, and the rates of kernel matrices, products, factors and
eigen-decompositions on the first GPU, or the one that PRIVKERN_DEVICE names, and write
them to a file of the user's cache folder. Later runs read it: --backend auto
then predicts with these numbers in place of those of data sheets. The file is of one
device with one version of its driver and libraries.

The last lines compare programs that were not used for that with their predicted
times. Nothing else should run on the device; it takes about a minute. The exit
status is 1 where there is no device or a measurement fails.`,
		Example: `  run bench calibrate
  run bench calibrate --backend cuda --out h200.json
  PRIVKERN_CALIBRATION=h200.json run sweep configs/quickstart.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf(backendFlag, on, "cuda"); err != nil {
				return err
			}
			if err := notEmpty(cmd, "out"); err != nil {
				return err
			}
			c, checks, err := backend.Calibrate(cmd.Context(), small, func(what string) { a.say("%s", what) })
			if err != nil {
				return err
			}
			c.Revision = host("").Revision
			if err := a.writeCalibration(c, out); err != nil {
				return err
			}
			return a.printCalibration(c.Model, checks)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&on, backendFlag, "cuda", "the backend to measure: cuda")
	flags.StringVar(&out, "out", "", "write this `FILE` (default: the one that later runs read, "+
		"PRIVKERN_CALIBRATION or one in the user's cache folder)")
	flags.BoolVar(&small, "small", false,
		"small problems, as a simulated device needs them; the result is refused for a real one")
	return cmd
}

// writeCalibration writes the file of a calibration, by default the one that later runs read.
func (a *app) writeCalibration(c *cost.Calibration, path string) (err error) {
	if path == "" {
		if path, err = backend.CalibrationFile(c.Device); err != nil {
			return err
		}
		if err := disk.MakeFolder(a.Disk, filepath.Dir(path), 0o777); err != nil {
			return err
		}
	}
	content, err := c.Encode()
	if err != nil {
		return fmt.Errorf("the measured values cannot be used: %w", err)
	}
	if err := disk.WriteFile(a.Disk, path, content); err != nil {
		return err
	}
	a.say("%s is calibrated in %s", c.Device, path)
	return nil
}

// printCalibration prints a measured calibration.
func (a *app) printCalibration(d cost.Device, checks []backend.Check) error {
	columns := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, q := range d.Quantities() {
		_, _ = fmt.Fprintln(columns, strings.TrimRight(fmt.Sprintf("%s\t%.3g\t%s", q.Name, q.Value, q.Unit), "\t"))
	}
	for _, c := range checks {
		_, _ = fmt.Fprintf(columns, "%s\t%.3g\ts\tpredicted %.3g s\n", c.Name, c.Measured, c.Predicted)
	}
	return columns.Flush()
}
