// Package crash tests that a runner that is killed, starved, limited or disturbed in another way
// loses, doubles and falsifies nothing.
package crash

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"privkern/tests/program"
	"privkern/tests/tier"
)

func TestMain(m *testing.M) { program.Main(m) }

// SIGINT and SIGTERM stop in an orderly way: status 130, and the same command
// goes on.
func TestSignals(t *testing.T) {
	t.Parallel() // most of it waits
	want := program.Reference(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		out, command := program.NewSweep(t)
		cmd := command()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		program.WaitFor(t, out, 3)
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
		if n := program.Finished(t, out); n < 3 || n >= len(want) {
			t.Errorf("%v: %d records", signal, n)
		}
		if msg, err := command().CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		program.SameMetrics(t, program.Metrics(t, out), want)
	}
}

// Two runners on one folder share the work: every trial is started once, and
// both end with all results.
func TestTwoRunnersOnOneFolder(t *testing.T) {
	t.Parallel()
	want := program.Reference(t)
	out, command := program.NewSweep(t)
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
	if n := program.Events(t, out, "started"); n != len(want) {
		t.Errorf("%d trials were started %d times", len(want), n)
	}
	program.SameMetrics(t, program.Metrics(t, out), want)
}

// The number of workers changes no result.
func TestNumberOfWorkers(t *testing.T) {
	t.Parallel()
	want := program.Reference(t)
	out, command := program.NewSweep(t)
	if msg, err := command("--jobs", "4").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	program.SameMetrics(t, program.Metrics(t, out), want)
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
	cmd := program.Command(t, "sweep", file, "--out", out, "--timeout", "3s")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(stderr.String(), "timed out after 3s") {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	if !strings.Contains(stderr.String(), "1 ok, 1 failed") {
		t.Errorf("the other trial is not kept:\n%s", stderr.String())
	}
}

// A full disk ends the run with a message; finished trials stay, and with
// more space the same command goes on, as often as it takes. Some of the
// runners are killed, too.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	tier.Gate(t, "it runs a sweep on a small file system, again and again")
	times, rng := tier.Random(t, 3, 20)
	// Enough for the plan, then for the records, then for tables and report.
	size := 250 << 10
	disk, resize := program.SmallDisk(t, strconv.Itoa(size))
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
			program.ExitsWith(t, r.err, r.output.Bytes(), 1, "no space left on device")
			full++
			size += (5<<20)/times + rng.IntN(100<<10)
			resize(strconv.Itoa(size))
		}
	}
	if full == 0 || len(w.records) != manyTrialsCount {
		t.Errorf("the disk was full %d times, and there are %d records", full, len(w.records))
	}
	resize(strconv.Itoa(size + 4<<20)) // new tables are written next to the old ones
	w.finish(t, nil)
}

// A folder that cannot be written is refused at once, with or without records
// in it, and these stay as they are.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	want := program.Reference(t)
	for name, run := range map[string]bool{"empty": false, "with records": true} {
		t.Run(name, func(t *testing.T) {
			disk, _ := program.SmallDisk(t, "10m")
			_, command := program.NewSweep(t)
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
			program.ExitsWith(t, err, stderr.Bytes(), 1, "read-only file system")
			if !strings.Contains(stderr.String(), "run: the output folder cannot be") {
				t.Errorf("%s", stderr.String())
			}
			if run {
				program.SameMetrics(t, program.Metrics(t, out), want)
			}
		})
	}
}
