package memory

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user's own data: settings of a trial of each kind.
var (
	ownClasses = map[string]any{"output": "kind", "input_low": 0, "input_high": 10, "lengthscale": 3, "delta": 1e-7,
		"repeats": 1}
	ownOutputs = map[string]any{"output": "y", "low": 0, "high": 1, "input_low": 0, "input_high": 10, "lengthscale": 3,
		"delta": 1e-7, "repeats": 1}
	ownChoice = map[string]any{"output": "y", "output_low": 0, "output_high": 1, "input_low": 0, "input_high": 10,
		"lengthscales": []float64{1, 3}, "sigmas": []float64{0.1}, "repeats": 1}
	ownCompressed = map[string]any{"inputs": "*", "utility": "kind", "privacy": "person", "c": 1000}
)

// estimatedOwn has trials of the user's own data, of files that the test makes.
var estimatedOwn = []struct {
	experiment   string
	args         map[string]any
	rows, inputs int
	over         map[string]any
}{
	{"dpgp/classification", ownClasses, 1000, 2, map[string]any{"inputs": "x1+x2", "inducing": 10}},
	{"dpgp/classification", ownClasses, 10_000, 2, map[string]any{"inputs": "x1+x2", "inducing": 20}},
	{"dpgp/classification", ownClasses, 20_000, 50, map[string]any{"inputs": "*", "inducing": 1}},
	{"dpgp/hyperparameters", ownChoice, 1000, 2, map[string]any{"inputs": "x1+x2", "inducing": 10}},
	{"dpgp/hyperparameters", ownChoice, 50_000, 2, map[string]any{"inputs": "x1+x2", "inducing": 9}},
	{"dpgp/hyperparameters", ownChoice, 20_000, 50, map[string]any{"inputs": "*", "inducing": 1}},
	{"dpgp/regression", ownOutputs, 10_000, 2, map[string]any{"inputs": "x1+x2", "inducing": "20"}},
	{"dpgp/regression", ownOutputs, 100_000, 2, map[string]any{"inputs": "x1+x2", "inducing": "9"}},
	{"dpgp/regression", ownOutputs, 20_000, 50, map[string]any{"inputs": "*", "inducing": "1"}},
	{"multikernel/learn", ownCompressed, 300, 20, nil},
	{"multikernel/learn", ownCompressed, 1200, 40, nil},
	{"multikernel/learn", ownCompressed, 1000, 20, map[string]any{"projection": "rdca"}},
	{"multikernel/learn", ownCompressed, 8000, 10, map[string]any{"nystrom": 500}},
	{"multikernel/learn", ownCompressed, 12_000, 10, map[string]any{"kernels": "linear"}},
}

// Of the user's own data the number of rows and columns is estimated, too.
func TestMemoryEstimatesOfOwnData(t *testing.T) {
	oneByOne(t)
	for _, c := range estimatedOwn {
		name := fmt.Sprintf("%s %d×%d %v", strings.ReplaceAll(c.experiment, "/", " "), c.rows, c.inputs, c.over)
		t.Run(name, func(t *testing.T) {
			args := maps.Clone(c.args)
			maps.Copy(args, c.over)
			args["dataset"] = "csv:" + madeRows(t, c.rows, c.inputs)
			trialSize{c.experiment, args}.compare(t)
		})
	}
}

// madeRows writes a file: inputs x1, x2, ... from 0 to 10, an output y from 0 to 1, and the
// classes kind (a|b|c) and person.
func madeRows(t *testing.T, rows, inputs int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for j := range inputs {
		fmt.Fprintf(&b, "x%d,", j+1)
	}
	b.WriteString("y,kind,person\n")
	for range rows {
		first := rng.Float64()
		for j := range inputs {
			v := first
			if j > 0 {
				v = rng.Float64()
			}
			fmt.Fprintf(&b, "%.4g,", 10*v)
		}
		fmt.Fprintf(&b, "%.3f,%c,p%d\n", first, 'a'+int(3*first), rng.IntN(4))
	}
	path := filepath.Join(t.TempDir(), "made.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
