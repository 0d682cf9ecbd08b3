package release

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// An error in the file of a choice names its path and member, in words of the file.
func TestWrongConfigurations(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"cut off", `{"choice": "choice/1", "sett`, "c.json:1:28: the file ends in the middle: it was cut off"},
		{"empty", ``, "c.json:1:1: the file ends in the middle"},
		{"no number", `{"settings": {"epsilon": NaN}}`, "c.json:1:26: NaN is no number that a file can have"},
		{"a text for a number", `{"choice": "choice/1", "settings": {"epsilon": "1"}}`,
			"c.json: settings: it is a text; a number is required"},
		{"a number too large", `{"choice": "choice/1", "settings": {"epsilon": 1e999}}`,
			"c.json: settings: it is 1e999, which is too large for a number"},
		{"a list for settings", `{"choice": "choice/1", "settings": [1]}`,
			"c.json: settings: it is a list; an object is required"},
		{"a member of another file", `{"choice": "choice/1", "kernel": 1}`, `c.json: unknown member "kernel"; a file of`},
		{"a model", `{"choice": "dpgp/1"}`, `c.json: it is no released choice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadConfiguration(path, choosing())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			var at *model.Error
			if errors.As(err, &at) && strings.Contains(at.Err.Error(), "json") {
				t.Errorf("%v: words of the decoder", err)
			}
		})
	}
}

// choosing are an experiment that chooses and the one that it chooses for.
func choosing() *experiment.Registry {
	run := func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
		return nil, nil
	}
	return experiment.NewRegistry(
		&experiment.Experiment{Untyped: experiment.Untyped{
			Name: "cloaking/selection", Version: 1, Run: run, Chooses: "cloaking/regression"}},
		&experiment.Experiment{Untyped: experiment.Untyped{Name: "cloaking/regression", Version: 1, Run: run}})
}
