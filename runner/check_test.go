package runner_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	settings "privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/tests/tier"
)

// finishedFolder is an output folder with the records of three trials and their
// tables.
func finishedFolder(t *testing.T, c *runner.Catalogue) (dir string, p *plan.Plan) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	var wanted []settings.Assignment
	for x := range 3 {
		params, err := double.Resolve(map[string]any{"x": float64(x + 1)})
		if err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, settings.Assignment{Experiment: double.Experiment, Params: params, Seed: int64(x / 2)})
	}
	p, err := plan.New(wanted, nil, plan.Options{Title: "Doubles", Backend: "cpu", DType: "float64",
		Tables: []string{"demo/table1"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(p, c.Experiments, false); err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Trials {
		r, err := trial.Execute(t.Context(), double.Experiment, trial.Job{Key: x.Key, Identity: x.Identity}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	r, err := c.Results(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTables(); err != nil {
		t.Fatal(err)
	}
	return dir, p
}

// files returns the contents of files below a folder, by their relative paths.
func files(t *testing.T, dir string, patterns ...string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = raw
		}
	}
	return all
}

// shown returns the text of the tables and of the settings without a table.
func shown(t *testing.T, r *show.Results) string {
	t.Helper()
	artifacts, err := r.Artifacts()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, a := range artifacts {
		fmt.Fprintf(&b, "%s\n%s\n", a.Path, a.Data)
	}
	return b.String()
}

// After a flip of any bit of a finished folder run check finds it, and the tables of
// the folder are the same, or name a file that was left out, or are refused.
func TestFlippedBits(t *testing.T) {
	tier.Sequential(t)
	flips, rng := tier.Random(t, 1500, 10_000)
	c := catalogue(t)
	dir, _ := finishedFolder(t, c)
	all := files(t, dir, "plan.json", "trials/*", "tables/*")
	var names []string // as often as the file has bytes
	for name, raw := range all {
		for range raw {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	intact, err := c.Results(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := shown(t, intact)
	counts := map[string]int{}
	for range flips {
		name := names[rng.IntN(len(names))]
		raw := bytes.Clone(all[name])
		at, bit := rng.IntN(len(raw)), rng.IntN(8)
		raw[at] ^= 1 << bit
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("bit %d of byte %d of %s", bit, at, name)
		checked, err := c.Check(dir, false, "test")
		if err != nil || !slices.ContainsFunc(checked.Problems, func(p runner.Defect) bool { return p.File == name }) {
			t.Errorf("%s was not found: %+v, %v", what, checked, err)
		}
		kind, _, _ := strings.Cut(name, string(filepath.Separator))
		var r *show.Results
		if kind != "tables" { // which are made anew, and not read
			r, err = c.Results(dir)
		}
		switch {
		case r == nil && err == nil:
			counts["file of a table"]++
		case err != nil && kind == "plan.json":
			counts["plan refused"]++
		case err != nil:
			t.Errorf("%s: %v", what, err)
		case len(r.Store.Asides()) > 0:
			if a := r.Store.Asides()[0]; a.File != name {
				t.Errorf("%s: left out %+v", what, a)
			}
			counts["record left out"]++
		case shown(t, r) != want:
			t.Errorf("%s changed the tables unseen", what)
		default:
			t.Errorf("%s went unseen, though the tables are the same", what)
		}
		if err := os.WriteFile(path, all[name], 0o600); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d flips: %v", flips, counts)
	if len(counts) != 3 {
		t.Error("not every kind of file was hit")
	}
}

// TestCheck damages a finished folder, and wants it found, repaired, and not found
// again.
func TestCheck(t *testing.T) {
	record0 := func(p *plan.Plan) string { return filepath.Join("trials", p.Trials[0].Key+".json") }
	edit := func(dir, name, from, to string) error {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if !bytes.Contains(raw, []byte(from)) {
			return fmt.Errorf("%s has no %q", name, from)
		}
		return os.WriteFile(filepath.Join(dir, name), bytes.Replace(raw, []byte(from), []byte(to), 1), 0o600)
	}
	unseal := func(dir, name string) error {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		text, _, _ := strings.Cut(strings.Replace(string(raw), `"result_version":1,`, "", 1), `,"digest":"`+"")
		if name == "plan.json" {
			text, _, _ = strings.Cut(string(raw), `,"file_digest":`)
		}
		return os.WriteFile(filepath.Join(dir, name), []byte(text+"}\n"), 0o600)
	}
	for _, c := range []struct {
		name     string
		damage   func(dir string, p *plan.Plan) error
		problems []string // file: reason, each a part of one
		after    int      // problems that are left after a repair
		records  int      // after a repair
		text     string   // of Checked, before a repair
	}{
		{"nothing", func(string, *plan.Plan) error { return nil }, nil, 0, 3, "3 3 0 0 false"},
		{"a number in a record", func(dir string, p *plan.Plan) error { return edit(dir, record0(p), `{"y":2}`, `{"y":3}`) },
			[]string{"trials: its digest does not hold", "tables/demo-table1.md: not what the records give",
				"tables/demo-table1.csv: not what",
				"tables/demo-table1.tex: not what", "tables/demo-table1.json: not what", "tables/summary.csv: not what",
				"tables/summary.md: not what"},
			0, 2, "3 3 0 0 false"},
		{"a record of another trial", func(dir string, p *plan.Plan) error {
			raw, err := os.ReadFile(filepath.Join(dir, "trials", p.Trials[2].Key+".json"))
			name := filepath.Join("trials", strings.Repeat("ab", 32)+".json")
			return errors.Join(err, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
		}, []string{"trials: the record of another trial"}, 0, 3, "3 4 0 1 false"},
		{"a record of another plan", func(dir string, _ *plan.Plan) error {
			_, err := recordOfAnotherPlan(t, dir)
			return err
		}, nil, 0, 4, "3 4 0 1 false"},
		{"an unsealed record of another plan", func(dir string, _ *plan.Plan) error {
			name, err := recordOfAnotherPlan(t, dir)
			return errors.Join(err, unseal(dir, name))
		}, nil, 0, 4, "3 4 1 1 false"},
		{"a folder in place of a record", func(dir string, p *plan.Plan) error {
			return errors.Join(os.Remove(filepath.Join(dir, record0(p))), os.Mkdir(filepath.Join(dir, record0(p)), 0o700),
				os.RemoveAll(filepath.Join(dir, "tables")))
		}, []string{"trials: it cannot be read: is a directory"}, 0, 2, "3 3 0 0 false"},
		{"another file among the records", func(dir string, _ *plan.Plan) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "trials", "notes.txt"), nil, 0o600),
				os.WriteFile(filepath.Join(dir, "trials", ".k.json.1.tmp"), nil, 0o600))
		}, []string{"trials/notes.txt: no record of a trial"}, 0, 3, "3 3 0 0 false"},
		{"an unsealed record", func(dir string, p *plan.Plan) error { return unseal(dir, record0(p)) }, nil, 0, 3,
			"3 3 1 0 false"},
		{"an unsealed plan", func(dir string, _ *plan.Plan) error { return unseal(dir, "plan.json") }, nil, 0, 3,
			"3 3 0 0 false"},
		{"a setting in the plan", func(dir string, _ *plan.Plan) error { return edit(dir, "plan.json", `"x":2`, `"x":5`) },
			[]string{"plan.json: its digest does not hold"}, 1, 3, "0 3 0 3 false"},
		{"a setting in an unsealed plan", func(dir string, _ *plan.Plan) error {
			return errors.Join(unseal(dir, "plan.json"), edit(dir, "plan.json", `"x":2`, `"x":5`))
		}, []string{"plan.json: which is not that of its settings"}, 1, 3, "0 3 0 3 false"},
		{"a plan, and an unsealed record of it", func(dir string, p *plan.Plan) error {
			return errors.Join(unseal(dir, record0(p)), edit(dir, "plan.json", `"x":2`, `"x":5`))
		}, []string{"plan.json: its digest does not hold"}, 1, 3, "0 3 1 3 false"},
		{"a setting and the digest of a plan", func(dir string, _ *plan.Plan) error {
			if err := errors.Join(unseal(dir, "plan.json"), edit(dir, "plan.json", `"x":2`, `"x":5`)); err != nil {
				return err
			}
			raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
			if err != nil {
				return err
			}
			if raw, err = record.AppendDigest(raw, plan.DigestMember); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "plan.json"), raw, 0o600)
		}, []string{"plan.json: which is not that of its settings"}, 1, 3, "0 3 0 3 false"},
		{"a number in a table", func(dir string, _ *plan.Plan) error { return edit(dir, "tables/summary.csv", "y", "z") },
			[]string{"tables/summary.csv: not what the records give"}, 0, 3, "3 3 0 0 false"},
		{"a table is missing", func(dir string, _ *plan.Plan) error {
			return os.Remove(filepath.Join(dir, "tables",
				"demo-table1.md"))
		},
			[]string{"tables/demo-table1.md: it is missing"}, 0, 3, "3 3 0 0 false"},
		{"a folder in place of a table", func(dir string, _ *plan.Plan) error {
			file := filepath.Join(dir, "tables", "summary.md")
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		}, []string{"tables/summary.md: it cannot be read: is a directory"}, 0, 3, "3 3 0 0 false"},
		{"a table too many", func(dir string, _ *plan.Plan) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "tables", "demo-table9.md"), nil, 0o600),
				os.WriteFile(filepath.Join(dir, "tables", "README"), nil, 0o600))
		}, []string{"tables/demo-table9.md: the records give no such file"}, 0, 3, "3 3 0 0 false"},
		{"a plot too many", func(dir string, _ *plan.Plan) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "plots"), 0o700), os.WriteFile(filepath.Join(dir, "plots", "a.svg"),
				nil, 0o600))
		}, []string{"plots/a.svg: the records give no such file"}, 0, 3, "3 3 0 0 false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogue := catalogue(t)
			dir, p := finishedFolder(t, catalogue)
			if err := c.damage(dir, p); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir, "plan.json")
			for _, repair := range []bool{false, true} {
				k, err := catalogue.Check(dir, repair, "test")
				if err != nil {
					t.Fatal(err)
				}
				wantProblems(t, k, c.problems, repair)
				if got := fmt.Sprint(k.Trials, k.Records, k.Unsealed, k.Foreign, k.AtWork); got != c.text {
					t.Errorf("found %s, want %s", got, c.text)
				}
			}
			k, err := catalogue.Check(dir, false, "test")
			if err != nil || len(k.Problems) != c.after || k.Unsealed > 0 && k.Trials > 0 || k.Records != c.records {
				t.Errorf("after the repair: %+v, %v", k, err)
			}
			if after := files(t, dir, "plan.json"); c.after > 0 && !bytes.Equal(after["plan.json"], before["plan.json"]) {
				t.Error("a plan that does not hold was changed")
			}
		})
	}
}

