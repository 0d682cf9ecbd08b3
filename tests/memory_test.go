package tests

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// What experiments say that a trial takes is near to what it takes.
func TestMemoryEstimates(t *testing.T) {
	for _, c := range []struct {
		experiment string
		args       map[string]any
	}{
		{"cloaking/stripes", map[string]any{"points": 1000}},
		{"cloaking/stripes", map[string]any{"points": 1000, "method": "sparse"}},
		{"cloaking/mnist", map[string]any{"train": 500, "method": "standard"}},
		{"kahm/classifier", map[string]any{"train": 2000, "test": 1000}},
	} {
		e := lookup(t, c.experiment)
		params, err := e.Resolve(c.args)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"trial", c.experiment}
		for name, v := range c.args {
			args = append(args, name+"="+experiment.FormatValue(v))
		}
		out, err := exec.Command(program, args...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		var r record.Record
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		if r.Status == record.Skipped && os.Getenv("PRIVKERN_DATA") == "" {
			t.Logf("%v needs data: set $PRIVKERN_DATA", args)
			continue
		}
		estimate, peak := float64(e.Memory(params)), float64(r.Timing.PeakRSSBytes)
		t.Logf("%v: about %.0f MB, measured %.0f MB", args, estimate/1e6, peak/1e6)
		if r.Status != record.OK || estimate < peak/1.5 || estimate > peak*1.5 {
			t.Errorf("%v is %s: about %.0f MB, measured %.0f MB", args, r.Status, estimate/1e6, peak/1e6)
		}
	}
}

func lookup(t *testing.T, name string) *experiment.Experiment {
	t.Helper()
	for _, p := range experiments.Papers() {
		for _, e := range p.Experiments {
			if e.Name == name {
				return e
			}
		}
	}
	t.Fatalf("there is no experiment %s", name)
	return nil
}

// A trial that does not fit fails before it starts, in its control group too.
func TestTrialThatDoesNotFit(t *testing.T) {
	group := smallGroup(t, 400<<20)
	run := func(args ...string) (string, error) {
		// The shell enters the group and becomes the program.
		script := `echo $$ > "$0/cgroup.procs" && exec "$@"`
		out, err := exec.Command("sh", append([]string{"-c", script, group, program, "trial", "cloaking/stripes"}, args...)...).CombinedOutput()
		return string(out), err
	}
	out, err := run("points=2000")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(out, "needs about 0.5 GiB, 0.") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run("points=50"); err != nil {
		t.Errorf("a small one: %v\n%s", err, out)
	}
	if out, err := run("points=50", "--ignore-memory"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// smallGroup makes a control group with a limit on its memory, where this
// process may.
func smallGroup(t *testing.T, bytes int64) (folder string) {
	t.Helper()
	for _, c := range []struct{ parent, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		folder, err := os.MkdirTemp(c.parent, "privkern-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(folder) })
		if os.WriteFile(folder+"/"+c.limit, []byte(experiment.FormatValue(int(bytes))), 0o600) == nil {
			return folder
		}
	}
	t.Skip("control groups cannot be made here")
	return ""
}
