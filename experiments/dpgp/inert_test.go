package dpgp

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/runner/experiment"
)

// A parameter does nothing exactly where its declaration says so.
func TestWhereParametersApply(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.csv")
	text := "x,y,z\n0,0.1,1\n1,0.9,0\n2,0.2,2\n3,-0.7,1\n4,0.4,0\n5,0.1,3\n"
	if err := os.WriteFile(rows, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	others := map[string][]any{
		"epsilon": {2, "inf"}, "delta": {0.003}, "inducing": {4, "4", []any{-2, 0.5, 2}}, "low": {-2.5, -0.5}, "high": {2.5},
		"lengthscale": {1.3}, "kernel_variance": {1.2}, "n": {50}, "sigma": {0.2}, "r_y": {0.8}, "ratio": {2},
		"bound": {"eq4", "eq7"}, "spacing": {0.5}, "covariance": {"as-published", "corrected"},
		"regularisation": {"corrected", "as-published"}, "rho": {0.2}, "jitter": {0.01}, "strict": {true}, "repeats": {2},
		"cover": {"function"}, "composition": {"split"}, "centre": {"least"}, "alpha": {0.1}, "classes": {4},
		"gamma": {0.3}, "rule": {"as-published", "corrected"}, "sigmas": {"0.1,0.4"}, "lengthscales": {"0.5,2"},
		"inputs": {"z"}, "output": {"z"}, "input_low": {-2}, "input_high": {2}, "holdout": {0.4},
	}
	quiet, list := map[string]any{"epsilon": "inf"}, []any{-3, -2, -1, 0, 1, 2, 3}
	of := func(settings ...map[string]any) map[string]any {
		out := map[string]any{}
		for _, s := range settings {
			for k, v := range s {
				out[k] = v
			}
		}
		return out
	}
	file := map[string]any{"dataset": "csv:rows.csv", "delta": 0.01, "low": -1, "high": 1, "inducing": "3",
		"input_low": 0, "input_high": 5, "repeats": 3, "epsilon": 20}
	for name, c := range map[string]struct {
		small map[string]any
		bases []map[string]any
		held  map[string]string
	}{
		"gaussian-mechanism": {bases: []map[string]any{{}}},
		"sensitivity":        {bases: []map[string]any{{}, {"inducing": list}}},
		// Outputs beyond r_y are there, so that strict does something.
		"inference": {of(map[string]any{"n": 40, "inducing": 3, "r_y": 0.7}),
			[]map[string]any{{}, quiet, {"bound": "eq4"}, {"inducing": list}}, nil},
		"calibration": {map[string]any{"n": 300, "inducing": 5, "r_y": 0.7, "repeats": 8, "jitter": 1e-6, "epsilon": 5},
			[]map[string]any{{}, quiet, {"bound": "eq4"}, {"inducing": list}}, nil},
		"classification": {map[string]any{"n": 60, "inducing": 4, "repeats": 1, "epsilon": 5},
			[]map[string]any{{}, quiet, {"bound": "eq4"}, {"inducing": list}}, nil},
		"hyperparameters": {map[string]any{"n": 200, "inducing": 7, "repeats": 3, "gamma": 0.2,
			"epsilon": 5000, "delta": 0.01,
			"sigmas": "0.1,0.3", "lengthscales": "1,2"},
			[]map[string]any{{}, quiet, {"bound": "eq4"}, {"inducing": list}}, nil},
		"regression": {map[string]any{"repeats": 1, "inducing": "3"}, []map[string]any{
			{"low": -1, "high": 1, "input_low": -3, "input_high": 3},
			{"low": -1, "high": 1, "epsilon": "inf", "input_low": -3, "input_high": 3}, file,
			of(file, map[string]any{"inducing": "csv:rows.csv"}),
		}, map[string]string{"dataset": "the bases vary it"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := experiment.NewRegistry(Paper().Experiments...).Lookup("dpgp/" + name)
			if err != nil {
				t.Fatal(err)
			}
			bases := make([]map[string]any, len(c.bases))
			for i, b := range c.bases {
				bases[i] = of(c.small, b)
			}
			inert.Trials{Experiment: e, Bases: bases, Others: others, Held: c.held,
				Run: func(p experiment.Params) (*experiment.Result, error) {
					trial := setup{}.trial(p)
					trial.Dataset = func(string) string { return rows }
					return e.Run(context.Background(), trial)
				}}.Check(t)
		})
	}
}
