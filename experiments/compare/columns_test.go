package compare_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/compare"
	"privkern/experiments/dataset/table"
)

// odd has columns whose names are quoted in lists, and categories; of two the levels cannot be written.
const odd = "a,b,a+b,\"it's, x2\",\"x \"\"1\"\"\",col,dose[mg],flag,bars,one,y\n"

// named makes a comparison of a file of 40 rows with the columns of odd.
func named(t *testing.T, inputs string) *compare.Contest {
	t.Helper()
	text := odd
	for i := range 40 {
		level := []string{"red", "green", "dark, blue"}[i%3]
		text += strings.Join([]string{"1", "2", "3", "4", "5", `"` + level + `"`, []string{"low", "high"}[i%2],
			[]string{"yes", "no"}[i%2], []string{"u|v", "w"}[i%2], "same", []string{"6", "7", "8"}[i%3]}, ",") + "\n"
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := compare.ParseRequest([]string{"dataset=csv:my.csv", "inputs=" + inputs, "output=y", "low=0", "high=9",
		"input_low=0", "input_high=9", "epsilon=1", "delta=1e-4", "methods=dpgp/regression"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.New(registry, r, path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Inputs of a release are names and levels as lists of columns have them, and those of trials are the same but for *.
func TestNamedInputs(t *testing.T) {
	const levels = "[dark, blue|green|red]"
	for _, c := range []struct {
		name, inputs, want string
		columns            []string
		notes              string // all of them
	}{
		{"every", "*", `a+b+"a+b"+"it's, x2"+"x ""1"""+flag`, []string{"a", "b", "a+b", "it's, x2", `x "1"`, "flag"}, ""},
		{"as written", `a, "a+b"`, `a, "a+b"`, []string{"a", "a+b"}, ""},
		{"levels", "a+col,flag", "a+col" + levels + "+flag", []string{"a", "col", "flag"},
			"the levels of col are those of the data; a release publishes their names"},
		{"written levels", "a,col" + levels, "a,col" + levels, []string{"a", "col"}, ""},
		{"levels of a name in brackets", "dose[mg]", `"dose[mg]"[high|low]`, []string{"dose[mg]"},
			"the levels of dose[mg] are those of the data; a release publishes their names"},
		{"levels with a bar", "a+bars", "a+bars", []string{"a", "bars"},
			"the levels of bars cannot be named in a setting, and a release refuses to read them off the data: two or more " +
				"are needed, without the characters [, ] and |"},
		{"one level", "a+one", "a+one", []string{"a", "one"},
			"the levels of one cannot be named in a setting, and a release refuses to read them off the data: two or more " +
				"are needed, without the characters [, ] and |"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := named(t, c.inputs)
			e := x.Entries[0]
			args := x.ReleaseArguments(e, 1)
			if !slices.Contains(args, "inputs="+c.want) {
				t.Errorf("%q, want inputs=%s", args, c.want)
			}
			if got := (table.Spec{Inputs: c.want}).Names(); !slices.Equal(got, c.columns) {
				t.Errorf("columns %q, want %q", got, c.columns)
			}
			trial := c.want
			if c.inputs == table.Every {
				trial = table.Every
			}
			for name, got := range e.Params[0] {
				if name == "inputs" && got != trial {
					t.Errorf("trials have %v, want %s", got, trial)
				}
			}
			if got := strings.Join(x.Notes, "\n"); got != c.notes {
				t.Errorf("notes %s, want %s", got, c.notes)
			}
		})
	}
}
