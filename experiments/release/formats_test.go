package release_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privkern/experiments/internal/schematest"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// formats is the folder of the documented formats.
var formats = filepath.Join("..", "..", "docs", "formats")

func kept(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "released", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Descriptions of released predictions, models and choices have the documented
// form, and none that is spoilt has.
func TestReleasedDescriptions(t *testing.T) {
	schema := filepath.Join(formats, "release.schema.json")
	for _, name := range []string{"predictions.csv.json", "classes.csv.json", "choice-dpgp.json.json",
		"choice-cloaking.json.json", "yield.json.json"} {
		t.Run(name, func(t *testing.T) {
			schematest.CheckStrict(t, schema, kept(t, name), "/params", "/metrics",
				"/release/noise/0/scale?", "/release/noise/0/grid?", "/release/settings?", "/release/settings",
				"/release/settings/lengthscale?", "/release/settings/sigma?", "/privacy/groups?")
		})
	}
}

// The guarantee of several rows of one person has the documented form.
func TestDescribedGroups(t *testing.T) {
	raw := replaced(t, string(kept(t, "yield.json.json")), `"rng": "secure"`,
		`"rng": "secure", "groups": [{"rows": 2, "epsilon": 2, "delta": 1e-5}]`)
	schematest.CheckStrict(t, filepath.Join(formats, "release.schema.json"), []byte(raw), "/params", "/metrics",
		"/release/noise/0/scale?", "/release/noise/0/grid?", "/privacy/groups?")
}

// Descriptions of exports have the documented form, and none that is
// spoilt has; noise would have the form that it has in releases.
func TestExportedDescriptions(t *testing.T) {
	const none = `"noise": []`
	drawn := regexp.MustCompile(`(?s)"noise": \[.*?\]`).FindString(string(kept(t, "yield.json.json")))
	for _, name := range []string{"obfuscated.json.json", "compression.json.json", "mine.json.json"} {
		t.Run(name, func(t *testing.T) {
			schema := filepath.Join(formats, "export.schema.json")
			raw, err := os.ReadFile(filepath.Join("testdata", "exported", name))
			if err != nil {
				t.Fatal(err)
			}
			for _, noise := range []string{none, drawn} {
				schematest.CheckStrict(t, schema, []byte(replaced(t, string(raw), none, noise)), "/params", "/metrics",
					"/export/noise/0/scale?", "/export/noise/0/grid?")
			}
		})
	}
}

// choices are experiments that choose and the experiments of their choices, with the columns
// that they have where none are given.
var choices = func() *experiment.Registry {
	make := func(name, chooses string, columns bool) *experiment.Experiment {
		run := func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
			return nil, nil
		}
		e := &experiment.Experiment{Untyped: experiment.Untyped{Name: name, Version: 1, Chooses: chooses, Run: run}}
		if columns {
			e.Params = []experiment.Param{
				{Name: "inputs", Kind: experiment.Text, Default: "x", Later: true, Doc: "columns"},
				{Name: "output", Kind: experiment.Text, Default: "y", Later: true, Doc: "a column"},
			}
		}
		return e
	}
	return experiment.NewRegistry(make("cloaking/selection", "cloaking/regression", false),
		make("cloaking/regression", "", false), make("dpgp/hyperparameters", "dpgp/regression", true),
		make("dpgp/regression", "", true))
}()

