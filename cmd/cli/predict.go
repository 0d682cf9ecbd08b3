package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments"
	"privkern/experiments/dataset/table"
	"privkern/experiments/model"
	"privkern/runner/execute/machine"
	"privkern/runner/experiment"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// prediction are the flags of run predict.
type prediction struct {
	at, out, output string
	alone           bool
	ignoreMemory    bool
}

func (a *app) predictCommand() *cobra.Command {
	var p prediction
	cmd := &cobra.Command{
		Use:   "predict MODEL... --at DATA [name=value...]",
		Short: "Use a released model: predict, classify, compress",
		Long: `Predict, classify or compress the rows of DATA with a MODEL: a file that run trial
METHOD --release or --export wrote. DATA is a FILE of comma-separated values with a
header, or a value of dataset=, such as csv:PATH. It must have a column for each input
of the model, with a value in every row. Other columns are left out. Settings
name=value say how DATA are written, as for run data show: missing, decimal,
separator, encoding, header, comment, dates.

The output has the inputs and, by the method of the MODEL:

  dpgp/regression       mean, of the output; sd, the standard deviation of the
  privacygp/regression  function, privacy noise included; predictive_sd, that of an
                        observation; low95 and high95, between which an observation
                        lies with 95 %; all in the unit of the output
  dpgp/classification   p_CLASS, the probability of each class; class, that of the
                        largest mean
  kahm/classifier       distance, to the nearest machine; class, that of the machine
  multikernel/learn     the compressed features, without the inputs, because those
                        are what compression keeps back

Several MODELs of kahm/classifier, of parties that do not share their rows, are united:
the nearest machine of any of them decides, and party is its MODEL, counted from 1. The
machines are fitted when they are used. MODELs that need more memory than is available
are refused; where that is not known, more than 8 GiB.

Intervals follow from the MODEL alone, whose noise is public: they hold if the model
does. Classifiers have none.

Predictions need nothing but the model, and cost no privacy: any number of them may be
made and published. The model states its guarantee.

The exit status is 1 if the model or the DATA are malformed, and 2 if the DATA have
no column of that name; see run help exit-codes.`,
		Example: `  run predict model.json --at x.csv
  run predict model.json --at x.csv --out y.csv
  run predict model.json --at x.csv --output json
  run predict model.json --at x.csv separator=';' decimal=,
  run predict north.json south.json --at x.csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("output") && strings.EqualFold(filepath.Ext(p.out), ".json") {
				p.output = "json"
			}
			return a.predict(cmd, args, &p)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.at, "at", "", "data of the inputs at which to predict (required)")
	flags.StringVar(&p.out, "out", "", "new file to write instead of printing")
	flags.StringVar(&p.output, "output", "csv", "csv or json (default of --out FILE.json: json)")
	flags.BoolVar(&p.alone, "without-inputs", false, "leave the inputs out of the output")
	flags.BoolVar(&p.ignoreMemory, "ignore-memory", false, "predict even if it may not fit into memory")
	return cmd
}

// memoryUnknown bounds the memory of predictions where the available memory is not known.
const memoryUnknown = 8 << 30

// checkMemory refuses models that need more memory for that many rows than there is.
func (p *prediction) checkMemory(m *model.Model, paths []string, rows int) error {
	sizer, ok := m.Files[0].Payload.(model.Sizer)
	if !ok || p.ignoreMemory {
		return nil
	}
	need, available := sizer.Memory(m.Files, rows), machine.AvailableMemory()
	limit, limited := machine.ProcessLimit()
	refusal := ""
	if available == 0 && !limited && need > memoryUnknown {
		refusal = fmt.Sprintf("need about %s, and how much is available is not known; more than %s are not started",
			machine.Gibibytes(need), machine.Gibibytes(memoryUnknown))
	} else if available > 0 && need > available {
		refusal = fmt.Sprintf("need about %s, and %s are available", machine.Gibibytes(need), machine.Gibibytes(available))
	} else if limited && need > limit.Left {
		refusal = fmt.Sprintf("need about %s, and of the limit on the memory of a process (ulimit %s) %s are left",
			machine.Gibibytes(need), limit.Flag, machine.Gibibytes(limit.Left))
	}
	if refusal == "" {
		return nil
	}
	return fmt.Errorf("%s: predictions %s: use a machine with more memory, or fewer rows or models; --ignore-memory "+
		"starts them all the same", strings.Join(paths, ", "), refusal)
}

func (a *app) predict(cmd *cobra.Command, paths []string, p *prediction) error {
	if err := oneOf("output", p.output, "csv", "json"); err != nil {
		return err
	}
	if p.at == "" {
		return usagef("--at names no file; give the inputs at which to predict: --at x.csv")
	}
	if p.out != "" {
		if _, err := os.Lstat(p.out); err == nil {
			return usagef("%s is there already; give --out another name", p.out)
		}
	}
	paths, settings := withoutSettings(paths)
	reading, err := experiment.ReadSettings[table.Reading](settings)
	if err == nil {
		err = reading.Valid()
	}
	if err != nil {
		return usageError{err}
	}
	if len(paths) == 0 {
		return usagef("no MODEL is named; give the file that run trial METHOD --release or --export wrote")
	}
	m, err := readModels(paths)
	if err != nil {
		return notASetting(paths, err)
	}
	of := m.Envelope()
	name := table.Named(p.at)
	at, err := a.pathOf(name)
	if err != nil {
		return err
	}
	x, err := table.ReadPoints(name, at, *reading, of.Inputs)
	if unknown := (*experiment.UnknownError)(nil); errors.As(err, &unknown) {
		return fmt.Errorf("%w; %s has the inputs %s", err, paths[0], few(of.Inputs))
	}
	if err != nil {
		return err
	}
	if err := p.checkMemory(m, paths, x.RawMatrix().Rows); err != nil {
		return err
	}
	result, err := m.Predict(cmd.Context(), x)
	if err != nil {
		return err
	}
	if !p.alone && !of.Withheld {
		result.PrependInputs(of.Inputs, x)
	}
	for _, w := range result.Warnings {
		a.complain("warning: %s", w)
	}
	return a.writePrediction(result, p, paths)
}

// withoutSettings parts the settings of reading, name=value, from other arguments. A file of that name is written
// with its folder: ./missing=x.
func withoutSettings(args []string) (others, settings []string) {
	known := experiment.SettingValues(table.Reading{})
	for _, arg := range args {
		name, _, ok := strings.Cut(arg, "=")
		if _, is := known[name]; ok && is {
			settings = append(settings, arg)
		} else {
			others = append(others, arg)
		}
	}
	return others, settings
}

// notASetting explains the error of a file that is not there where one of the names looks like a setting.
func notASetting(paths []string, err error) error {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	i := slices.IndexFunc(paths, func(path string) bool { return strings.Contains(path, "=") })
	if i < 0 {
		return fmt.Errorf("the file %s is not there: name one that run trial METHOD --release or --export wrote",
			missing.Path)
	}
	name, _, _ := strings.Cut(paths[i], "=")
	var known []string
	for one := range experiment.SettingValues(table.Reading{}) {
		known = append(known, one)
	}
	slices.Sort(known)
	return usageError{fmt.Errorf("%s is neither a file nor a setting: %w", paths[i],
		experiment.Unknown("setting", name, known))}
}

// writePrediction prints a prediction of models, or writes it to a new file.
func (a *app) writePrediction(result *model.Prediction, p *prediction, paths []string) error {
	write, texts := result.JSON, slices.Concat(result.Columns, result.Labels)
	if p.output == "csv" {
		write = result.CSV
		if at := slices.IndexFunc(texts, tables.IsFormula); at >= 0 {
			a.complain("warning: a spreadsheet would run %q as a formula, which is the name of a column or a class of %s",
				texts[at], strings.Join(paths, ", "))
		}
	}
	if p.out == "" {
		return write(a.out)
	}
	if err := writeNew(p.out, write); err != nil {
		return err
	}
	a.say("%s in %s", text.Count(len(result.Rows), "row"), p.out)
	return nil
}

// few lists names for a message, and counts those beyond the first eight.
func few(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// readModels reads a model, or several that are used together.
func readModels(paths []string) (*model.Model, error) {
	all := new(model.Model)
	for _, path := range paths {
		one, err := model.Read(path, experiments.Models())
		if err != nil {
			return nil, err
		}
		if all.Files == nil {
			all.Format = one.Format
		}
		all.Files = append(all.Files, one.Files...)
	}
	if len(all.Files) == 1 {
		return all, nil
	}
	first, ok := all.Files[0].Payload.(model.Uniter)
	if !ok {
		return nil, usagef("%s: a model of this format (%s) is used alone; give one MODEL", paths[0], all.Format)
	}
	return all, first.Unite(all.Files)
}

// writeNew writes a file that is not there yet, or none.
func writeNew(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
