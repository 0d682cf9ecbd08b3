package memory

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// largeSweep has 100,000 settings, each a row of the table of metrics.
const largeSweep = `title: "Large"
experiment: privacygp/uniform
params: {points: 3}
sweep:
  c: linspace(0.1,0.5,50000)
  theta: [5, 6]
`

// peakRSS is the most memory that an ended process had, in bytes.
func peakRSS(t *testing.T, cmd *exec.Cmd) int64 {
	t.Helper()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" {
		t.Skip("the memory of an ended process is not known here")
	}
	return usage.Maxrss * 1024
}

// A sweep of 100,000 trials is planned, resumed and turned into tables and a
// report in less than 300 MB.
func TestMemoryOfALargeSweep(t *testing.T) {
	tier.Night(t, "it writes 100,000 files, half a gigabyte")
	const most = 300e6
	out, command := program.SweepIn(t, t.TempDir(), largeSweep)
	measure := func(what string, cmd *exec.Cmd, status int, message string) {
		t.Helper()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != status || !strings.Contains(stderr.String(), message) {
			t.Fatalf("%s: %v, wanted status %d and %q\n%s", what, err, status, message, stderr.String())
		}
		peak := float64(peakRSS(t, cmd))
		t.Logf("%s: %.0f MB", what, peak/1e6)
		if peak > most {
			t.Errorf("%s took %.0f MB; at most %.0f MB are meant", what, peak/1e6, most/1e6)
		}
	}
	// An empty part of the plan: it is frozen, and a single trial runs.
	measure("planning", command("--shard", "1/100000"), 0, "1 ok")
	fill(t, out)
	measure("resuming, tables and report", command(), 0, "100000 of these from before")
	measure("the report alone", program.Command(t, "report", out, "--output", "csv"), 0, "")
}

// fill writes a record for every trial of a plan, made from the only one that
// is there.
func fill(t *testing.T, out string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p plan.Plan
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	path := func(key string) string { return filepath.Join(out, "trials", key+".json") }
	if raw, err = os.ReadFile(path(p.Trials[0].Key)); err != nil {
		t.Fatal(err)
	}
	var r record.Record
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	reason := r.Privacy.Notes[0]
	for i, tr := range p.Trials[1:] {
		r.Key, r.Params, r.Seed = tr.Key, tr.Params, tr.Seed
		for name := range r.Metrics {
			r.Metrics[name] += 1e-6
		}
		r.Timing.WallS = float64(i) * 1e-6
		r.Warnings = []string{"warning number " + strconv.Itoa(i%1000)}
		r.Privacy.Simulated, r.Privacy.Notes = nil, []string{reason + " in trial " + strconv.Itoa(i)}
		if raw, err = record.Encode(&r); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(tr.Key), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
