package baseline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
)

// kept reads a kept file as a tree of values.
func kept(t *testing.T, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// decode reads a tree of values as a file.
func decode(t *testing.T, file map[string]any) (*model.Model, error) {
	t.Helper()
	raw, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return model.Decode("m.json", raw, Models())
}

// Values of the right kind that no release has are refused in words with their member.
func TestRefuses(t *testing.T) {
	in := func(file map[string]any, member string) map[string]any { return file[member].(map[string]any) }
	for _, c := range []struct {
		path, want string
		spoil      func(file map[string]any)
	}{
		{"ridge/testdata/ridge-1.json", "low[0]: it is -1e+308, too far from the upper end", func(f map[string]any) {
			f["low"], f["high"] = []any{-1e308}, []any{1e308}
		}},
		{"ridge/testdata/ridge-1.json", "output.classes: a file of this format has none", func(f map[string]any) {
			in(f, "output")["classes"] = []any{"u", "v"}
		}},
		{"ebm/testdata/ebm-regression-1.json", "output.classes: there are 0 classes", func(f map[string]any) {
			f["format"], in(f, "output")["centre"], in(f, "output")["scale"] = "baseline/ebm-classification/1", 0, 0
		}},
		{"largest/testdata/largest-class-1.json", "output.classes: there are 1 classes", func(f map[string]any) {
			in(f, "output")["classes"] = []any{"u"}
		}},
		{"largest/testdata/largest-class-1.json", "output.scale: it is 3", func(f map[string]any) {
			in(f, "output")["scale"] = 3
		}},
		{"largest/testdata/largest-class-1.json", "parameters.shares: their sum is 1.1", func(f map[string]any) {
			in(f, "parameters")["shares"] = []any{.2, .9}
		}},
		{"labelnoise/testdata/label-noise-1.json", "parameters.covariance[0][0]: it is -1", func(f map[string]any) {
			in(f, "parameters")["covariance"].([]any)[0].([]any)[0] = -1
		}},
		{"ridge/testdata/ridge-1.json", "parameters.features.frequencies: a list is required", func(f map[string]any) {
			in(in(f, "parameters"), "features")["frequencies"] = nil
		}},
		{"histogram/testdata/histogram-1.json", "parameters.partition.bins: it is 4611686018427387904",
			func(f map[string]any) { // the number of cells would be 2^64
				p := in(f, "parameters")
				p["means"], p["partition"] = []any{}, map[string]any{"columns": []any{1, 1, 0}, "levels": []any{2, 2, 0},
					"bins": 1 << 62}
			}},
	} {
		t.Run(c.want, func(t *testing.T) {
			file := kept(t, c.path)
			c.spoil(file)
			if _, err := decode(t, file); err == nil || !strings.HasPrefix(err.Error(), "m.json: "+c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// numbers calls f with a function that puts a number in the place of each one of a tree.
func numbers(v any, put func(any), f func(was float64, put func(any))) {
	switch v := v.(type) {
	case float64:
		f(v, put)
	case map[string]any:
		for name := range v {
			numbers(v[name], func(new any) { v[name] = new }, f)
		}
	case []any:
		for i := range v {
			numbers(v[i], func(new any) { v[i] = new }, f)
		}
	}
}

// A file with another number in one place is refused, or predicts finite numbers, or an error.
func TestOtherNumbers(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("*", "testdata", "*-1.json"))
	if err != nil || len(paths) != len(Models()) {
		t.Fatalf("%d files of %d formats, %v", len(paths), len(Models()), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file := kept(t, path)
			inputs := len(file["inputs"].([]any))
			x := mat.NewDense(2, inputs, nil)
			x.Set(1, 0, 3)
			numbers(file, nil, func(was float64, put func(any)) {
				defer put(was)
				for _, new := range []any{-1, 0, 1, 3, 1 << 62, -1e308, 1e-320, 1e308} {
					put(new)
					m, err := decode(t, file)
					if err != nil {
						continue
					}
					p, err := m.Predict(t.Context(), x)
					if err == nil && len(p.Rows) != 2 {
						t.Errorf("%v for %g: %d rows", new, was, len(p.Rows))
					}
				}
			})
		})
	}
}
