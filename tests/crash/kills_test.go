package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"privkern/runner/record"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// manyTrials is a sweep of 200 trials that take a millisecond or two each, with
// tables and plots.
const (
	manyTrials = `title: "Many"
runs:
  - experiment: privacygp/uniform
    params: {points: 3}
    sweep:
      c: linspace(0.1,0.5,99)
      theta: [5, 6]
  - experiment: cloaking/reference
    sweep:
      method: [standard, sparse]
tables: [cloaking/reference]
`
	manyTrialsCount = 200
)

// undisturbedMany runs the sweep once in peace.
var undisturbedMany = program.Once(manyTrials)

// A runner that is killed, alone or with its workers, loses the trials that
// were running and nothing else; the same command finishes, and every trial has
// run to its end once, with the results of an undisturbed run.
func TestKilledAtRandomMoments(t *testing.T) {
	t.Parallel() // most of it waits
	for _, c := range []struct {
		name    string
		runners int
		share   int // of the kills by night: one in share
		night   bool
		between func(t *testing.T, rng *rand.Rand, out string)
	}{
		{"one runner", 1, 1, false, nil},
		{"two runners", 2, 8, true, nil},
		{"clocks jump", 1, 8, true, jumpClocks},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.night {
				tier.Night(t, "one runner is killed in every run")
			}
			times, rng := tier.Random(t, 3, 200/c.share)
			w := newWitness(t)
			running := make([]*runProcess, c.runners)
			for done := 0; done < times; done++ {
				for i, r := range running {
					if r == nil || r.over() {
						running[i] = w.start(t)
					}
				}
				w.moment(rng, running)
				for _, i := range rng.Perm(len(running)) {
					if running[i].kill(t, rng); !running[i].killed {
						running[i].check(t)
					}
					running[i] = nil
					if rng.IntN(3) > 0 {
						break // the others go on
					}
				}
				w.look(t)
				if c.between != nil {
					c.between(t, rng, w.out)
				}
				if len(w.records) == manyTrialsCount { // the next kills get a fresh folder
					w.finish(t, running)
					w = newWitness(t)
					clear(running)
				}
				if t.Failed() {
					break
				}
			}
			w.finish(t, running)
		})
	}
}

// jumpClocks dates the files of an output folder years back and forth, as
// clocks that differ or jump do. (The clock itself cannot be set for one
// program: Go reads it without the C library.)
func jumpClocks(t *testing.T, rng *rand.Rand, out string) {
	t.Helper()
	for _, pattern := range []string{"*", ".*.tmp", "trials/*", "trials/.*.tmp", "tables/*", "tables/.*.tmp"} {
		files, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if rng.IntN(4) == 0 {
				when := time.Now().Add(time.Duration(rng.Int64N(int64(20*365*24*time.Hour))) - 10*365*24*time.Hour)
				if err := os.Chtimes(f, when, when); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		}
	}
}

// witness watches an output folder across kills.
type witness struct {
	out     string
	command func(args ...string) *exec.Cmd
	records map[string][]byte // the content of the files of trials when they were first seen
	started int               // runners
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	out, command := program.SweepIn(t, t.TempDir(), manyTrials)
	return &witness{out: out, command: command, records: map[string][]byte{}}
}

// look reads new records, and holds the others against their first content:
// a trial that ran again would have another record, with
// another time.
func (w *witness) look(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.out, "trials", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range files {
		name := filepath.Base(f)
		there[name] = true
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		switch before, seen := w.records[name]; {
		case !seen:
			w.records[name] = raw
		case !bytes.Equal(before, raw):
			t.Errorf("the record %s was written again:\n%s\n%s", name, before, raw)
		}
	}
	for name := range w.records {
		if !there[name] {
			t.Errorf("the record %s is lost", name)
		}
	}
}

// moment waits for a random moment: while runners start, between any two
// records, or while tables are written.
func (w *witness) moment(rng *rand.Rand, running []*runProcess) {
	if rng.IntN(5) == 0 {
		time.Sleep(time.Duration(rng.Int64N(int64(600 * time.Millisecond))))
		return
	}
	wanted := min(len(w.records)+rng.IntN(6), manyTrialsCount)
	for range 10000 {
		entries, _ := os.ReadDir(filepath.Join(w.out, "trials"))
		n := 0
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				n++
			}
		}
		if n >= wanted || slices.ContainsFunc(running, (*runProcess).over) {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	most := 8 * time.Millisecond
	if wanted == manyTrialsCount {
		most = 250 * time.Millisecond
	}
	time.Sleep(time.Duration(rng.Int64N(int64(most))))
}

