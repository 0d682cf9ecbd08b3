package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// settingTexts writes settings as "experiment name=value ... #seed", without defaults.
func settingTexts(w *plan.Draft) []string {
	var out []string
	for _, s := range w.Settings {
		out = append(out, fmt.Sprintf("%s #%d", strings.TrimSpace(s.Experiment.Name+" "+s.Experiment.Describe(s.Params)),
			s.Seed))
	}
	return out
}

func TestReadSweeps(t *testing.T) {
	const doubles = "title: Doubles\nexperiment: demo/double\nsweep: {x: [2, 3]}\n"
	const others = "experiment: demo/other\nseeds: 0..1\n"
	const tables = "tables: [demo/table1, demo/table2]\n"
	for _, c := range []struct {
		name      string
		files     []string
		overrides []string
		seeds     []int64
		want      []string
	}{
		{"files in their order", []string{doubles, others}, nil, nil,
			[]string{"demo/double x=2 #0", "demo/double x=3 #0", "demo/other #0", "demo/other #1"}},
		{"other seeds, for all files", []string{doubles, others}, nil, []int64{7},
			[]string{"demo/double x=2 #7", "demo/double x=3 #7", "demo/other #7"}},
		{"an override goes to all files that have the parameter", []string{doubles, others}, []string{"x=5"}, nil,
			[]string{"demo/double x=5 #0", "demo/other x=5 #0", "demo/other x=5 #1"}},
		{"and to no other", []string{others, doubles}, []string{"size=4"}, nil,
			[]string{"demo/other #0", "demo/other #1", "demo/double x=2 size=4 #0", "demo/double x=3 size=4 #0"}},
		{"tables only", []string{tables}, nil, nil,
			[]string{"demo/double #0", "demo/double x=2 #0", "demo/double x=3 #0", "demo/double x=3 #1"}},
		{"tables only, with other seeds than the ledger's", []string{tables}, nil, []int64{8, 9},
			[]string{"demo/double #8", "demo/double #9", "demo/double x=2 #8", "demo/double x=2 #9",
				"demo/double x=3 #8", "demo/double x=3 #9"}}, // each once, though the ledger has x=3 with two seeds
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := plan.ReadSweeps(catalogue(t).Book, write(t, c.files...), c.overrides, c.seeds, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := settingTexts(w); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	w, err := plan.ReadSweeps(catalogue(t).Book, write(t, doubles, others), nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	// SHA-256 by sha256sum(1).
	const digest = "993b03824828366bb2edd048c0cd11c02e70c78699284fe60ea7161461521705"
	if w.Name != "a+b" || w.Title != "Doubles" || len(w.Sources) != 2 || w.Sources[0].SHA256 != digest {
		t.Errorf("name %q, title %q, sources %+v", w.Name, w.Title, w.Sources)
	}
}

func TestReadSweepsRefuses(t *testing.T) {
	for _, c := range []struct {
		overrides []string
		want      string
	}{
		{[]string{"sise=4"}, `sise=4: unknown parameter "sise"; did you mean "size"?`},
		{[]string{"unheard=4"}, `unknown parameter "unheard"; valid: x, size, width`}, // of all files, each once
		{[]string{"x=1", "x=2"}, `parameter "x" is given twice`},
		{[]string{"x=many"}, `"many" is not a number`},
		// although the other file lacks it
		{[]string{"size=1.5"}, `demo/double: parameter "size": "1.5" is not a whole number`},
	} {
		t.Run(strings.Join(c.overrides, " "), func(t *testing.T) {
			_, err := plan.ReadSweeps(catalogue(t).Book, write(t, "experiment: demo/double\n", "experiment: demo/other\n"),
				c.overrides, nil, "")
			var mistake *plan.OverrideError
			if !errors.As(err, &mistake) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.overrides, err, c.want)
			}
		})
	}
}

// The trials of a plan have one element type: that of the command line, or else that of
// all files, where one without asks for float64.
func TestElementTypeOfSweeps(t *testing.T) {
	const silent, double = "experiment: demo/double\n", "dtype: float64\nexperiment: demo/double\n"
	const single, tables = "dtype: float32\nexperiment: demo/other\n", "dtype: float32\ntables: [demo/table1]\n"
	for _, c := range []struct {
		name, given string
		files       []string
		want, asked string
	}{
		{"none", "", []string{silent}, "float64", "float64"},
		{"a file's", "", []string{single}, "float32", "float32"},
		{"that of a file of tables", "", []string{tables}, "float32", "float32"},
		{"two files that agree", "", []string{single, tables}, "float32", "float32"},
		{"a file that says what another means", "", []string{silent, double}, "float64", "float64"},
		{"another than the file's", "float64", []string{single}, "float64", "float32"},
		{"another than that of a silent file", "float32", []string{silent}, "float32", "float64"},
		{"instead of two that disagree", "float32", []string{double, single}, "float32", ""},
		{"instead of three that disagree", "float64", []string{single, silent, tables}, "float64", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := plan.ReadSweeps(catalogue(t).Book, write(t, c.files...), nil, []int64{3}, c.given)
			if err != nil {
				t.Fatal(err)
			}
			if w.DType != c.want || w.FilesDType != c.asked {
				t.Errorf("%q where the files ask for %q, want %q and %q", w.DType, w.FilesDType, c.want, c.asked)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			if _, err := w.Plan(ended, plan.NewDatasets(noData{}), "cpu", ""); !errors.Is(err, context.Canceled) {
				t.Errorf("interrupted: %v", err)
			}
			p, err := w.Plan(t.Context(), plan.NewDatasets(noData{}), "cpu", "")
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range p.Trials {
				if x.DType != c.want || x.Seed != 3 {
					t.Errorf("a trial in %s with seed %d, want %s and 3", x.DType, x.Seed, c.want)
				}
			}
		})
	}
}

func TestFilesOfTwoElementTypesAreRefused(t *testing.T) {
	const single = "dtype: float32\nexperiment: demo/other\n"
	for _, c := range []struct{ name, other, want string }{
		{"float64", "dtype: float64\nexperiment: demo/double\n", "float64"},
		{"none", "experiment: demo/double\n", "float64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := write(t, single, single, c.other)
			_, err := plan.ReadSweeps(catalogue(t).Book, paths, nil, nil, "")
			var differ *plan.DTypeError
			if !errors.As(err, &differ) {
				t.Fatalf("%v", err)
			}
			if want := [2]string{paths[0], paths[2]}; differ.Files != want || differ.DTypes != [2]string{"float32", c.want} {
				t.Errorf("%+v", differ)
			}
			for _, part := range []string{paths[0] + " asks for float32", paths[2] + " for float64", "--dtype"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

func TestReadTables(t *testing.T) {
	w, err := plan.ReadTables(catalogue(t).Book, []string{"demo/table2", "demo/table1"}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := settingTexts(w), []string{"demo/double x=3 #0", "demo/double x=3 #1", "demo/double #0",
		"demo/double x=2 #0"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if w.Name != "table-demo-table2+demo-table1" || !slices.Equal(w.Tables, []string{"demo/table2", "demo/table1"}) {
		t.Errorf("%+v", w)
	}
	for given, want := range map[string]string{"": "float64", "float64": "float64", "float32": "float32"} {
		w, err := plan.ReadTables(catalogue(t).Book, []string{"demo/table1"}, nil, given)
		if err != nil || w.DType != want || w.FilesDType != "float64" {
			t.Errorf("%q: %q, %v", given, w.DType, err)
		}
	}
	var unknown *experiment.UnknownError
	if _, err := plan.ReadTables(catalogue(t).Book, []string{"demo/table3"}, nil, ""); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
}
