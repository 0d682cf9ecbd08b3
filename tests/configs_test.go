package tests

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/text"
	"privkern/tests/program"
)

var update = flag.Bool("update", false, "write the files that follow from the experiments")

// updates is the command that writes them.
const updates = "go generate ./experiments"

// identity names a setting without its seed.
func identity(t *testing.T, s sweep.Assignment) string {
	t.Helper()
	params, err := record.CanonicalParams(s.Params)
	if err != nil {
		t.Fatal(err)
	}
	return s.Experiment.Name + " " + string(params)
}

// seedsOf are the seeds of every setting, by identity.
func seedsOf(t *testing.T, settings []sweep.Assignment) map[string][]int64 {
	t.Helper()
	out := map[string][]int64{}
	for _, s := range settings {
		id := identity(t, s)
		out[id] = append(out[id], s.Seed)
	}
	for id := range out {
		slices.Sort(out[id])
		out[id] = slices.Compact(out[id])
	}
	return out
}

// Every sweep file is valid, and runs every setting of the tables it names, with their
// seeds: a user of the repository's own files sees no cell "not run" for want of a
// trial, and none of fewer trials than its table asks for.
func TestSweepFilesCoverTheirTables(t *testing.T) {
	c := runner.NewCatalogue(experiments.Papers())
	files, err := filepath.Glob(filepath.Join(program.Root(t), "configs", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sweep files: %v", err)
	}
	tables := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, err := sweep.ReadFile(file, plan.Names(c.Book))
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range x.Warnings {
				t.Error(w)
			}
			settings := x.Settings
			for _, name := range s.Tables {
				tables[name] = true
			}
			if len(settings) == 0 { // tables only: the runner takes their trials
				return
			}
			runs := seedsOf(t, settings)
			wanted, err := plan.ReadTables(c.Book, s.Tables, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			asked := seedsOf(t, wanted.Settings)
			told := map[string]bool{}
			for _, w := range wanted.Settings {
				id := identity(t, w)
				if told[id] {
					continue
				}
				told[id] = true
				name := w.Experiment.Name + " " + w.Experiment.Describe(w.Params)
				switch {
				case runs[id] == nil:
					t.Errorf("not run: %s", name)
				case !slices.Equal(runs[id], asked[id]) && !slices.Equal(asked[id], runs[id][:1]): // one will do without draws
					t.Errorf("%s: the file runs the seeds %v, the tables ask for %v", name, text.Ranges(runs[id]),
						text.Ranges(asked[id]))
				}
			}
		})
	}
	names, err := c.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		switch {
		case tables[name]:
		case *update:
			writeSweep(t, c, name)
		default:
			t.Errorf("no sweep file names the table %s; run: %s", name, updates)
		}
	}
}

// writeSweep writes the sweep file of a table.
func writeSweep(t *testing.T, c *runner.Catalogue, table string) {
	t.Helper()
	entry, err := c.Table(table)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`# yaml-language-server: $schema=./sweep.schema.json
# A file that names tables only runs the trials that the tables are made of.
title: %q
tables: [%s]
`, entry.Title, table)
	file := filepath.Join(program.Root(t), "configs", strings.ReplaceAll(table, "/", "-")+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // part of the sources
		t.Fatal(err)
	}
}

// configs/sweep.schema.json is the output of `run schema`.
func TestSchemaIsCurrent(t *testing.T) {
	c := runner.NewCatalogue(experiments.Papers())
	want, err := sweep.Schema(plan.Names(c.Book))
	if err != nil {
		t.Fatal(err)
	}
	current(t, filepath.Join(program.Root(t), "configs", "sweep.schema.json"), want)
}

// current fails where a file does not have the text that follows from the experiments; with
// -update it writes the file.
func current(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	switch {
	case err != nil:
		t.Fatal(err)
	case bytes.Equal(got, want):
	case !*update:
		t.Errorf("%s is out of date; run: %s", file, updates)
	default:
		if err := os.WriteFile(file, want, 0o644); err != nil { //nolint:gosec // part of the sources
			t.Fatal(err)
		}
	}
}
