package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/claims/judge"
	"privkern/runner/record"
	"privkern/runner/show/export"
	"privkern/runner/show/tables"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// pythonWith returns a Python that has the modules, or skips: the one that
// PRIVKERN_PYTHON names, which must, or python3.
func pythonWith(t *testing.T, modules string) string {
	t.Helper()
	tier.Night(t, "other programs read the exports")
	python := os.Getenv("PRIVKERN_PYTHON")
	if python == "" {
		python = "python3"
	}
	out, err := exec.Command(python, "-c", "import "+modules).CombinedOutput()
	switch {
	case err == nil:
	case os.Getenv("PRIVKERN_PYTHON") != "":
		t.Fatalf("PRIVKERN_PYTHON is %s: import %s: %v\n%s", python, modules, err, out)
	default:
		t.Skipf("python3 with %s is not installed: what is exported is not read with it", modules)
	}
	return python
}

// printed runs a script of peers and decodes the JSON that it prints.
func printed(t *testing.T, python, script string, into any, args ...string) {
	t.Helper()
	cmd := exec.Command(python, append([]string{filepath.Join(program.Root(t), "tests", "peers", script)}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%s printed %q: %v", script, out, err)
	}
}

// mixedSweep has two experiments, a failed trial, curves and warnings.
const mixedSweep = `title: "Mixed"
runs:
  - experiment: privacygp/example1
    cases:
      - {noise_variance: 1e308}
      - {xi: 0.5}
  - experiment: cloaking/design
    params: {inputs: synthetic, test_points: 0..84 step 14, solver: gradient, iterations: 50}
tables: [privacygp/figure1]
`

// mixed runs the sweep and returns its output folder and its records.
func mixed(t *testing.T) (string, map[string]*record.Record) {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "mixed.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(mixedSweep), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program.Command(t, "sweep", file, "--out", out, "--quiet")
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 { // one trial fails
		t.Fatalf("%v\n%s", err, text)
	}
	paths, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	if err != nil || len(paths) != 3 {
		t.Fatalf("%d records, %v", len(paths), err)
	}
	records := map[string]*record.Record{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r record.Record
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		records[r.Key] = &r
	}
	return out, records
}

func exported(t *testing.T, args ...string) {
	t.Helper()
	if text, err := program.Command(t, append([]string{"export"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("export %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}

// pandas reads the CSV file by its schema, and pyarrow the Parquet file: both
// have the same types and values, and those of the records.
func TestExportedTrialsInPandas(t *testing.T) {
	python := pythonWith(t, "pandas, pyarrow.parquet")
	out, records := mixed(t)
	dir := t.TempDir()
	parquet, csv := filepath.Join(dir, "trials.parquet"), filepath.Join(dir, "trials.csv")
	exported(t, "parquet", parquet, "--from", out)
	exported(t, "csv", csv, "--from", out)
	var got map[string]float64
	printed(t, python, "trials.py", &got, parquet, csv, export.SchemaPath(csv))
	want := map[string]float64{}
	for _, r := range records {
		for name, v := range r.Metrics {
			want["sum.metric."+name] += v
		}
	}
	if got["rows"] != 3 || got["ok"] != 2 || len(want) == 0 {
		t.Errorf("pandas sees %v rows, %v of them ok", got["rows"], got["ok"])
	}
	for name, v := range want {
		t.Run(name, func(t *testing.T) {
			if g, ok := got[name]; !ok || g != v {
				t.Errorf("%s is %v in pandas, %v in the records", name, g, v)
			}
		})
	}
}

// MLflow lists the experiments and runs of an exported store, through its
// library and through the server that its pages use, with the values of the records.
func TestExportInMLflow(t *testing.T) {
	python := pythonWith(t, "mlflow.tracking")
	out, records := mixed(t)
	dir := filepath.Join(t.TempDir(), "mlruns")
	exported(t, "mlflow", dir, "--from", out)
	args := []string{dir}
	if exec.Command(python, "-c", "import mlflow.server, flask").Run() == nil {
		args = append(args, "serve")
	} else {
		t.Log("mlflow-skinny has no server: only the library is asked")
	}
	type run struct {
		Experiment, Name, Status string
		Params, Tags             map[string]string
		Metrics                  map[string]float64
		History                  map[string][][2]float64
		Artifacts                []string
	}
	var got struct {
		Experiments, Served map[string]int
		Runs                map[string]run
		Page                bool
	}
	printed(t, python, "mlflow_store.py", &got, args...)
	want := map[string]int{"privacygp/example1": 3, "cloaking/design": 2} // with a parent each
	if !maps.Equal(got.Experiments, want) {
		t.Errorf("MLflow sees the runs %v", got.Experiments)
	}
	if len(args) > 1 && (!maps.Equal(got.Served, want) || !got.Page) {
		t.Errorf("its server lists the runs %v, page %v", got.Served, got.Page)
	}
	for key, r := range records {
		seen, ok := got.Runs[key[:32]]
		status := map[record.Status]string{record.OK: "FINISHED", record.Failed: "FAILED"}[r.Status]
		if !ok || seen.Experiment != r.Experiment || seen.Status != status || seen.Tags["privkern.key"] != key {
			t.Errorf("trial %.12s of %s, %s, is %+v", key, r.Experiment, r.Status, seen)
		}
		for name, v := range r.Params {
			text := fmt.Sprint(v)
			if _, isList := v.([]any); isList {
				text = strings.ReplaceAll(text, " ", ",")
			}
			if seen.Params[name] != text {
				t.Errorf("trial %.12s: %s is %q, not %q", key, name, seen.Params[name], text)
			}
		}
		for name, v := range r.Metrics {
			if g, ok := seen.Metrics[name]; !ok || g != v {
				t.Errorf("trial %.12s: %s is %v, not %v", key, name, g, v)
			}
		}
		parent, ok := got.Runs[seen.Tags["mlflow.parentRunId"]]
		if !ok || parent.Name != "sweep: Mixed" || !slices.Contains(parent.Artifacts, "tables") {
			t.Errorf("trial %.12s: the parent is %+v", key, parent)
		}
		for name, s := range r.Series {
			for column, values := range s {
				history := seen.History["series/"+name+"/"+column]
				for i, point := range history {
					if point[1] != float64(values[i]) {
						t.Errorf("trial %.12s: point %d of %s/%s is %v, not %v", key, i, name, column, point, values[i])
					}
				}
			}
		}
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(got.Runs)), func(r run) bool {
		return len(r.History["series/noise_over_age/noise_sd"]) == 7
	}) {
		t.Error("no run has the curve noise_over_age")
	}
}

// Every table of the ledger compiles, alone and with the others, where none of
// its trials has run; and one with values does.
func TestTablesCompileInLaTeX(t *testing.T) {
	tier.Night(t, "LaTeX compiles the tables")
	t.Parallel()
	engine := ""
	for _, name := range []string{"pdflatex", "lualatex"} {
		if _, err := exec.LookPath(name); err == nil {
			engine = name
			break
		}
	}
	if engine == "" {
		t.Skip("neither pdflatex nor lualatex is installed: the tables are not compiled")
	}
	for _, sty := range tables.LaTeXPackages {
		if out, err := exec.Command("kpsewhich", sty+".sty").Output(); err != nil || len(out) == 0 {
			t.Skipf("LaTeX has no package %s: the tables are not compiled", sty)
		}
	}
	c := runner.NewCatalogue(experiments.Papers())
	none, err := judge.Index(func(func(*record.Record) bool) {})
	if err != nil {
		t.Fatal(err)
	}
	var tables []*judge.Evaluation
	names, err := c.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		table, err := c.Book.Table(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := judge.Evaluate(table, c.Experiments, none)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, e)
	}
	dir := t.TempDir()
	if _, err := export.LaTeX(dir, tables); err != nil {
		t.Fatal(err)
	}
	log := compile(t, engine, dir)
	for _, complaint := range []string{"too large for page", "multiply defined"} {
		if strings.Contains(log, complaint) {
			t.Errorf("LaTeX says that something is %s", complaint)
		}
	}
	for _, path := range globbed(t, filepath.Join(dir, "*.tex")) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.Index(string(raw), "U+"); i >= 0 {
			t.Errorf("%s has a character that LaTeX cannot show: %.12s", filepath.Base(path), raw[i:])
		}
	}

	out, _ := mixed(t)
	values := filepath.Join(t.TempDir(), "tex")
	exported(t, "latex", values, "--from", out)
	compile(t, engine, values)

	// A sweep without published tables, on a page and over several.
	file, own := filepath.Join(t.TempDir(), "own.yaml"), filepath.Join(t.TempDir(), "own")
	for _, c := range []string{"[5, 6]", "linspace(1,60,60)"} {
		text := "title: A_title & 100 %\nexperiment: dpgp/gaussian-mechanism\nsweep: {epsilon: " + c + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := program.Command(t, "sweep", file, "--out", own, "--replan", "--quiet").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		exported(t, "latex", values+"-own", "--from", own)
		compile(t, engine, values+"-own")
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
	}
	return paths
}

// compile compiles the document of a folder twice and returns the log.
func compile(t *testing.T, engine, dir string) string {
	t.Helper()
	for range 2 {
		cmd := exec.Command(engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", export.Document)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", engine, err, out[max(0, len(out)-3000):])
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(export.Document, ".tex")+".log"))
	_, pdf := os.Stat(filepath.Join(dir, strings.TrimSuffix(export.Document, ".tex")+".pdf"))
	if err := errors.Join(err, pdf); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
