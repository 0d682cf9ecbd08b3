package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner/execute/bench/curves"
	"privkern/runner/plan/sweep"
)

// The program holds the costs of all methods for own data, and their help tells them.
func TestCostsOfAllMethods(t *testing.T) {
	costs, err := curves.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range experiments.ScalingCases() {
		told, err := costOf(c.Experiment)
		if text := strings.Join(told, "\n"); err != nil || costs.Tell(c.Name()) == "" ||
			!strings.Contains(text, costs.Tell(c.Name())) || !strings.Contains(text, "method="+c.Variant) && c.Variant != "" {
			t.Errorf("%s: %q %v", c.Name(), told, err)
		}
	}
	if told, err := costOf("cloaking/hmeq"); told != nil || err != nil {
		t.Errorf("a method that was not measured: %q %v", told, err)
	}
}

// Trials on a terabyte are warned of, and those on a few rows are not.
func TestWarnOfCost(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		bytes int64
		want  string // the beginning
	}{
		{"few", 0, ""},
		{"many", 1 << 40, "warning: 2 trials are predicted to take over ten minutes, or more memory than there is: " +
			"baseline/logistic on "},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(dir, c.name+".csv")
			if err := os.WriteFile(file, []byte("x1,y\n"+strings.Repeat("0.5,a\n0.25,b\n", 30_000)), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.bytes > 0 {
				if err := os.Truncate(file, c.bytes); err != nil {
					t.Skipf("no sparse files: %v", err)
				}
			}
			said, err := os.Create(filepath.Join(dir, "said"))
			if err != nil {
				t.Fatal(err)
			}
			a := catalogued(t)
			a.err = messagesTo(said)
			trial := lookedUp(t, a, "baseline/logistic")
			trial.Params, err = trial.Experiment.Resolve(map[string]any{"dataset": "csv:" + file, "inputs": "x1",
				"delta": "1e-9", "input_low": "0", "input_high": "1"})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.warnOfCost([]sweep.Assignment{trial, trial}, 1<<30); err != nil {
				t.Fatal(err)
			}
			a.err.Flush()
			got, err := os.ReadFile(said.Name())
			if err != nil || !strings.HasPrefix(string(got), c.want) || (len(got) > 0) != (c.want != "") {
				t.Errorf("%q %v, want %q", got, err, c.want)
			}
			if err := said.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
