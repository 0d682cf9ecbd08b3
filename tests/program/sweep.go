package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"privkern/runner/record"
)

// Slow is a sweep file of [SlowTrials] trials that take some hundredths of a second each.
const Slow = `title: "Slow"
experiment: cloaking/design
params: {inputs: synthetic, test_points: 0..84 step 14, solver: gradient, iterations: 300}
sweep:
  learning_rate: linspace(0.02,0.05,12)
  noise_variance: [1, 2]
`

// SlowTrials is the number of trials of [Slow].
const SlowTrials = 24

// NewSweep writes [Slow] to a folder of the test's and returns the command that runs it into out.
func NewSweep(t *testing.T) (out string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	return SweepIn(t, t.TempDir(), Slow)
}

// SweepIn writes a sweep file into a folder and returns the command that runs it into out, a
// folder below.
func SweepIn(t *testing.T, dir, text string) (out string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	file := filepath.Join(dir, "sweep.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := Path(t)
	out = filepath.Join(dir, "out")
	return out, func(args ...string) *exec.Cmd {
		return exec.Command(path, append([]string{"sweep", file, "--out", out, "--output", "csv"}, args...)...)
	}
}

// Finished returns the number of records in an output folder.
func Finished(t *testing.T, out string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// WaitFor waits until an output folder has at least n records.
func WaitFor(t *testing.T, out string, n int) {
	t.Helper()
	for range 12000 {
		if Finished(t, out) >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d records after two minutes; waited for %d", Finished(t, out), n)
}

// Records returns the records in an output folder by the names of their files.
func Records(t *testing.T, out string) map[string]*record.Record {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*record.Record{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r := new(record.Record)
		if err := json.Unmarshal(raw, r); err != nil {
			t.Fatalf("%s is not a whole record: %v", f, err)
		}
		all[filepath.Base(f)] = r
	}
	return all
}

// Metrics returns, by key, all of the records in an output folder that is the same for every run
// of a sweep: status, metrics and series as JSON, without times.
func Metrics(t *testing.T, out string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range Records(t, out) {
		delete(r.Metrics, "time_s")
		text, err := json.Marshal([]any{r.Status, r.Metrics, r.Series})
		if err != nil {
			t.Fatal(err)
		}
		all[r.Key] = string(text)
	}
	return all
}

// SameMetrics compares two results of [Metrics].
func SameMetrics(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d trials, not %d", len(got), len(want))
	}
	for key, m := range want {
		if got[key] != m {
			t.Errorf("trial %.12s gave\n%s\nnot\n%s", key, got[key], m)
		}
	}
}

// Events counts the events of a kind in an output folder's log.
func Events(t *testing.T, out, kind string) int {
	t.Helper()
	f, err := os.Open(filepath.Join(out, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if bytes.Contains(s.Bytes(), []byte(`"event":"`+kind+`"`)) {
			n++
		}
	}
	return n
}

// Once returns a function that runs a sweep with the given arguments and nothing that disturbs
// it, the first time it is called, and returns the output folder.
func Once(text string, args ...string) func(*testing.T) (out string) {
	var once sync.Once
	var out string
	return func(t *testing.T) string {
		t.Helper()
		once.Do(func() {
			dir, err := Shared("undisturbed")
			if err != nil {
				t.Fatal(err)
			}
			folder, command := SweepIn(t, dir, text)
			if msg, err := command(args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			out = folder
		})
		if out == "" {
			t.Fatal("the undisturbed sweep failed in another test")
		}
		return out
	}
}

var undisturbed = Once(Slow, "--jobs", "1")

// Reference returns the [Metrics] of [Slow].
func Reference(t *testing.T) map[string]string {
	t.Helper()
	m := Metrics(t, undisturbed(t))
	if len(m) != SlowTrials {
		t.Fatalf("the undisturbed sweep has %d records", len(m))
	}
	return m
}

// ExitsWith wants a command to have ended with that status and message.
func ExitsWith(t *testing.T, err error, stderr []byte, status int, message string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != status || !bytes.Contains(stderr, []byte(message)) {
		t.Fatalf("%v; wanted status %d and %q\n%s", err, status, message, stderr)
	}
}
