package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"privkern/experiments/dataset/table"
	"privkern/experiments/stats"
	"privkern/graphs/backend"
	"privkern/runner/experiment"
	"privkern/runner/text"
)

func (a *app) releaseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Release statistics of your own data with a guarantee",
		Long: `Release statistics of your own data. The releases of methods are made by
run trial EXPERIMENT ... --rng secure --release FILE.`,
		Example: "  run release stats my.csv columns=age --out age.csv",
	}
	return group(cmd, "command", a.releaseStatsCommand())
}

func (a *app) releaseStatsCommand() *cobra.Command {
	var (
		out, output string
		forRelease  releaseFlags
	)
	cmd := &cobra.Command{
		Use:   "stats DATA columns=COLUMNS [name=value ...]",
		Short: "Release counts, quantiles, means and ranges of columns",
		Long: `Release statistics of columns of your own data with differential privacy: how many
values there are, quantiles, the mean with the standard deviation that noise gives
it, and a range that other methods may take for public. It is the release of the
experiment stats/columns, whose settings are name=value (run list stats/columns
shows them), and books its epsilon on the same accounts as other releases of the
data.

The statistics share epsilon: few columns and few quantiles are more exact. Ends
that are public are given, low=0 high=120, one for all columns or one for each;
otherwise a share of epsilon finds the powers of two between which values lie. The
range is a quarter wider, on either side, than the distance of the outer quantiles.
With person=COLUMN all rows of a person are protected together. Try settings first
by run trial stats/columns, which shows the errors to you alone.

A table goes to stdout, with the settings that take its ranges; --out FILE has all
digits as comma-separated values, and FILE.json what is protected. Docs:
docs/releases.md.`,
		Example: `  run release stats my.csv columns=age --out age.csv
  run release stats visits.csv columns=age+dose person=patient rows_per_person=4 --out stats.csv
  run release stats my.csv columns=age,weight low=0 high=120,300 delta=1e-6 --out stats.csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out names no file; add --out FILE, which gets the statistics")
			}
			e := stats.Columns().Experiment
			if !slices.ContainsFunc(args[1:], func(arg string) bool { return strings.HasPrefix(arg, "columns=") }) {
				return usagef("name the columns, such as columns=age+weight; run data show %s lists them", args[0])
			}
			params, err := a.resolveArguments(e, append([]string{"dataset=" + table.Named(args[0])}, args[1:]...))
			if err != nil {
				return usageError{err}
			}
			o := trialOptions{backend: backend.Auto, dtype: experiment.Float64, secure: true, release: out}
			if output == "table" {
				o.summarise = func() error { return printStatistics(a.out, out, params) }
			}
			if err := a.checkRelease(e, params, o); err != nil {
				return err
			}
			if err := forRelease.check(cmd.Flags()); err != nil {
				return err
			}
			if err := forRelease.into(a, &o, e, params); err != nil {
				return err
			}
			return a.runTrial(cmd, e, params, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "", "file of the statistics, which must not be there yet; FILE.json describes them")
	formats(cmd, &output, "on stdout: table or json, the record of the release", "table", "json")
	forRelease.add(flags)
	return cmd
}

// printStatistics prints a released file as a table that fits a terminal, and its ranges as settings.
func printStatistics(out io.Writer, path string, params experiment.Params) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading only
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return err
	}
	header := lines[0]
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	name := len(header) - 1 // the column has the last place
	for i, line := range lines {
		for j, cell := range line[:name] {
			if i > 0 {
				line[j] = short(cell)
			}
		}
		line[name] = text.Printable(line[name])
		fmt.Fprintln(w, strings.Join(slices.Concat(line[name:], line[:name]), "\t"))
	}
	if err := w.Flush(); err != nil || !slices.Contains(header, "low") {
		return err
	}
	low, high := slices.Index(header, "low"), slices.Index(header, "high")
	columns, asked := stats.Asked(params)
	lines = lines[1:]
	var lows, highs []string
	for _, in := range asked {
		if in.Levels > 0 {
			lows, highs = append(lows, "0"), append(highs, "1")
			lines = lines[in.Levels:]
			continue
		}
		lows, highs = append(lows, lines[0][low]), append(highs, lines[0][high])
		if _, err := fmt.Fprintf(out, "%s as an output: low=%s high=%s\n", lines[0][name], lines[0][low],
			lines[0][high]); err != nil {
			return err
		}
		lines = lines[1:]
	}
	_, err = fmt.Fprintf(out, "as inputs: %s input_low=%s input_high=%s\n", text.Quote("inputs="+columns),
		strings.Join(lows, ","), strings.Join(highs, ","))
	return err
}

// short is a number with six digits.
func short(cell string) string {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
