package commands

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/tests/program"
)

// The description of a release or an export has the members of the kept one, of the same
// types, and package release compares that with docs/formats/release.schema.json or
// export.schema.json: a member that comes or goes changes the schema, too.
func TestFormatOfDescriptions(t *testing.T) {
	data := filepath.Join("testdata", "docs")
	const released, exported = "released", "exported"
	for _, c := range []struct{ folder, kept, args string }{
		{released, "predictions.csv", "cloaking/regression dataset=csv:sites.csv inputs=load+temp output=power low=0 " +
			"high=100 delta=1e-6 lengthscale=20"},
		{released, "classes.csv", "cloaking/classification dataset=csv:patients.csv inputs=age output=ill low=0 high=1 " +
			"delta=1e-6"},
		{released, "yield.json", "dpgp/regression dataset=csv:fields.csv inputs=rain output=yield low=0 high=8 " +
			"input_low=200 input_high=900 lengthscale=200 inducing=3 delta=1e-6"},
		{released, "choice-dpgp.json", "dpgp/hyperparameters dataset=csv:fields.csv inputs=rain output=yield output_low=0 " +
			"output_high=8 input_low=200 input_high=900 lengthscales=50,200 sigmas=0.1"},
		{exported, "obfuscated.json", "privacygp/regression dataset=csv:sites.csv inputs=load output=power " +
			"sensitive=load:20..40 xi=0.3 noise=weak hyperparameters=given lengthscales=20 process_variance=100 " +
			"noise_variance=1 mean=40 resolution=0.1"},
		{exported, "compression.json", "multikernel/learn kernels=linear"},
		{exported, "mine.json", "kahm/classifier dataset=csv:fields.csv inputs=rain+ph output=crop low=200,4 high=900,8 " +
			"n=2 layers=2"},
	} {
		t.Run(c.kept, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), c.kept)
			args := append([]string{"trial"}, strings.Fields(c.args)...)
			if c.folder == exported {
				args = append(args, "--export", out)
			} else {
				args = append(args, "--rng", "secure", "--no-budget", "--release", out)
			}
			cmd := program.Command(t, args...)
			cmd.Dir = data
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			made := membersOf(t, out+".json")
			kept := membersOf(t, filepath.Join(program.Root(t), "experiments", "release", "testdata", c.folder, c.kept+".json"))
			if !slices.Equal(made, kept) {
				t.Errorf("it has the members\n%s\nand the kept one\n%s", made, kept)
			}
		})
	}
}

// membersOf are the places of all members in a file with their types, of a format its value.
// Those of params and metrics are left out: they are settings and metrics of an experiment.
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
				place := at + "/" + name
				kind := fmt.Sprintf("%T", one)
				if name == "format" {
					kind = fmt.Sprint(one)
				}
				if places[place+": "+kind] = true; place != "/params" && place != "/metrics" {
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
