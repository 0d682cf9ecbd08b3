package release_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"privkern/experiments/internal/schematest"
	"privkern/experiments/release"
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

// Descriptions that were released beside predictions, models and choices have the documented
// form, and none that is spoilt has.
func TestReleasedDescriptions(t *testing.T) {
	schema := filepath.Join(formats, "release.schema.json")
	for _, name := range []string{"predictions.csv.json", "classes.csv.json", "choice-dpgp.json.json",
		"choice-cloaking.json.json", "yield.json.json"} {
		t.Run(name, func(t *testing.T) {
			schematest.CheckStrict(t, schema, kept(t, name), "/params", "/metrics",
				"/release/noise/0/scale?", "/release/noise/0/grid?")
		})
	}
}

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
			schematest.CheckStrict(t, schema, raw, "/settings", "/settings/kernel_variance?", "/settings/lengthscale?")
			chosen, err := release.ReadConfiguration(filepath.Join("testdata", "released", c.name))
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
