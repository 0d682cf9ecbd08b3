package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	out, command, err := sweepIn(t.TempDir(), slowSweep)
	if err != nil {
		t.Fatal(err)
	}
	return out, command
}

// sweepIn writes a sweep file into a folder and returns the command that runs
// it into out, a folder below.
func sweepIn(dir, text string) (out string, command func(args ...string) *exec.Cmd, err error) {
	file := filepath.Join(dir, "sweep.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", nil, err
	}
	out = filepath.Join(dir, "out")
	return out, func(args ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"sweep", file, "--out", out, "--output", "csv"}, args...)...)
	}, nil
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
	out, command, err := sweepIn(dir, slowSweep)
	if err != nil {
		return "", err
	}
	return out, command("--jobs", "1").Run()
})

func reference(t *testing.T) map[string]string {
	t.Helper()
	out, err := undisturbed()
	if err != nil {
		t.Fatal(err)
	}
	m := metrics(t, out)
	if len(m) != 24 {
		t.Fatalf("the undisturbed sweep has %d records", len(m))
	}
	return m
}

// SIGINT and SIGTERM stop in an orderly way: status 130, and the same command
// goes on.
func TestSignals(t *testing.T) {
	t.Parallel() // most of it waits
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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

// smallDisk mounts a file system of that size and returns how to give it
// another.
func smallDisk(t *testing.T, size string) (folder string, resize func(size string)) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	mount := func(options string) error {
		return exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder).Run()
	}
	if err := mount("size=" + size); err != nil {
		t.Skipf("a small file system cannot be mounted here (%v)", err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	return folder, func(size string) {
		t.Helper()
		if err := mount("remount,size=" + size); err != nil {
			t.Fatal(err)
		}
	}
}

// exitsWith wants a command to have ended with that status and message.
func exitsWith(t *testing.T, err error, stderr []byte, status int, message string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != status || !bytes.Contains(stderr, []byte(message)) {
		t.Fatalf("%v; wanted status %d and %q\n%s", err, status, message, stderr)
	}
}

// A full disk ends the run with a message; what was finished stays, and with
// more space the same command goes on, as often as it takes. Some of the
// runners are killed, too.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	times, rng := kills(t, 3, 10)
	// Enough for the plan, then for the records, then for tables and report.
	size := 250 << 10
	disk, resize := smallDisk(t, strconv.Itoa(size))
	w := newWitness(t)
	w.out = filepath.Join(disk, "out")
	command := w.command
	w.command = func(...string) *exec.Cmd { return command("--out", w.out) }
	full := 0
	for range 10 * times {
		r := w.start(t)
		if rng.IntN(3) == 0 {
			w.moment(rng, []*runProcess{r})
			r.kill(t, rng)
		}
		<-r.ended
		w.look(t)
		if t.Failed() {
			return
		}
		if !r.killed {
			if r.err == nil {
				break
			}
			exitsWith(t, r.err, r.output.Bytes(), 1, "no space left on device")
			full++
			size += (5<<20)/times + rng.IntN(100<<10)
			resize(strconv.Itoa(size))
		}
	}
	if full == 0 || len(w.records) != manyTrialsCount {
		t.Errorf("the disk was full %d times, and there are %d records", full, len(w.records))
	}
	resize(strconv.Itoa(size + 4<<20)) // new tables are written beside the old ones
	w.finish(t, nil)
}

// A folder that cannot be written is refused at once, with or without records
// in it, and these stay as they are.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	want := reference(t)
	for name, run := range map[string]bool{"empty": false, "with records": true} {
		t.Run(name, func(t *testing.T) {
			disk, _ := smallDisk(t, "10m")
			_, command := newSweep(t)
			out := filepath.Join(disk, "out")
			onDisk := func() *exec.Cmd { return command("--out", out) }
			if run {
				if msg, err := onDisk().CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, msg)
				}
			}
			if err := exec.Command("mount", "-o", "remount,ro", disk).Run(); err != nil {
				t.Skipf("a file system cannot be made read-only here (%v)", err)
			}
			cmd := onDisk()
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			exitsWith(t, err, stderr.Bytes(), 1, "read-only file system")
			if !strings.Contains(stderr.String(), "run: the output folder cannot be") {
				t.Errorf("%s", stderr.String())
			}
			if run {
				sameMetrics(t, metrics(t, out), want)
			}
		})
	}
}