// recordOfAnotherPlan writes one and returns its name.
func recordOfAnotherPlan(t *testing.T, dir string) (string, error) {
	t.Helper()
	params, err := double.Resolve(map[string]any{"x": 9})
	if err != nil {
		return "", err
	}
	p, err := plan.New([]settings.Assignment{{Experiment: double.Experiment, Params: params}}, nil,
		plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		return "", err
	}
	key := p.Trials[0].Key
	r, err := trial.Execute(t.Context(), double.Experiment, trial.Job{
		Key:      key,
		Identity: experiment.Identity{Experiment: "demo/double", Params: params, Backend: "cpu", DType: "float64"},
	}, nil, nil)
	if err != nil {
		return "", err
	}
	s, err := store.Create(disk.System, dir)
	if err != nil {
		return "", err
	}
	return filepath.Join("trials", key+".json"), errors.Join(s.Put(r), s.Close())
}

// wantProblems wants one problem for each text "FILE: part of the reason", where
// "trials" is any record.
func wantProblems(t *testing.T, k *runner.Inspection, want []string, repair bool) {
	t.Helper()
	if len(k.Problems) != len(want) {
		t.Errorf("problems %+v, want %q", k.Problems, want)
		return
	}
	for i, p := range k.Problems {
		file, reason, _ := strings.Cut(want[i], ": ")
		if !strings.HasPrefix(p.File, file) || !strings.Contains(p.Reason, reason) {
			t.Errorf("%+v, want %q", p, want[i])
		}
		if done := p.Repair != ""; done != (repair && p.File != "plan.json") {
			t.Errorf("%+v with repair %v", p, repair)
		}
	}
}

// A folder that a runner is at work in is left to it: its trial stays, and tables
// are not looked at.
func TestCheckBesideARunner(t *testing.T) {
	c := catalogue(t)
	dir, p := finishedFolder(t, c)
	key := p.Trials[0].Key
	if err := os.WriteFile(filepath.Join(dir, "trials", key+".json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	busy, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	unlock, ok, err := busy.Lock(key)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	k, err := c.Check(dir, true, "test")
	if err != nil || !k.AtWork || len(k.Problems) != 1 || k.Problems[0].Repair != "" {
		t.Errorf("%+v, %v", k, err)
	}
	unlock()
	k, err = c.Check(dir, true, "test")
	if err != nil || k.AtWork || len(k.Problems) < 2 || !strings.HasPrefix(k.Problems[0].Repair, "put aside as aside") {
		t.Errorf("%+v, %v", k, err)
	}
}

func TestCheckWhatIsNoOutputFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, repair := range []bool{false, true} {
		if k, err := catalogue(t).Check(dir, repair, "test"); err == nil {
			t.Errorf("%+v", k)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}
