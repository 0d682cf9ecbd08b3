package plan

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/claims/ledger"
	"privkern/runner/command"
	"privkern/runner/experiment"
	"privkern/runner/plan/search"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
)

// Draft is the request of sweep files, or of names of tables: a plan before its data are
// looked at.
type Draft struct {
	Options                     // without a backend
	Name     string             // short, for the output folder
	Named    bool               // Name stands for the overrides, too
	Settings []sweep.Assignment // in the order of the sweeps
	// FilesDType is the element type that the files ask for: that of the trials, unless
	// the command line names one. It is empty where the files disagree.
	FilesDType string
	// Warnings name parameters that are given and do nothing.
	Warnings []string
	// Merged is how many trials the command line made equal to others.
	Merged int
	// Seedless is how many trials would repeat one with another seed, and are left out.
	Seedless int
	// Spec is the search whose first round Settings are; nil for none.
	Spec *search.Spec
}

// OverrideError is a mistake in a name=value argument.
type OverrideError struct{ Err error }

func (e *OverrideError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e *OverrideError) Unwrap() error { return e.Err }

// DTypeError is the error of two sweep files that ask for different element types.
type DTypeError struct {
	Files, DTypes [2]string
}

func (e *DTypeError) Error() string {
	return fmt.Sprintf("%s asks for %s and %s for %s; the trials of a plan have one element type: give --dtype "+
		"(a file without dtype asks for %s)", e.Files[0], e.DTypes[0], e.Files[1], e.DTypes[1], experiment.Float64)
}

// Names returns the names that a sweep file may use.
func Names(book *ledger.Book) sweep.Names {
	return sweep.Names{Experiments: book.Experiments, Tables: book.Names}
}

