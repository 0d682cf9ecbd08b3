package export_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show/export"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

type noData struct{}

func (noData) Find(string) (string, string, error) { return "", "abc", nil }

// registry offers two experiments that share a parameter of different kinds.
func registry() *experiment.Registry {
	return experiment.NewRegistry(
		experiment.Of(experiment.Declaration[*fitSettings, fitMetrics]{
			Name: "demo/fit", Version: 3, Summary: "A fit", Source: "A. Author (2020)",
			Run: func(context.Context, *experiment.Trial, *fitSettings) (*experiment.Outcome[fitMetrics], error) {
				return nil, errNotRun
			},
			Datasets: func(s *fitSettings) []string {
				if s.Method == "plain" {
					return nil
				}
				return []string{"kung"}
			},
		})().Experiment,
		experiment.Of(experiment.Declaration[*otherSettings, otherMetrics]{
			Name: "demo/other", Version: 1,
			Run: func(context.Context, *experiment.Trial, *otherSettings) (*experiment.Outcome[otherMetrics], error) {
				return nil, errNotRun
			},
		})().Experiment,
	)
}

var errNotRun = errors.New("the tests of this package run no trial")

type fitSettings struct {
	Epsilon float64                  `name:"epsilon" default:"1" infinite:"yes" unit:"nats" doc:"privacy budget"`
	Size    int                      `name:"size" default:"7" doc:"rows"`
	Exact   bool                     `name:"exact" default:"no" doc:"whether nothing is rounded"`
	Method  string                   `name:"method" default:"plain" doc:"how it is fitted"`
	At      []float64                `name:"at" default:"1,2.5" doc:"where it is evaluated"`
	Points  experiment.Points        `name:"points" default:"3" doc:"inducing inputs"`
	Rank    experiment.Or[full, int] `name:"rank" default:"full" doc:"directions that are kept"`
}

type full int

func (full) Choices() []string { return []string{"full"} }

type fitMetrics struct {
	RMSE   float64            `name:"rmse_cm" unit:"cm" doc:"error"`
	Values map[string]float64 `name:"value_at_*" doc:"value_at_0: the value at 0"`
}

type otherSettings struct {
	Size   float64 `name:"size" default:"0.5" doc:"radius"`
	Method int     `name:"method" default:"4" doc:"number of the method"`
}

type otherMetrics struct {
	Gap float64 `name:"gap" doc:"a difference"`
}

// settings are the settings of the demonstration plan.
func settings(t *testing.T) []sweep.Assignment {
	t.Helper()
	var out []sweep.Assignment
	for _, s := range []struct {
		name  string
		given map[string]any
		seed  int64
	}{
		{"demo/fit", map[string]any{"epsilon": "inf", "exact": true}, 0},
		{"demo/fit", map[string]any{"method": "a, \"quoted\"\nname", "rank": 5}, 1},
		{"demo/fit", map[string]any{"points": []any{0.25, 0.75}}, -2},
		{"demo/other", nil, 0},
		{"demo/other", map[string]any{"size": 2}, 9},
	} {
		e, err := registry().Lookup(s.name)
		if err != nil {
			t.Fatal(err)
		}
		params, err := e.Resolve(s.given)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sweep.Assignment{Experiment: e, Params: params, Seed: s.seed})
	}
	return out
}

