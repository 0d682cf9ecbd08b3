package compare_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/compare"
	"privkern/experiments/dataset"
	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// census is the folder of a file of the form of the !Kung census, whose females come first.
func census(t *testing.T) string {
	t.Helper()
	text := "\"height\";\"weight\";\"age\";\"male\"\n"
	for i := range 544 {
		text += fmt.Sprintf("%d;%d;%d;%d\n", 100+i%60, 20+i%40, i%80, min(1, i/287))
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "Howell1.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// settled are the comparisons of a suite.
func settled(t *testing.T, s compare.Suite, folder string) (all []*compare.Contest) {
	t.Helper()
	for _, args := range s.Comparisons {
		r, err := compare.ParseRequest(args)
		if err != nil {
			t.Fatal(err)
		}
		c, err := compare.New(registry, r, folder)
		if err != nil {
			t.Fatal(err)
		}
		c.Published = true
		all = append(all, c)
	}
	return all
}

// Five methods or more take part in every comparison.
func TestSuites(t *testing.T) {
	for _, s := range compare.Suites() {
		t.Run(s.Name, func(t *testing.T) {
			if !strings.HasPrefix(s.Seeds, "0..") || s.Title == "" {
				t.Errorf("%q with the seeds %q", s.Title, s.Seeds)
			}
			var folder string
			if s.Name == "compare/kung" {
				folder = census(t)
			} else {
				if os.Getenv(dataset.DataVariable) == "" {
					t.Skip("needs the data set: set $" + dataset.DataVariable)
				}
				name, _, _ := strings.Cut(strings.TrimPrefix(s.Comparisons[0][0], "dataset="), " ")
				var err error
				if folder, _, err = dataset.NewLocator("").Find(name); err != nil {
					t.Skip(err)
				}
			}
			for i, c := range settled(t, s, folder) {
				if _, err := compare.MeasureOf(c.Task, s.Measure); err != nil {
					t.Error(err)
				}
				if n := len(private(c)); n < 5 {
					t.Errorf("comparison %d has %d methods: %v", i, n, c.Apart)
				}
			}
		})
	}
	if _, ok := compare.SuiteOf("compare/kong"); ok {
		t.Error("there is a suite compare/kong")
	}
}

// Results stand one below the other, without commands for releases; CSV and JSON are one table and one list.
func TestWriteSuite(t *testing.T) {
	s, _ := compare.SuiteOf("compare/kung")
	s.Comparisons = s.Comparisons[4:]
	var all []*compare.Results
	for _, c := range settled(t, s, census(t)) {
		var trials []compare.Trial
		for _, e := range private(c) {
			for _, seed := range seeds {
				trials = append(trials, trial(e, 0, seed, 3+spread[seed], ""))
			}
		}
		m, err := compare.MeasureOf(c.Task, s.Measure)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Judge(trials, seeds, m))
	}
	written := func(f page.Format) string {
		var b strings.Builder
		err := compare.WriteSuite(&b, s, all, f, nil, page.Width)
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, f := range []page.Format{page.Text, page.Markdown} {
		text := written(f)
		for _, want := range []string{"height from age", "height from weight+age", "14 contiguous folds"} {
			if strings.Count(strings.Join(strings.Fields(text), " "), want) != 1 {
				t.Errorf("%s has %q not once:\n%s", f, want, text)
			}
		}
		if strings.Contains(text, "--release") || strings.Contains(text, "for your eyes") {
			t.Errorf("%s releases published data:\n%s", f, text)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(written(page.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines := 1 // the header
	for _, r := range all {
		lines += len(r.Blocks[0].Rows) + 2
	}
	if len(rows) != lines || rows[0][0] != "comparison" || slices.ContainsFunc(rows[1:], func(row []string) bool {
		return !strings.HasPrefix(row[0], "Private methods for set:kung") || row[1] != experiment.UnitOutput
	}) {
		t.Errorf("%d lines, want %d:\n%s", len(rows), lines, written(page.CSV))
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(written(page.JSON)), &list); err != nil || len(list) != 2 {
		t.Errorf("%d in the list, %v", len(list), err)
	}
}

// A method whose noise is stated for one entry takes part where it is named, at the epsilon of a row, and is ranked
// with no other.
func TestEntriesOfRow(t *testing.T) {
	const args = "inputs=x+z output=two input_low=0,0 input_high=40,16 epsilon=1,3 delta=1e-4 "
	c, err := settle(t, 40, args+"methods=baseline/class-means,kahm/classifier")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Entries, func(e *compare.Entry) bool { return e.Experiment == "kahm/classifier" })
	if i < 0 {
		t.Fatalf("it takes no part: %v", c.Apart)
	}
	for name, value := range c.Entries[i].Params[0] {
		text := experiment.FormatValue(value)
		switch name {
		case "epsilon":
			if each := value.(float64); each < .5 || each > .6 {
				t.Errorf("epsilon of an entry is %g, for two of which 1 is asked", each)
			}
		case "low":
			if text != "0" && text != "[0,0]" {
				t.Errorf("the lower bounds are %s", text)
			}
		case "high":
			if text != "[40,16]" {
				t.Errorf("the upper bounds are %s", text)
			}
		}
	}
	var trials []compare.Trial
	for k, e := range private(c) {
		for at := range e.Params {
			for _, seed := range seeds {
				trials = append(trials, compare.Trial{Experiment: e.Experiment, Params: e.Params[at], Seed: seed,
					Metrics: map[string]float64{"accuracy": .6 + .2*float64(k) + .1*spread[seed]}})
			}
		}
	}
	m, err := compare.MeasureOf(c.Task, "")
	if err != nil {
		t.Fatal(err)
	}
	r := c.Judge(trials, seeds, m)
	if n := len(r.Blocks); n != 2 || r.Blocks[1].Protects != compare.UnitInputs || !r.Blocks[1].Less {
		t.Fatalf("%d blocks: %+v", n, r.Blocks)
	}
	if w := r.Winners[0]; w == nil || w.Method != "baseline/class-means" {
		t.Errorf("the winner is %+v", w)
	}
	if text := resultsText(t, r); !strings.Contains(text, "one row's inputs and no class: not ranked") {
		t.Error(text)
	}
}

// resultsText is the text of results on one line.
func resultsText(t *testing.T, r *compare.Results) string {
	t.Helper()
	var b strings.Builder
	err := r.Write(&b, page.Text, quoted, page.Width)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
