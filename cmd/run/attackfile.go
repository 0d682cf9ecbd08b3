package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privkern/experiments/attack/released"
	"privkern/experiments/model"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/experiments/page"
	"privkern/runner/experiment"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// isFile reports whether the argument of an attack is a file and no method: one that is there, or a name that no method
// has and that is no mistake for one.
func (a *app) isFile(name string) bool {
	if _, err := a.Experiments.Lookup(name); err == nil {
		return false
	}
	if _, err := os.Stat(name); err == nil || slices.Contains([]string{".json", ".csv"}, filepath.Ext(name)) {
		return true
	}
	paper, _, slash := strings.Cut(name, "/")
	return slash && !slices.ContainsFunc(a.Experiments.Names(), func(known string) bool {
		return strings.HasPrefix(known, paper+"/")
	})
}

// methodArguments are the arguments of an attack on a method, without its kind.
func (a *app) methodArguments(args []string) ([]string, error) {
	if _, err := a.Experiments.Lookup(args[0]); err != nil {
		return nil, err
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
func (a *app) attackFile(cmd *cobra.Command, path string, args []string, output string) error {
	var wrong []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "output" {
			wrong = append(wrong, "--"+f.Name)
		}
	})
	if wrong != nil {
		return usagef("%s is for attacks on methods; on a file there is --output alone", strings.Join(wrong, ", "))
	}
	if err := oneOf("output", output, tables.Formats...); err != nil {
		return err
	}
	m, err := readAttacked(path)
	if err != nil {
		return err
	}
	if _, compression := m.Files[0].Payload.(*projectionfile.Model); compression {
		return usagef("%s: it is a compression, which predicts nothing that could be attacked", path)
	}
	s, err := experiment.ReadSettings[released.Settings](args)
	if err != nil {
		return usageError{err}
	}
	f := released.NewFile(m)
	if err := f.Check(s); err != nil {
		return usageError{err}
	}
	results, err := f.Attack(cmd.Context(), s, a.pathOf)
	if err != nil {
		return err
	}
	return page.Write(a.out, results, page.Format(output), text.Quote, min(page.Width, columns(a.out)))
}
