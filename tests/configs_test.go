package tests

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/text"
	"privkern/tests/program"
)

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

// Every sweep file is valid, and runs every setting of the tables it names, with the seeds
// that they ask for: a user of the repository's own files sees no cell "not run" for want of a
// trial, and none of fewer trials than its table says.
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
		if !tables[name] {
			t.Errorf("no sweep file names the table %s", name)
		}
	}
}

// configs/sweep.schema.json is what `run schema` prints.
func TestSchemaIsCurrent(t *testing.T) {
	c := runner.NewCatalogue(experiments.Papers())
	want, err := sweep.Schema(plan.Names(c.Book))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(program.Root(t), "configs", "sweep.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("configs/sweep.schema.json is out of date; run: go run ./cmd/run schema > configs/sweep.schema.json")
	}
}