// finish lets the runners that are left end, runs the command once more, and
// checks the outcome of every trial.
func (w *witness) finish(t *testing.T, running []*runProcess) {
	t.Helper()
	for _, r := range running {
		if r != nil {
			<-r.ended
			r.check(t)
		}
	}
	last := w.start(t)
	<-last.ended
	last.check(t)
	w.look(t)
	if t.Failed() {
		return
	}
	want := undisturbedMany(t)
	sameRecords(t, w.out, want)
	sameFiles(t, w.out, want, "tables/*", "plots/*")
	w.checkLog(t)
	for _, pattern := range []string{"trials/.*", "aside/*"} {
		if left, _ := filepath.Glob(filepath.Join(w.out, pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// checkLog counts, in the log, how often trials ran to their end.
func (w *witness) checkLog(t *testing.T) {
	t.Helper()
	f, err := os.Open(filepath.Join(w.out, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	started, ended := map[string]int{}, map[string]int{}
	torn := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		var e struct{ Event, Key, Status string }
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			torn++
			continue
		}
		switch e.Event {
		case "started":
			if started[e.Key]++; ended[e.Key] > 0 {
				t.Errorf("trial %.12s was started again after its end", e.Key)
			}
		case "finished":
			if ended[e.Key]++; ended[e.Key] > 1 || e.Status != string(record.OK) {
				t.Errorf("trial %.12s ended %d times, %s", e.Key, ended[e.Key], e.Status)
			}
		case "aside":
			t.Errorf("put aside: %s", s.Bytes())
		}
	}
	if torn > w.started {
		t.Errorf("%d torn lines of %d runners", torn, w.started)
	}
	if torn == 0 && len(started) != manyTrialsCount {
		t.Errorf("%d trials were started", len(started))
	}
}

// sameRecords compares all records of two folders, but for their costs.
func sameRecords(t *testing.T, got, want string) {
	t.Helper()
	read := func(out string) map[string]string {
		all := map[string]string{}
		for name, r := range program.Records(t, out) {
			r.Timing, r.Provenance.Revision = record.Timing{}, "" // somebody may commit meanwhile
			raw, err := record.Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(raw)
		}
		return all
	}
	a, b := read(got), read(want)
	if len(b) != manyTrialsCount || len(a) != len(b) {
		t.Errorf("%d records; %d of an undisturbed run", len(a), len(b))
	}
	for name, text := range b {
		if a[name] != text {
			t.Errorf("%s is\n%s\nnot\n%s", name, a[name], text)
		}
	}
}

// sameFiles compares the files of two folders byte for byte.
func sameFiles(t *testing.T, got, want string, patterns ...string) {
	t.Helper()
	read := func(out string) map[string]string {
		all := map[string]string{}
		for _, pattern := range patterns {
			files, err := filepath.Glob(filepath.Join(out, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if strings.HasPrefix(filepath.Base(f), ".") {
					continue // a killed runner's; it goes when it is old
				}
				raw, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				all[strings.TrimPrefix(f, out)] = string(raw)
			}
		}
		return all
	}
	a, b := read(got), read(want)
	if len(b) == 0 {
		t.Errorf("no files %v", patterns)
	}
	for name, text := range b {
		if a[name] != text {
			t.Errorf("%s is\n%s\nnot\n%s", name, a[name], text)
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			t.Errorf("there is a file %s, too", name)
		}
	}
}

// runProcess is a runner.
type runProcess struct {
	cmd    *exec.Cmd
	output bytes.Buffer
	ended  chan struct{}
	err    error // once it has ended
	killed bool
}

func (w *witness) start(t *testing.T) *runProcess {
	t.Helper()
	w.started++
	r := &runProcess{cmd: w.command(), ended: make(chan struct{})}
	r.cmd.Stderr = &r.output
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	go func() {
		r.err = r.cmd.Wait()
		close(r.ended)
	}()
	return r
}

func (r *runProcess) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// check wants a runner that has ended by itself to have ended well.
func (r *runProcess) check(t *testing.T) {
	t.Helper()
	if r.err != nil {
		t.Errorf("%v\n%s", r.err, r.output.Bytes())
	}
}

// kill kills a runner, in one of three ways, and waits until it and its
// workers are gone.
func (r *runProcess) kill(t *testing.T, rng *rand.Rand) {
	t.Helper()
	way := rng.IntN(3)
	if r.over() {
		return
	}
	r.killed = true
	pid := r.cmd.Process.Pid
	workers := children(pid)
	switch way {
	case 0: // the runner alone
		_ = r.cmd.Process.Kill()
	case 1: // its process group
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	case 2: // everything, workers first, as a cluster's scheduler may do
		for _, w := range workers {
			_ = syscall.Kill(w, syscall.SIGKILL)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(20 * time.Millisecond))))
		_ = r.cmd.Process.Kill()
	}
	<-r.ended
	for _, w := range workers {
		for i := 0; alive(w); i++ {
			if i == 1000 {
				t.Fatalf("worker %d lives on after its runner", w)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// children lists the processes that a process has started, where the operating
// system lists them.
func children(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		for _, field := range strings.Fields(string(raw)) {
			if n, err := strconv.Atoi(field); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// alive reports whether a process of that number is there and has not ended.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(raw, []byte(") Z "))
}