// output makes an output folder: a good record, one with warnings and privacy,
// a failed one, a skipped one, and a trial that has not run.
func output(t *testing.T) (string, *plan.Plan) {
	t.Helper()
	p, err := plan.New(settings(t), plan.NewDatasets(noData{}),
		plan.Options{Title: "A demonstration", Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(p, registry(), false); err != nil {
		t.Fatal(err)
	}
	for i, complete := range []func(*record.Record){
		func(r *record.Record) {
			r.Metrics = map[string]float64{"rmse_cm": 0.30000000000000004, "value_at_b": 1e300, "value_at_a": -5e-324}
			r.Series = map[string]map[string]record.SeriesColumn{
				"curve":   {"x": {0, 5, 10}, "y": {1.5, math.NaN(), -2}},
				"slope":   {"x": {0.5, 1}, "y": {3, 4}},
				"scatter": {"x": {2, 1}, "y": {3, 4}},
			}
		},
		func(r *record.Record) {
			r.Metrics = map[string]float64{"rmse_cm": 2}
			r.Provenance.BLAS = "OpenBLAS 0.3.21 (ZEN, libopenblas.so.0)"
			r.Warnings = []string{"suspect, \"computed\"", "σ is small"}
			r.Privacy = &experiment.Privacy{Guarantee: "(1, 0.01)-DP", Unit: "one output", Mechanism: "Gaussian", RNG: "seeded",
				Notes: []string{"public inputs"}}
			r.Provenance.Datasets = map[string]string{"kung": "abc"}
		},
		func(r *record.Record) { r.Fail("not positive definite") },
		func(r *record.Record) { r.Skip("the data set is not there") },
	} {
		r := newRecord(t, p.Trials[i])
		complete(r)
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	return dir, p
}

func newRecord(t *testing.T, planned plan.Trial) *record.Record {
	t.Helper()
	params, err := record.PlainParams(planned.Params)
	if err != nil {
		t.Fatal(err)
	}
	e, err := registry().Lookup(planned.Experiment)
	if err != nil {
		t.Fatal(err)
	}
	return &record.Record{
		Schema: record.Schema, Key: planned.Key, Experiment: planned.Experiment, Params: params, Seed: planned.Seed,
		Backend: "cpu", DType: "float64", Status: record.OK, ResultVersion: e.Version, Metrics: map[string]float64{},
		Series:   map[string]map[string]record.SeriesColumn{},
		Privacy:  experiment.Unprotected(false),
		Warnings: []string{}, Timing: record.Timing{WallS: 1.5, CPUS: 1, PeakRSSBytes: 1 << 40},
		Provenance: record.Provenance{Version: "1.2.3", Revision: "0123abc", Go: "go1.26", Datasets: map[string]string{}},
	}
}

func open(t *testing.T, dirs ...string) []*export.Folder {
	t.Helper()
	var out []*export.Folder
	for _, dir := range dirs {
		s, err := export.Open(dir, registry())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

var opts = export.Options{Experiments: registry(), Version: "test"}

// The file is read by the library's reader, which uses the file's
// schema: types, nulls and lists are those of the records.
func TestParquetReadsBack(t *testing.T) {
	dir, p := output(t)
	path := filepath.Join(t.TempDir(), "trials.parquet")
	counts, err := export.Parquet(t.Context(), path, open(t, dir), opts)
	if err != nil {
		t.Fatal(err)
	}
	if counts != (export.Counts{Trials: 5, NotRun: 1}) {
		t.Errorf("counts are %+v", counts)
	}
	type row struct {
		Key       string   `parquet:"key"`
		Seed      int64    `parquet:"seed"`
		Status    string   `parquet:"status"`
		Error     *string  `parquet:"error,optional"`
		Epsilon   *float64 `parquet:"param.epsilon,optional"`
		Size      *float64 `parquet:"param.size,optional"` // an integer in one experiment, a number in the other
		Exact     *bool    `parquet:"param.exact,optional"`
		Method    *string  `parquet:"param.method,optional"` // a text in one, an integer in the other
		At        *string  `parquet:"param.at,optional"`
		Points    *string  `parquet:"param.points,optional"`
		Rank      *string  `parquet:"param.rank,optional"`
		RMSE      *float64 `parquet:"metric.rmse_cm,optional"`
		ValueA    *float64 `parquet:"metric.value_at_a,optional"`
		Guarantee *string  `parquet:"privacy.guarantee,optional"`
		Simulated *string  `parquet:"privacy.simulated,optional"`
		Notes     []string `parquet:"privacy.notes,list"`
		Warnings  []string `parquet:"warnings,list"`
		WallS     *float64 `parquet:"timing.wall_s,optional"`
		PeakRSS   *int64   `parquet:"timing.peak_rss_bytes,optional"`
		GPU       *string  `parquet:"provenance.gpu,optional"`
		Datasets  *string  `parquet:"provenance.datasets,optional"`
		Class     *string  `parquet:"blas_class,optional"`
	}
	rows, err := parquet.ReadFile[row](path)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 5 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, r := range rows {
		if r.Key != p.Trials[i].Key || r.Seed != p.Trials[i].Seed {
			t.Errorf("row %d is of trial %s, seed %d", i, r.Key, r.Seed)
		}
	}
	equal(t, "status", []string{rows[0].Status, rows[1].Status, rows[2].Status, rows[3].Status, rows[4].Status},
		[]string{"ok", "ok", "failed", "skipped", "not_run"})
	equal(t, "epsilon", *rows[0].Epsilon, math.Inf(1))
	if rows[0].Class != nil || rows[4].Class != nil { // a record that names no BLAS, and none
		t.Errorf("BLAS classes %v and %v", rows[0].Class, rows[4].Class)
	}
	equal(t, "BLAS class", *rows[1].Class, "openblas-0.3.21-zen")
	equal(t, "exact", *rows[0].Exact, true)
	equal(t, "method", *rows[1].Method, "a, \"quoted\"\nname")
	equal(t, "method of the other", *rows[3].Method, "4")
	equal(t, "size", *rows[0].Size, 7)
	equal(t, "size of the other", *rows[4].Size, 2)
	equal(t, "at", *rows[0].At, "[1,2.5]")
	equal(t, "a count", *rows[0].Points, "3")
	equal(t, "numbers", *rows[2].Points, "[0.25,0.75]")
	equal(t, "a word", *rows[0].Rank, "full")
	equal(t, "no word", *rows[1].Rank, "5")
	equal(t, "metric", *rows[0].RMSE, 0.30000000000000004)
	equal(t, "a subnormal metric", *rows[0].ValueA, -5e-324)
	equal(t, "warnings", rows[1].Warnings, []string{"suspect, \"computed\"", "σ is small"})
	equal(t, "notes", rows[1].Notes, []string{"no guarantee: seeded noise protects nobody", "public inputs"})
	equal(t, "mechanism", *rows[1].Simulated, "(1, 0.01)-DP per output, seeded")
	equal(t, "error", *rows[2].Error, "not positive definite")
	equal(t, "peak", *rows[0].PeakRSS, 1<<40)
	equal(t, "datasets", *rows[1].Datasets, `{"kung":"abc"}`)
	for what, null := range map[string]bool{
		"epsilon of the other experiment": rows[3].Epsilon == nil, "metric of a failed trial": rows[2].RMSE == nil,
		"error of a good trial": rows[0].Error == nil, "privacy of none": rows[0].Simulated == nil,
		"guarantee of a record of an early version": rows[1].Guarantee == nil,
		"no GPU":                           rows[0].GPU == nil,
		"time of a trial that has not run": rows[4].WallS == nil, "metric that another has": rows[1].ValueA == nil,
	} {
		t.Run(what, func(t *testing.T) {
			if !null {
				t.Errorf("%s is not null", what)
			}
		})
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if errA != nil || errB != nil { // an infinity
		if any(got) != any(want) {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
		return
	}
	if string(a) != string(b) {
		t.Errorf("%s is %s, not %s", what, a, b)
	}
}

// The columns keep an order for readers: identity, parameters, metrics in the
// order of the documentation, then the circumstances.
func TestColumnOrder(t *testing.T) {
	dir, _ := output(t)
	path := filepath.Join(t.TempDir(), "trials.parquet")
	if _, err := export.Parquet(t.Context(), path, open(t, dir), opts); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, field := range file.Schema().Fields() {
		names = append(names, field.Name())
	}
	want := "key experiment result_version seed backend dtype status error param.epsilon param.size param.exact " +
		"param.method param.at param.points param.rank metric.rmse_cm metric.value_at_a metric.value_at_b privacy.guarantee"
	if got := strings.Join(names, " "); !strings.HasPrefix(got, want) {
		t.Errorf("the columns are %s", got)
	}
	if schema, ok := file.Lookup("table_schema"); !ok || !strings.Contains(schema, `"unit": "nats"`) {
		t.Errorf("the metadata table_schema is %q", schema)
	}
}

// Texts that a spreadsheet would run are shown by it, unless they are kept; numbers stay numbers.
func TestCSVWithFormulas(t *testing.T) {
	const method, failure = "=HYPERLINK(\"x\")", "-1+cmd|' /C calc'!A0"
	e, err := registry().Lookup("demo/fit")
	if err != nil {
		t.Fatal(err)
	}
	params, err := e.Resolve(map[string]any{"method": method, "at": []any{-1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New([]sweep.Assignment{{Experiment: e, Params: params, Seed: -2}},
		plan.NewDatasets(noData{}), plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord(t, p.Trials[0])
	r.Fail(failure)
	if err := errors.Join(s.FreezePlan(p, registry(), false), s.Put(r), s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "trials.csv")
		o := opts
		o.KeepFormulas = keep
		if _, err := export.CSV(t.Context(), path, open(t, dir), o); err != nil {
			t.Fatal(err)
		}
		apostrophe := "'"
		if keep {
			apostrophe = ""
		}
		lines := readCSV(t, path)
		for name, want := range map[string]string{"param.method": apostrophe + method, "error": apostrophe + failure,
			"param.at": "[-1,2]", "seed": "-2"} {
			equal(t, name, lines[1][slices.Index(lines[0], name)], want)
		}
	}
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// The CSV file has the same cells, and the types that its schema states.
func TestCSVHasTypesBesideIt(t *testing.T) {
	dir, _ := output(t)
	path := filepath.Join(t.TempDir(), "trials.csv")
	if _, err := export.CSV(t.Context(), path, open(t, dir), opts); err != nil {
		t.Fatal(err)
	}
	lines := readCSV(t, path)
	if len(lines) != 6 {
		t.Fatalf("%d lines", len(lines))
	}
	raw, err := os.ReadFile(export.SchemaPath(path))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Fields        []struct{ Name, Type, Unit, Description string }
		MissingValues []string
		PrimaryKey    string
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for i, field := range schema.Fields {
		types[field.Name] = field.Type
		if lines[0][i] != field.Name {
			t.Errorf("column %d is %s, and %s in the schema", i, lines[0][i], field.Name)
		}
	}
	for name, want := range map[string]string{
		"key": "string", "seed": "integer", "param.epsilon": "number", "param.exact": "boolean",
		"param.at": "string", "param.rank": "string",
		"param.size": "number", "param.method": "string", "metric.rmse_cm": "number", "warnings": "array",
		"provenance.datasets": "object",
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, name, types[name], want)
		})
	}
	cell := func(row int, name string) string { return lines[row+1][slices.Index(lines[0], name)] }
	equal(t, "inf", cell(0, "param.epsilon"), "inf")
	equal(t, "metric", cell(0, "metric.rmse_cm"), "0.30000000000000004")
	equal(t, "quoted", cell(1, "param.method"), "a, \"quoted\"\nname")
	equal(t, "list", cell(1, "warnings"), `["suspect, \"computed\"","σ is small"]`)
	equal(t, "empty list", cell(0, "warnings"), "[]")
	equal(t, "null", cell(4, "metric.rmse_cm"), "")
}

// A trial of two folders is one row, with the good record of the two.
func TestFoldersAreMerged(t *testing.T) {
	first, p := output(t)
	second, _ := output(t)
	s, err := store.Create(disk.System, second)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord(t, p.Trials[2]) // failed in the first
	r.Metrics = experiment.MetricValues(fitMetrics{RMSE: 42})
	if err := errors.Join(s.Put(r), s.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trials.csv")
	counts, err := export.CSV(t.Context(), path, open(t, first, second), opts)
	if err != nil || counts.Trials != 5 {
		t.Fatalf("%+v, %v", counts, err)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), ",42,") ||
		strings.Contains(string(raw), "not positive definite") {
		t.Errorf("the good record was not taken (%v):\n%s", err, raw)
	}
}

// A torn record is reported once, and its trial has no result.
func TestTornRecordsAreReported(t *testing.T) {
	dir, p := output(t)
	if err := os.WriteFile(filepath.Join(dir, "trials", p.Trials[0].Key+".json"),
		[]byte(`{"schema":1,`), 0o600); err != nil {
		t.Fatal(err)
	}
	sources := open(t, dir)
	counts, err := export.Parquet(t.Context(), filepath.Join(t.TempDir(), "trials.parquet"), sources, opts)
	if err != nil || counts.NotRun != 2 {
		t.Errorf("%+v, %v", counts, err)
	}
	ignored := export.Ignored(sources)
	if len(ignored) != 1 || !strings.Contains(ignored[0].Reason, "not a whole record") {
		t.Errorf("ignored %v", ignored)
	}
}

func TestEmptyPlan(t *testing.T) {
	dir := t.TempDir()
	p, err := plan.New(nil, nil, plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.FreezePlan(p, registry(), false), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Open(dir, registry()); err == nil || !strings.Contains(err.Error(), "has no trials") {
		t.Errorf("the error is %v", err)
	}
}

// Nothing that something else made is replaced, and an error leaves neither a
// new file nor a temporary one.
func TestOtherFilesStay(t *testing.T) {
	dir, _ := output(t)
	type write func(path string) error
	parquetFile := func(path string) error { _, err := export.Parquet(t.Context(), path, open(t, dir), opts); return err }
	csvFile := func(path string) error { _, err := export.CSV(t.Context(), path, open(t, dir), opts); return err }
	mlflow := func(path string) error {
		_, err := export.MLflow(t.Context(), path, []*export.RunGroup{{Folder: open(t, dir)[0]}}, opts)
		return err
	}
	for name, c := range map[string]struct {
		write write
		file  string // that is there
		text  string
		to    string
		want  string
	}{
		"parquet over notes":   {parquetFile, "trials.parquet", "my notes", "trials.parquet", "no Parquet file"},
		"parquet over CSV":     {parquetFile, "trials", "key,experiment,x", "trials", "no Parquet file"},
		"csv over notes":       {csvFile, "trials.csv", "a,b", "trials.csv", "no CSV file"},
		"csv, other schema":    {csvFile, "trials.schema.json", "{}", "trials.csv", "no Table Schema"},
		"csv to a folder":      {csvFile, "a/b", "", "a", "is a folder"},
		"csv in no folder":     {csvFile, "a", "", "b/trials.csv", "is not a folder"},
		"csv in a file":        {csvFile, "a", "x", "a/trials.csv", "not a directory"},
		"mlflow over a file":   {mlflow, "store", "x", "store", "cannot be used as a folder"},
		"mlflow over a folder": {mlflow, "store/mine.txt", "x", "store", "neither empty nor an MLflow file store"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, c.file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
				os.WriteFile(path, []byte(c.text), 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := c.write(filepath.Join(folder, c.to)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, without %q", err, c.want)
			}
			var left []string
			_ = filepath.WalkDir(folder, func(p string, d os.DirEntry, _ error) error {
				if !d.IsDir() {
					left = append(left, p)
				}
				return nil
			})
			if !slices.Equal(left, []string{path}) {
				t.Errorf("there is now %v", left)
			}
			if raw, err := os.ReadFile(path); err != nil || string(raw) != c.text {
				t.Errorf("the file has become %q (%v)", raw, err)
			}
		})
	}
}

// An export that is interrupted leaves the file of an earlier one as it was.
func TestInterruptedExport(t *testing.T) {
	dir, _ := output(t)
	path := filepath.Join(t.TempDir(), "trials.csv")
	if _, err := export.CSV(t.Context(), path, open(t, dir), opts); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := opts
	o.Progress = func(done, total int) {
		if done == total-1 {
			cancel()
		}
	}
	if _, err := export.CSV(ctx, path, open(t, dir), o); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file has become %q (%v)", after, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 2 {
		t.Errorf("there are now %v (%v)", entries, err)
	}
}
