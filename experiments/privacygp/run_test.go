package privacygp

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"privkern/runner/experiment"
)

// registry holds the paper's experiments; building it checks their definitions.
var registry = experiment.NewRegistry(Paper().Experiments...)

// trial resolves the parameters and returns a trial of the experiment.
func trial(t *testing.T, name string, params map[string]any) (*experiment.Experiment, *experiment.Trial) {
	t.Helper()
	e, err := registry.Lookup("privacygp/" + name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Resolve(params)
	if err != nil {
		t.Fatal(err)
	}
	return e, &experiment.Trial{
		Params: p, Backend: "cpu", DType: "float64", Workers: 2,
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), 1))
		},
	}
}

func run(t *testing.T, name string, params map[string]any) *experiment.Result {
	t.Helper()
	e, trial := trial(t, name, params)
	r, err := e.Run(context.Background(), trial)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
