package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
	for _, s := range sweeps {
		if seeds != nil {
			s.SetSeeds(seeds)
		}
		expanded, err := s.Expand()
		if err != nil {
			return nil, err
		}
		if len(expanded) == 0 {
			if expanded, err = c.tableSettings(s.Tables, seeds); err != nil {
				return nil, err
			}
		}
		w.Settings = append(w.Settings, expanded...)
	}
	return w, nil
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

// tableSettings returns the settings that tables are made of. Repetitions stay:
// they go when the plan is frozen.
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
