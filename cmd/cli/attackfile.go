package cli

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privkern/experiments/attack/released"
	"privkern/experiments/dataset/table"
	"privkern/experiments/model"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/experiments/page"
	"privkern/graphs/engine"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// isFile reports whether the argument of an attack is a file and no method: one that is there, or the name of one.
func (a *app) isFile(name string) bool {
	if _, err := a.Experiments.Lookup(name); err == nil {
		return false
	}
	_, err := os.Stat(name)
	return err == nil || slices.Contains([]string{".json", ".csv"}, strings.ToLower(filepath.Ext(name)))
}

// methodArguments are the arguments of an attack on a method, without its kind.
func (a *app) methodArguments(args []string) ([]string, error) {
	if _, err := a.Experiments.Lookup(args[0]); err != nil {
		return nil, experiment.Unknown("method or file", args[0], a.Experiments.Names())
	}
	kinds := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !strings.HasPrefix(arg, "kind=") })
	wanted, err := experiment.ReadSettings[released.Wanted](kinds)
	if err != nil {
		return nil, usageError{err}
	}
	if wanted.Kind != released.Membership {
		return nil, usagef("kind = %s is of a released file: run trial %s ... --release model.json (or --export), and then "+
			"run attack model.json dataset=... kind=%[1]s", experiment.NameOf(wanted.Kind), args[0])
	}
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return slices.Contains(kinds, arg) }), nil
}

// readAttacked reads a model, or predictions at points.
func readAttacked(path string) (*model.Model, error) {
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		return released.ReadPredictions(path)
	}
	return readModels([]string{path})
}

// attackFile attacks a released file and prints the results in the format of --output.
func (a *app) attackFile(cmd *cobra.Command, path string, args []string, o *runOptions) error {
	if err := oneOf("output", o.output, tables.Formats...); err != nil {
		return err
	}
	m, err := readAttacked(path)
	if err != nil {
		return err
	}
	if compressed, ok := m.Files[0].Payload.(*projectionfile.Model); ok {
		if err := fileFlags(cmd, "output", "seeds"); err != nil {
			return err
		}
		return a.attackCompression(cmd, o, path, compressed, args)
	}
	if err := fileFlags(cmd, "output"); err != nil {
		return err
	}
	s, err := experiment.ReadSettings[released.Settings](args)
	if err != nil {
		return usageError{err}
	}
	f := released.NewFile(m)
	if err := f.Check(s); err != nil {
		return usageError{err}
	}
	means := &released.Means{PathOf: a.pathOf, Registry: a.Experiments, Trials: a.shadows}
	results, err := f.Attack(cmd.Context(), s, means)
	if err != nil {
		return err
	}
	return page.Write(a.out, results, page.Format(o.output), text.Command, min(page.Width, columns(a.out)))
}

// fileFlags refuses flags of attacks on methods, but for some.
func fileFlags(cmd *cobra.Command, allowed ...string) error {
	var wrong []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(allowed, f.Name) {
			wrong = append(wrong, "--"+f.Name)
		}
	})
	if wrong != nil {
		return usagef("%s is for attacks on methods; on this file there is --%s", strings.Join(wrong, ", "),
			strings.Join(allowed, " and --"))
	}
	return nil
}

// shadows runs trials in this process, in the order of their seeds.
func (a *app) shadows(ctx context.Context, e *experiment.Experiment, p experiment.Params, path string, seeds int) (
	out []map[string]experiment.Series, _ error) {
	watched := progress.Watch(a.progressOptions(), e.Name)
	defer watched.Close()
	failed := ""
	for seed := range seeds {
		watched.Inner(seed, seeds, "shadow models")
		identity := experiment.Identity{Experiment: e.Name, ResultVersion: e.Version, Params: p, Seed: int64(seed),
			Backend: trial.AuditedBackend, DType: experiment.Float64}
		rec, err := trial.Execute(ctx, e, trial.Job{Identity: identity, Workers: runtime.GOMAXPROCS(0),
			Folders: map[string]string{table.Named(path): path}}, engine.Opener, func(int, int, string) {})
		if err != nil {
			return nil, err
		}
		if rec.Status != record.OK {
			failed = *rec.Error
			out = append(out, nil)
			continue
		}
		out = append(out, rec.SeriesValues())
	}
	if failed != "" {
		a.complain("warning: some shadow models failed, the last one: %s", failed)
	}
	return out, nil
}
