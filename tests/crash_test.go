package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"privkern/runner/record"
)

// slowSweep has 24 trials that take some hundredths of a second each.
const slowSweep = `title: "Slow"
experiment: cloaking/design
params: {inputs: synthetic, test_points: 0..84 step 14, solver: gradient, iterations: 300}
sweep:
  learning_rate: linspace(0.02,0.05,12)
  noise_variance: [1, 2]
`

// newSweep writes the sweep file and returns the command that runs it into out.
func newSweep(t *testing.T) (out string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "slow.yaml")
	if err := os.WriteFile(file, []byte(slowSweep), 0o600); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(dir, "out")
	return out, func(args ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"sweep", file, "--out", out, "--output", "csv"}, args...)...)
	}
}

// finished counts the records in an output folder.
func finished(t *testing.T, out string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// waitFor waits until that many records are there.
func waitFor(t *testing.T, out string, n int) {
	t.Helper()
	for range 3000 {
		if finished(t, out) >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d records after 30 s; waited for %d", finished(t, out), n)
}

// metrics reads what is the same for every run of a sweep: status and metrics
// by key, without times.
func metrics(t *testing.T, out string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var r record.Record
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatalf("%s is not a whole record: %v", f, err)
		}
		delete(r.Metrics, "time_s")
		text, err := json.Marshal([]any{r.Status, r.Metrics, r.Series})
		if err != nil {
			t.Fatal(err)
		}
		all[r.Key] = string(text)
	}
	return all
}

func sameMetrics(t *testing.T, got, want map[string]string) {
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

// events counts the events of a kind in an output folder's log.
func events(t *testing.T, out, kind string) int {
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

// undisturbed runs the sweep once in peace; the other tests compare with it.
var undisturbed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(filepath.Dir(program), "undisturbed-") // removed by TestMain
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "slow.yaml")
	if err := os.WriteFile(file, []byte(slowSweep), 0o600); err != nil {
		return "", err
	}
	return dir, exec.Command(program, "sweep", file, "--out", filepath.Join(dir, "out"), "--jobs", "1").Run()
})

func reference(t *testing.T) map[string]string {
	t.Helper()
	dir, err := undisturbed()
	if err != nil {
		t.Fatal(err)
	}
	m := metrics(t, filepath.Join(dir, "out"))
	if len(m) != 24 {
		t.Fatalf("the undisturbed sweep has %d records", len(m))
	}
	return m
}

// A runner that is killed loses the trials that were running and nothing else;
// the same command finishes, with the results of an undisturbed run.
func TestKilledRunner(t *testing.T) {
	want := reference(t)
	out, command := newSweep(t)
	for _, n := range []int{1, 7, 15} {
		cmd := command()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, out, n)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		before := finished(t, out)
		// The workers end with their runner: nothing appears afterwards.
		time.Sleep(200 * time.Millisecond)
		if after := finished(t, out); after != before {
			t.Errorf("%d records appeared after the runner was killed", after-before)
		}
	}
	if msg, err := command().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	sameMetrics(t, metrics(t, out), want)
	if left, _ := filepath.Glob(filepath.Join(out, "trials", ".*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// SIGINT and SIGTERM stop in an orderly way: status 130, and the same command
// goes on.
func TestSignals(t *testing.T) {
	want := reference(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		out, command := newSweep(t)
		cmd := command()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, out, 3)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 130 {
			t.Errorf("%v: %v", signal, err)
		}
		if !strings.Contains(stderr.String(), "the same command goes on") {
			t.Errorf("%v: %s", signal, stderr.String())
		}
		if n := finished(t, out); n < 3 || n >= len(want) {
			t.Errorf("%v: %d records", signal, n)
		}
		if msg, err := command().CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		sameMetrics(t, metrics(t, out), want)
	}
}

// Two runners on one folder share the work: every trial is started once, and
// both end with all results.
func TestTwoRunnersOnOneFolder(t *testing.T) {
	want := reference(t)
	out, command := newSweep(t)
	var wg sync.WaitGroup
	outputs := make([][]byte, 2)
	for i := range outputs {
		wg.Go(func() {
			var err error
			if outputs[i], err = command("--jobs", "1").Output(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !bytes.Equal(outputs[0], outputs[1]) || len(outputs[0]) == 0 {
		t.Error("the two runners print different tables")
	}
	if n := events(t, out, "started"); n != len(want) {
		t.Errorf("%d trials were started %d times", len(want), n)
	}
	sameMetrics(t, metrics(t, out), want)
}

// The number of workers changes no result.
func TestNumberOfWorkers(t *testing.T) {
	want := reference(t)
	out, command := newSweep(t)
	if msg, err := command("--jobs", "4").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	sameMetrics(t, metrics(t, out), want)
}

// A trial that takes too long is ended and is a failure; the others are kept,
// and --retry failed runs it again.
func TestTimeout(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "runaway.yaml")
	const text = `experiment: cloaking/design
params: {inputs: synthetic, test_points: 0..84 step 14, solver: gradient}
cases:
  - {iterations: 10}
  - {iterations: 100000000, learning_rate: 0.000000001}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	cmd := exec.Command(program, "sweep", file, "--out", out, "--timeout", "8s")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(stderr.String(), "timed out after 8s") {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	if !strings.Contains(stderr.String(), "1 ok, 1 failed") {
		t.Errorf("the other trial is not kept:\n%s", stderr.String())
	}
}

// A full disk ends the run with a message; what was finished stays, and with
// more space the same command goes on.
func TestFullDisk(t *testing.T) {
	want := reference(t)
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	mount := func(options string) error {
		return exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", disk).Run()
	}
	if err := mount("size=96k"); err != nil {
		t.Skipf("a small file system cannot be mounted here (%v)", err)
	}
	defer func() { _ = exec.Command("umount", disk).Run() }()
	_, command := newSweep(t)
	onDisk := func() *exec.Cmd { return command("--out", filepath.Join(disk, "out")) }
	cmd := onDisk()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "no space left on device") {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	kept := finished(t, filepath.Join(disk, "out"))
	if kept == 0 || kept >= len(want) {
		t.Fatalf("%d records on the full disk", kept)
	}
	if err := mount("remount,size=10m"); err != nil {
		t.Fatal(err)
	}
	if msg, err := onDisk().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	sameMetrics(t, metrics(t, filepath.Join(disk, "out")), want)
}
