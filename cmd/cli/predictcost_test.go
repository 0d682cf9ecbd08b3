package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner/execute/bench/curves"
	"privkern/runner/experiment"
	"privkern/runner/plan"
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

// A trial is warned of where its processor time is predicted to be over ten minutes, in reach of the measured sizes.
func TestLongTrials(t *testing.T) {
	law := curves.Law{Scale: 100, At: 10_000, Exponent: 1, Error: .1, From: 100, To: 10_000}
	costs := &curves.Costs{Laws: map[string]map[curves.Quantity]map[curves.Axis]curves.Law{"baseline/logistic": {
		curves.Time: {curves.Rows: law}, curves.Memory: {curves.Rows: curves.Law{Scale: 1e15, At: 100, From: 1, To: 1e6}}}}}
	a := catalogued(t)
	for _, c := range []struct {
		rows, repeats string
		want          string
	}{
		{"40000", "10", ""}, // of 400 s, and memory that its own estimate knows better
		{"40000", "30", "2 trials are predicted to take over ten minutes of processor time: baseline/logistic on about " +
			"40,000 × 1 at default settings: about 20m; so large a size was not measured"},
		{"120000", "30", ""}, // twelve times the most measured
	} {
		n, err := strconv.Atoi(c.rows)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "d.csv")
		if err := os.WriteFile(file, []byte("x1,y\n"+strings.Repeat("0.5,a\n0.2,b\n", n/2)), 0o600); err != nil {
			t.Fatal(err)
		}
		trial := lookedUp(t, a, "baseline/logistic")
		trial.Params, err = trial.Experiment.Resolve(map[string]any{"dataset": "csv:" + file, "inputs": "x1",
			"delta": "1e-9", "input_low": "0", "input_high": "1", "repeats": c.repeats})
		if err != nil {
			t.Fatal(err)
		}
		if got := longTrials(t.Context(), costs, []sweep.Assignment{trial, trial}); got != c.want {
			t.Errorf("%s rows: %q, want %q", c.rows, got, c.want)
		}
	}
}

// Trials that have a record are not warned of.
func TestWarnOfPending(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "d.csv")
	if err := os.WriteFile(file, []byte("x1,y\n"+strings.Repeat("0.5,a\n0.2,b\n", 15_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	a := catalogued(t)
	e := lookedUp(t, a, "baseline/logistic").Experiment
	params, err := e.Resolve(map[string]any{"dataset": "csv:" + file, "inputs": "x1", "delta": "1e-9", "input_low": "0",
		"input_high": "1", "repeats": "10000"})
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{}
	for _, key := range []string{"first", "second"} {
		p.Trials = append(p.Trials, plan.Trial{Key: key, Identity: experiment.Identity{Experiment: e.Name, Params: params}})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := a.warnOfPending(ended, dir, p, plan.Shard{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	for _, c := range []struct{ file, want string }{
		{"plan.json", "warning: 2 trials are predicted"},
		{"trials/second.json", "warning: 1 trial is predicted"},
		{"trials/first.json", ""},
	} {
		path := filepath.Join(dir, filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := os.Create(filepath.Join(dir, "said"))
		if err != nil {
			t.Fatal(err)
		}
		a.err = messagesTo(said)
		if err := a.warnOfPending(t.Context(), dir, p, plan.Shard{}); err != nil {
			t.Fatal(err)
		}
		a.err.Flush()
		got, err := os.ReadFile(said.Name())
		if err = errors.Join(err, said.Close()); err != nil || !strings.HasPrefix(string(got), c.want) ||
			(len(got) > 0) != (c.want != "") {
			t.Errorf("with %s: %q %v, want %q", c.file, got, err, c.want)
		}
	}
}
