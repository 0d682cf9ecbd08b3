package sweep_test

import (
	"bytes"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
)

// Equal parameters of two experiments stand in the schema once as one value and
// once as a list; other parameters belong to one experiment.
func TestSchemaSharesEqualParameters(t *testing.T) {
	declared := func(name, doc string, low float64) *experiment.Experiment {
		return &experiment.Experiment{Untyped: experiment.Untyped{Name: name, Version: 1, Run: nothing},
			Params: []experiment.Param{
				{Name: "size", Kind: experiment.Number, Default: 30.0, Doc: doc, Min: experiment.Bound(low)},
			}}
	}
	for _, c := range []struct {
		name        string
		doc         string
		low         float64
		definitions int // of the parameter
	}{
		{"equal", "the size", 1, 1},
		{"other words", "a size", 1, 0},
		{"another bound", "the size", 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := sweep.Names{Experiments: experiment.NewRegistry(
				declared("demo/first", "the size", 1), declared("demo/second", c.doc, c.low)),
				Tables: func() ([]string, error) { return nil, nil }}
			raw, err := sweep.Schema(names)
			if err != nil {
				t.Fatal(err)
			}
			again, err := sweep.Schema(names)
			if err != nil || !bytes.Equal(raw, again) {
				t.Errorf("the schema differs from one call to the next: %v", err)
			}
			if got := strings.Count(string(raw), `"demo.first:size": {`); got != c.definitions {
				t.Errorf("%d shared definitions, want %d:\n%s", got, c.definitions, raw)
			}
			texts := strings.Count(string(raw), "the size") + strings.Count(string(raw), "a size")
			if want := 4 - 2*c.definitions; texts != want {
				t.Errorf("the texts stand %d times, want %d:\n%s", texts, want, raw)
			}
		})
	}
}
