package tests

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A release's description has the members of the kept one, which package release compares
// with docs/formats/release.schema.json: a member that comes or goes changes the schema, too.
func TestFormatOfDescriptions(t *testing.T) {
	data := filepath.Join("testdata", "docs")
	for _, c := range []struct{ kept, args string }{
		{"predictions.csv", "cloaking/regression dataset=csv:sites.csv inputs=load+temp output=power low=0 high=100 " +
			"delta=1e-6 lengthscale=20"},
		{"classes.csv", "cloaking/classification dataset=csv:patients.csv inputs=age output=ill low=0 high=1 delta=1e-6"},
		{"yield.json", "dpgp/regression dataset=csv:fields.csv inputs=rain output=yield low=0 high=8 input_low=200 " +
			"input_high=900 lengthscale=200 inducing=3 delta=1e-6"},
		{"choice-dpgp.json", "dpgp/hyperparameters dataset=csv:fields.csv inputs=rain output=yield output_low=0 " +
			"output_high=8 input_low=200 input_high=900 lengthscales=50,200 sigmas=0.1"},
	} {
		t.Run(c.kept, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), c.kept)
			args := append([]string{"trial"}, strings.Fields(c.args)...)
			cmd := exec.Command(program, append(args, "--rng", "secure", "--no-budget", "--release", out)...)
			cmd.Dir = data
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			made := membersOf(t, out+".json")
			kept := membersOf(t, filepath.Join("..", "experiments", "release", "testdata", "released", c.kept+".json"))
			if !slices.Equal(made, kept) {
				t.Errorf("it has the members\n%s\nand the kept one\n%s", made, kept)
			}
		})
	}
}

// membersOf are the places of all members in a file, those of params and metrics left out:
// they are settings and metrics of an experiment.
func membersOf(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	var walk func(value any, at string)
	walk = func(value any, at string) {
		switch v := value.(type) {
		case map[string]any:
			for name, one := range v {
				place := fmt.Sprintf("%s/%s", at, name)
				if places[place] = true; place != "/params" && place != "/metrics" {
					walk(one, place)
				}
			}
		case []any:
			for _, one := range v {
				walk(one, at)
			}
		}
	}
	walk(value, "")
	return slices.Sorted(maps.Keys(places))
}