// Choices that were released have the documented form, written again, too, and are still read.
func TestReleasedChoices(t *testing.T) {
	schema := filepath.Join(formats, "choice.schema.json")
	for _, c := range []struct {
		name, experiment, settings string
	}{
		{"choice-dpgp.json", "dpgp/hyperparameters", `{"lengthscale":200,"sigma":0.3}`},
		{"choice-cloaking.json", "cloaking/selection", `{"kernel_variance":1,"lengthscale":25,"noise_variance":5}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := kept(t, c.name)
			schematest.CheckStrict(t, schema, raw, "/settings", "/settings/kernel_variance?", "/settings/lengthscale?",
				"/privacy/groups?")
			chosen, err := release.ReadConfiguration(filepath.Join("testdata", "released", c.name), choices)
			if err != nil {
				t.Fatal(err)
			}
			settings, err := json.Marshal(chosen.Settings)
			if err != nil || chosen.Experiment != c.experiment || string(settings) != c.settings {
				t.Errorf("%s chose %s, %v", chosen.Experiment, settings, err)
			}
			again, err := json.Marshal(chosen)
			if err != nil {
				t.Fatal(err)
			}
			schematest.Check(t, schema, again)
		})
	}
}

// copyOf puts the kept choice of dpgp and its description, perhaps changed, into a folder.
func copyOf(t *testing.T, change func(file, description string) (string, string)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "choice.json")
	file, description := change(string(kept(t, "choice-dpgp.json")), string(kept(t, "choice-dpgp.json.json")))
	for name, text := range map[string]string{path: file, path + ".json": description} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A choice is taken as it was released; one that was changed, that is something else, or whose
// description is, is refused with the reason.
func TestChangedChoices(t *testing.T) {
	in := func(file bool, old, new string) func(string, string) (string, string) {
		return func(a, b string) (string, string) {
			if file {
				return replaced(t, a, old, new), b
			}
			return a, replaced(t, b, old, new)
		}
	}
	for _, c := range []struct {
		name   string
		change func(file, description string) (string, string)
		want   string
	}{
		{"as it was", func(a, b string) (string, string) { return a, b }, ""},
		{"another value", in(true, `"lengthscale": 200`, `"lengthscale": 100`),
			"settings.lengthscale: it is 100, and not what"},
		{"a setting more", in(true, `"lengthscale": 200`, `"lengthscale": 200, "jitter": 1`), "settings.jitter: it is 1"},
		{"a setting less", in(true, `"lengthscale": 200,`, ""), "settings: there are 1, and 2 in"},
		{"no settings", func(_, b string) (string, string) {
			return `{"choice": "choice/1", "experiment": "dpgp/hyperparameters"}`, b
		}, "settings: there are none"},
		{"another guarantee", in(true, `"guarantee": "(2, 0)-DP"`, `"guarantee": "(1, 0)-DP"`), "privacy: it is not what"},
		{"another experiment", in(true, `"experiment": "dpgp/hyperparameters"`, `"experiment": "cloaking/selection"`),
			"it is a choice by cloaking/selection, and"},
		{"an unknown experiment", in(true, `"experiment": "dpgp/hyperparameters"`, `"experiment": "dpgp/regression"`),
			`it is "dpgp/regression"; choices are by cloaking/selection or dpgp/hyperparameters`},
		{"an unknown member", in(true, `"about"`, `"abouts"`), `unknown member "abouts"`},
		{"a model", func(_, b string) (string, string) { return `{"model": "dpgp/1"}`, b },
			"it is no released choice, which has \"choice\": \"choice/1\" (run trial cloaking/selection or " +
				"dpgp/hyperparameters --release writes one)"},
		{"a budget that is not booked", in(false, `"budget": "booked"`, `"budget": "not booked"`), "is not booked"},
		{"a description of early versions", func(a, b string) (string, string) {
			return a, regexp.MustCompile(`,\s*"settings": \{[^}]*\}`).ReplaceAllString(b, "")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := copyOf(t, c.change)
			_, err := release.ReadConfiguration(path, choices)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.HasPrefix(err.Error(), path)) {
				t.Errorf("error %v; want %s", err, c.want)
			}
		})
	}
}

// replaced replaces a text that is there.
func replaced(t *testing.T, in, old, new string) string {
	t.Helper()
	if !strings.Contains(in, old) {
		t.Fatalf("%s is not in %s", old, in)
	}
	return strings.Replace(in, old, new, 1)
}

// A choice is for releases of its experiment, of the columns that it was made for, with the
// settings that were chosen.
func TestMatches(t *testing.T) {
	chosen, err := release.ReadConfiguration(filepath.Join("testdata", "released", "choice-dpgp.json"), choices)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, experiment string
		over             experiment.Params
		want             string
	}{
		{"as chosen", "dpgp/regression", nil, ""},
		{"the inputs that it has where none are given", "dpgp/regression", experiment.Params{"inputs": nil},
			"it was chosen for inputs=rain, and these are x"},
		{"the output that it has where none is given", "dpgp/regression", experiment.Params{"output": nil},
			"it was chosen for output=yield, and this is y"},
		{"data of a paper", "dpgp/regression", experiment.Params{"dataset": "simulated"},
			"it was chosen on data of your own, and this release is of data of a paper"},
		{"another experiment", "cloaking/regression", nil,
			"it is a choice by dpgp/hyperparameters, for releases of dpgp/regression, and this one is of cloaking/regression"},
		{"other inputs", "dpgp/regression", experiment.Params{"inputs": "rain+ph"},
			"it was chosen for inputs=rain, and these are ph+rain"},
		{"another output", "dpgp/regression", experiment.Params{"output": "ph"},
			"it was chosen for output=yield, and this is ph"},
		{"another value", "dpgp/regression", experiment.Params{"sigma": 0.1},
			"sigma = 0.1, but 0.3 was chosen"},
		{"several values", "dpgp/regression", experiment.Params{"lengthscale": []float64{200, 1}},
			"lengthscale = [200,1], but 200 was chosen"},
		{"the range of the output, and of inducing inputs", "dpgp/regression",
			experiment.Params{"low": 0.0, "high": 9.0, "input_low": 200.0, "input_high": 800.0},
			"it was chosen for a model with input_high=900 high=8, and this one has input_high=800 high=9: give " +
				"input_high=900 high=8"},
		{"other inducing inputs", "dpgp/regression", experiment.Params{"inducing": "auto", "kernel_variance": 0.25},
			"it was chosen for a model with inducing=9 kernel_variance=1, and this one has inducing=auto " +
				"kernel_variance=0.25: give inducing=9 kernel_variance=1"},
		{"the same, as a text", "dpgp/regression", experiment.Params{"inducing": "9", "kernel_variance": 1.0}, ""},
		{"no such setting", "dpgp/regression", experiment.Params{"sigma": nil},
			"it names sigma, a setting that dpgp/regression does not have"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := experiment.Params{"dataset": "csv:other.csv", "inputs": " rain", "output": "yield", "lengthscale": 200.0,
				"sigma": 0.3}
			maps.Copy(p, c.over)
			maps.DeleteFunc(p, func(_ string, v any) bool { return v == nil })
			e, err := choices.Lookup(c.experiment)
			if err != nil {
				t.Fatal(err)
			}
			err = chosen.Matches(e, p)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v; want %s", err, c.want)
			}
		})
	}
}

// A choice on the columns that its experiment has where none are given leaves them out of its
// description; it is for these columns all the same.
func TestMatchesDefaultColumns(t *testing.T) {
	path := copyOf(t, func(file, description string) (string, string) {
		description = replaced(t, description, `"inputs": "rain",`, "")
		return file, replaced(t, description, `"output": "yield",`, "")
	})
	chosen, err := release.ReadConfiguration(path, choices)
	if err != nil {
		t.Fatal(err)
	}
	e, err := choices.Lookup("dpgp/regression")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ inputs, output, want string }{
		{"x", "y", ""}, {"z", "y", "it was chosen for inputs=x, and these are z"},
		{"x", "z", "it was chosen for output=y, and this is z"},
	} {
		p := experiment.Params{"dataset": "csv:a.csv", "inputs": c.inputs, "output": c.output, "lengthscale": 200.0,
			"sigma": 0.3}
		err := chosen.Matches(e, p)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("inputs=%s output=%s: error %v; want %s", c.inputs, c.output, err, c.want)
		}
	}
}
