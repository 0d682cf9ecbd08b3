package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/claims"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/sweep"
)

// Wanted is what sweep files, or names of tables, ask for.
type Wanted struct {
	Name      string // short, for the output folder
	Title     string
	Settings  []sweep.Setting
	Sources   []plan.Source
	Overrides []string
	Tables    []string
	// Warnings name parameters that are given and do nothing.
	Warnings []string
	// Merged is how many trials the command line made equal to others.
	Merged int
}

// OverrideError is a mistake in a name=value argument.
type OverrideError struct{ Err error }

func (e *OverrideError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e *OverrideError) Unwrap() error { return e.Err }

// ReadSweeps reads sweep files, applies name=value overrides to them, replaces
// their seeds (nil keeps them), and expands them. A file that names tables
// only stands for the trials that the tables are made of.
func (c *Catalogue) ReadSweeps(files, overrides []string, seeds []int64) (*Wanted, error) {
	w := &Wanted{Overrides: overrides}
	var sweeps []*sweep.Sweep
	var titles, names []string
	for _, path := range files {
		s, err := sweep.ReadFile(path, c.Names())
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(s.Source)
		w.Sources = append(w.Sources, plan.Source{Path: path, SHA256: hex.EncodeToString(sum[:])})
		w.Tables = append(w.Tables, s.Tables...)
		names = append(names, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		if s.Title != "" {
			titles = append(titles, s.Title)
		}
		sweeps = append(sweeps, s)
	}
	w.Name, w.Title = strings.Join(names, "+"), strings.Join(titles, "; ")
	if err := override(sweeps, overrides); err != nil {
		return nil, &OverrideError{err}
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
			if expanded, err = c.tableSettings(s.Tables, seeds); err != nil {
				return nil, err
			}
		}
		w.Settings = append(w.Settings, expanded...)
		w.Warnings, w.Merged = append(w.Warnings, x.Warnings...), w.Merged+x.Merged
		arguments = append(arguments, x.Arguments...)
	}
	return w, w.judge(arguments)
}

// judge refuses a name=value argument with several values that does nothing in any
// sweep, and warns of one with a single value.
func (w *Wanted) judge(arguments []sweep.Argument) error {
	judged := map[string]bool{}
	for _, a := range arguments {
		useful := func(b sweep.Argument) bool { return b.Text == a.Text && b.Inert == nil }
		switch {
		case judged[a.Text] || slices.ContainsFunc(arguments, useful):
		case a.Varies:
			return &OverrideError{fmt.Errorf("%s: %w", a.Text, sweep.Varies(a.Inert))}
		default:
			w.Warnings = append(w.Warnings, fmt.Sprintf("%s: %s", a.Text, a.Inert))
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
		if !applied {
			return fmt.Errorf("%s: %w", assignment, experiment.Unknown("parameter", name, known))
		}
	}
	return nil
}

// ReadTables returns what the named tables are made of, with other seeds than
// the ledger's where seeds is not nil.
func (c *Catalogue) ReadTables(tables []string, seeds []int64) (*Wanted, error) {
	settings, err := c.tableSettings(tables, seeds)
	if err != nil {
		return nil, err
	}
	return &Wanted{
		Name: "table-" + strings.ReplaceAll(strings.Join(tables, "+"), "/", "-"), Title: strings.Join(tables, ", "),
		Settings: settings, Tables: tables,
	}, nil
}

// tableSettings returns the settings that tables are made of. Those that several
// tables have stay: they are counted, and go when the plan is frozen.
func (c *Catalogue) tableSettings(tables []string, seeds []int64) ([]sweep.Setting, error) {
	var out []sweep.Setting
	for _, name := range tables {
		t, err := c.Book.Table(name)
		if err != nil {
			return nil, err
		}
		wanted, err := t.Trials(c.Experiments)
		if err != nil {
			return nil, err
		}
		if seeds != nil {
			wanted = withoutSeeds(wanted)
		}
		for _, w := range wanted {
			e, err := c.Experiments.Lookup(w.Experiment)
			if err != nil {
				return nil, err
			}
			s := sweep.Setting{Experiment: e, Params: w.Params, Seed: w.Seed}
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

// withoutSeeds leaves each setting once, whatever its seeds.
func withoutSeeds(all []claims.Wanted) []claims.Wanted {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(w claims.Wanted) bool {
		id := fmt.Sprintf("%s %v", w.Experiment, w.Params)
		before := seen[id]
		seen[id] = true
		return before
	})
}
