package table

import (
	"errors"
	"math"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// An error about a value has its place and the expected form; only judging, which is for the
// operator's eyes, shows its text.
func TestReleasesShowNoValues(t *testing.T) {
	const secret, hidden = "Smith-1969", "has a value that a release does not show"
	rows := func(cells string) string { return "name,dose\n" + cells }
	wide := []byte(rows("1,2\n3," + secret + "\n"))
	array := fileOf(t, "t.npy", npyOf(t, "<f8", false, "(2, 1)", little, []float64{math.Inf(1), 1}))
	type patient struct {
		Dose string `parquet:"dose"`
		Name int64  `parquet:"name"`
	}
	parquet := fileOf(t, "t.parquet", parquetOf(t, []patient{{"0.5", 1}, {secret, 2}}))
	text := func(cells string) string { return fileOf(t, "t.csv", []byte(rows(cells))) }
	for _, c := range []struct {
		name, dataset, path string
		spec                Spec
		value, place, want  string
	}{
		{"a text among numbers", "csv:t.csv", fileOf(t, "t.csv", wide), Spec{Inputs: "dose"}, secret, "t.csv:3:3",
			"expected a number as in line 2"},
		{"a date among numbers", "csv:t.csv", text("1,1969-01-31\n2,3\n"), Spec{Inputs: "dose"}, "1969-01-31", "t.csv:2:3",
			"expected a number as in line 3"},
		{"no number", "csv:t.csv", text("1,2\n2,1969/1/2\n"), Spec{Inputs: "dose"}, "1969/1/2", "t.csv:3:3",
			"expected a date, such as 2020-12-31"},
		{"a decimal comma", "csv:t.csv", text("1,2\n2,\"19,69\"\n"), Spec{Inputs: "dose"}, "19,69", "t.csv:3:3",
			"expected a number with a decimal point"},
		{"none of the levels", "csv:t.csv", text("1,a\n2," + secret + "\n"), Spec{Inputs: "dose[a|b]"}, secret,
			"t.csv:3:3", "which is none of its levels a, b"},
		{"texts as an output", "csv:t.csv", text(secret + ",1\nb,2\n"), Spec{Inputs: "dose", Others: []string{"name"}},
			secret, "t.csv:2:1", "expected a number"},
		{"an infinite number", "npy:t.npy", array, Spec{Inputs: "x1"}, "+Inf", "t.npy: row 1", "expected a finite number"},
		{"a Parquet text", "parquet:t.parquet", parquet, Spec{Inputs: "name", Others: []string{"dose"}}, "0.5",
			"t.parquet: row 1", "expected a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Dataset = c.dataset
			load := func(trial *experiment.Trial) string {
				trial.Dataset = func(string) string { return c.path }
				data, err := c.spec.Load(trial)
				if err == nil && c.spec.Others != nil {
					_, err = data.Numbers(c.spec.Others[0])
				}
				var at *Error
				if !errors.As(err, &at) {
					t.Fatalf("no error with a place: %v", err)
				}
				return err.Error()
			}
			judged := load(&experiment.Trial{})
			released := load(&experiment.Trial{Book: func(experiment.Spending) error { return nil }})
			exported := load(&experiment.Trial{Entropy: strings.NewReader("")})
			if !strings.Contains(judged, c.value) || strings.Contains(judged, hidden) {
				t.Errorf("judging says %s", judged)
			}
			if strings.Contains(released, c.value) || !strings.Contains(released, hidden) || exported != released {
				t.Errorf("a release says %s, an export %s", released, exported)
			}
			for _, text := range []string{judged, released} {
				if !strings.HasPrefix(text, c.place+": column ") || !strings.Contains(text, c.want) {
					t.Errorf("%s; want %s: ... %s", text, c.place, c.want)
				}
			}
		})
	}
}

// Points may be the private rows by mistake: a release or an export that cannot read them names the
// place and hides the value; a trial for judging shows both.
func TestReleasesShowNoPoints(t *testing.T) {
	for _, c := range []struct{ name, text, column, judged, released string }{
		{"a text among numbers", "a\n1\nsecret\n", "a", `p.csv:3:1: column "a" is "secret", expected a number as in line 2`,
			`p.csv:3:1: column "a" has a value that a release does not show, expected a number as in line 2`},
		{"texts", "a\nsecret\nother\n", "a", `p.csv:2:1: column "a" is "secret", expected a number`,
			`p.csv:2:1: column "a" has a value that a release does not show, expected a number`},
		{"none of the levels", "a\nx\nsecret\n", "a=x", `p.csv:3:1: column "a" is "secret", which is none of its levels x`,
			`p.csv:3:1: column "a" has a value that a release does not show, which is none of its levels x`},
		{"no value", "a\n1\nNA\n", "a", `p.csv:3:1: column "a" has no value ("NA"); a row of inputs needs all of them`,
			`p.csv:3:1: column "a" has no value; a row of inputs needs all of them`},
	} {
		t.Run(c.name, func(t *testing.T) {
			load := func(trial *experiment.Trial) string {
				trial.Dataset = func(string) string { return fileOf(t, "p.csv", []byte(c.text)) }
				_, err := LoadPoints(trial, "csv:p.csv", Reading{}, []string{c.column})
				if err == nil {
					return ""
				}
				return err.Error()
			}
			if got := load(&experiment.Trial{}); !strings.HasPrefix(got, c.judged) {
				t.Errorf("judging says %s; want %s", got, c.judged)
			}
			for what, trial := range map[string]*experiment.Trial{
				"a release": {Book: func(experiment.Spending) error { return nil }},
				"an export": {Entropy: strings.NewReader("")},
			} {
				if got := load(trial); !strings.HasPrefix(got, c.released) || strings.Contains(got, "secret") {
					t.Errorf("%s says %s; want %s", what, got, c.released)
				}
			}
		})
	}
}

// A class that is a date stands in no message of a release either.
func TestReleasesShowNoDates(t *testing.T) {
	path := fileOf(t, "t.csv", []byte("name,dose\n2024-01-31,2\n2024-02-01,3\n"))
	for _, c := range []struct {
		trial experiment.Trial
		want  string
	}{
		{experiment.Trial{}, `t.csv:2:1: column "name" is "2024-01-31", a date, which is no class`},
		{experiment.Trial{Entropy: strings.NewReader("")},
			`t.csv:2:1: column "name" has a value that a release does not show, a date, which is no class`},
	} {
		c.trial.Dataset = func(string) string { return path }
		data, err := Spec{Dataset: "csv:t.csv", Inputs: "dose", Others: []string{"name"}}.Load(&c.trial)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := data.Labels("name"); err == nil || err.Error() != c.want {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}