// ReadSweeps reads sweep files, applies name=value overrides to them, replaces
// their seeds (nil keeps them) and their element type ("" keeps it, and is a
// [*DTypeError] where they disagree), and expands them. A file that names tables only
// stands for the trials that the tables are made of.
func ReadSweeps(book *ledger.Book, files, overrides []string, seeds []int64, dtype string) (*Draft, error) {
	d := &Draft{Options: Options{Overrides: overrides}}
	var sweeps []*sweep.Sweep
	var titles, names []string
	for _, path := range files {
		s, err := sweep.ReadFile(path, Names(book))
		if err != nil {
			return nil, err
		}
		d.Sources = append(d.Sources, sourceOf(path, s.Source))
		for _, f := range s.Included {
			d.Sources = append(d.Sources, sourceOf(f.Path, f.Source))
		}
		d.Tables = append(d.Tables, s.Tables...)
		d.Metrics = appendNew(d.Metrics, s.Metrics)
		names = append(names, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		if s.Title != "" {
			titles = append(titles, s.Title)
		}
		sweeps = append(sweeps, s)
	}
	d.Name, d.Title = strings.Join(names, "+"), strings.Join(titles, "; ")
	if err := d.setDType(sweeps, dtype); err != nil {
		return nil, err
	}
	if err := override(sweeps, overrides); err != nil {
		return nil, &OverrideError{err}
	}
	if err := d.setCommands(sweeps, book.Experiments); err != nil {
		return nil, err
	}
	var arguments []sweep.Argument
	for _, s := range sweeps {
		if seeds != nil {
			s.SetSeeds(seeds)
		}
		x, err := s.Expand()
		if err != nil {
			return nil, err
		}
		expanded := x.Settings
		if len(expanded) == 0 {
			if expanded, err = tableSettings(book, s.Tables, seeds); err != nil {
				return nil, err
			}
		}
		if err := d.search(files, x, len(expanded)); err != nil {
			return nil, err
		}
		d.Settings = append(d.Settings, expanded...)
		d.Warnings, d.Merged = append(d.Warnings, x.Warnings...), d.Merged+x.Merged
		d.Seedless += x.Seedless
		arguments = append(arguments, x.Arguments...)
	}
	return d, d.judge(arguments)
}

// appendNew appends the texts that are not there yet.
func appendNew(to, texts []string) []string {
	for _, t := range texts {
		if !slices.Contains(to, t) {
			to = append(to, t)
		}
	}
	return to
}

// sourceOf names a file by its path and its content.
func sourceOf(path string, text []byte) SweepFile {
	sum := sha256.Sum256(text)
	return SweepFile{Path: path, SHA256: hex.EncodeToString(sum[:])}
}

// setCommands makes the programs of the files a part of the draft, and known as experiments.
func (d *Draft) setCommands(sweeps []*sweep.Sweep, experiments *experiment.Registry) error {
	programs := &command.Frozen{}
	for _, s := range sweeps {
		if err := s.Programs(programs); err != nil {
			return err
		}
	}
	if programs.Folder != "" {
		d.Commands = programs
		programs.Define(experiments)
	}
	return nil
}

// setDType decides on the element type: dtype, or that of the files where it is empty.
func (d *Draft) setDType(sweeps []*sweep.Sweep, dtype string) error {
	for i, s := range sweeps {
		first := sweeps[0]
		switch {
		case i == 0:
			d.FilesDType = s.DType
		case s.DType == first.DType:
		case dtype == "":
			return &DTypeError{Files: [2]string{first.Path, s.Path}, DTypes: [2]string{first.DType, s.DType}}
		default:
			d.FilesDType = ""
		}
	}
	d.DType = cmp.Or(dtype, d.FilesDType)
	return nil
}

// judge refuses a name=value argument with several values that does nothing in any
// sweep, and warns of one with a single value.
func (d *Draft) judge(arguments []sweep.Argument) error {
	judged := map[string]bool{}
	for _, a := range arguments {
		useful := func(b sweep.Argument) bool { return b.Text == a.Text && b.Inert == nil }
		switch {
		case judged[a.Text] || slices.ContainsFunc(arguments, useful):
		case a.Varies:
			return &OverrideError{fmt.Errorf("%s: %w", a.Text, sweep.Varies(a.Inert))}
		default:
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s", a.Text, a.Inert))
		}
		judged[a.Text] = true
	}
	return nil
}

// override applies name=value arguments. Each must apply to one of the sweeps
// at least; the others' experiments may lack the parameter.
func override(sweeps []*sweep.Sweep, assignments []string) error {
	seen := map[string]bool{}
	for _, assignment := range assignments {
		name, _, _ := strings.Cut(assignment, "=")
		if seen[name] {
			return fmt.Errorf("parameter %q is given twice; several values go behind one =, separated by commas", name)
		}
		seen[name] = true
		var known []string // parameters of the sweeps that lack this one
		applied := false
		for _, s := range sweeps {
			err := s.Override(assignment)
			var lacks *experiment.UnknownError
			switch {
			case err == nil:
				applied = true
			case errors.As(err, &lacks):
				known = append(known, lacks.Valid...)
			default:
				return err
			}
		}
		if !applied && len(known) == 0 {
			return fmt.Errorf("%s: the settings of published tables are fixed; a sweep names its experiment in the file "+
				"(`experiment: NAME`, or under runs; see `run help sweep-files`)", assignment)
		}
		if !applied {
			return fmt.Errorf("%s: %w", assignment, experiment.Unknown("parameter", name, known))
		}
	}
	return nil
}

// Listed returns the draft of settings that a command lists, at each of the seeds, in this element type, float64 where
// it is empty. The arguments of the command are its overrides.
func Listed(name, title string, arguments []string, settings []sweep.Assignment, seeds []int64, dtype string) *Draft {
	d := &Draft{Options: Options{Title: title, Overrides: arguments, DType: cmp.Or(dtype, experiment.Float64)},
		Name: name, FilesDType: experiment.Float64}
	for _, s := range settings {
		for _, s.Seed = range seeds {
			d.Settings = append(d.Settings, s)
		}
	}
	return d
}

// ReadTables returns what the named tables are made of, with other seeds than the
// ledger's where seeds is not nil, in this element type, float64 where it is empty.
func ReadTables(book *ledger.Book, tables []string, seeds []int64, dtype string) (*Draft, error) {
	settings, err := tableSettings(book, tables, seeds)
	if err != nil {
		return nil, err
	}
	return &Draft{
		Options: Options{Title: strings.Join(tables, ", "), Tables: tables, DType: cmp.Or(dtype, experiment.Float64)},
		Name:    "table-" + strings.ReplaceAll(strings.Join(tables, "+"), "/", "-"), Settings: settings,
		FilesDType: experiment.Float64,
	}, nil
}

// tableSettings returns the settings of tables. Settings of several tables are
// repeated: they are counted, and merged when the plan is frozen.
func tableSettings(book *ledger.Book, tables []string, seeds []int64) ([]sweep.Assignment, error) {
	var out []sweep.Assignment
	for _, name := range tables {
		trials, err := book.Trials(name)
		if err != nil {
			return nil, err
		}
		if seeds != nil {
			if trials, err = withoutSeeds(trials); err != nil {
				return nil, err
			}
		}
		for _, t := range trials {
			e, err := book.Experiments.Lookup(t.Experiment)
			if err != nil {
				return nil, err
			}
			s := sweep.Assignment{Experiment: e, Params: t.Params, Seed: t.Seed}
			if seeds == nil {
				out = append(out, s)
			}
			for _, s.Seed = range seeds {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// withoutSeeds returns each setting once, without regard to seeds.
func withoutSeeds(all []experiment.Identity) ([]experiment.Identity, error) {
	var out []experiment.Identity
	seen := map[record.SettingID]bool{}
	for _, t := range all {
		id, err := record.IDOfSetting(t.Experiment, t.Params)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, t)
		}
	}
	return out, nil
}

// Plan freezes the draft for a backend, on a machine whose kernels have this class. See
// [New]. The end of ctx ends it.
func (d *Draft) Plan(ctx context.Context, data *Datasets, backend, blasClass string) (*Plan, error) {
	opts := d.Options
	opts.Backend, opts.BLASClass = backend, blasClass
	return freeze(ctx, d.Settings, data, opts)
}

// Folder returns a name for the output folder. Where other settings than the
// files' are asked for, which make another plan, a hash of them is part of it;
// seeds is the text that replaces the files' seeds, "" where none does. The name ends
// with a backend other than the CPU.
func (d *Draft) Folder(seeds, backend string) string {
	name := d.Name
	if len(d.Overrides) > 0 && !d.Named || seeds != "" || d.DType != d.FilesDType {
		// Folders had their names when the backend was a part of the hash.
		variant := strings.Join(append(slices.Clone(d.Overrides), seeds, "cpu", d.DType), "\x00")
		sum := sha256.Sum256([]byte(variant))
		name += "-" + hex.EncodeToString(sum[:3])
	}
	if backend != "cpu" {
		name += "-" + backend
	}
	return name
}
