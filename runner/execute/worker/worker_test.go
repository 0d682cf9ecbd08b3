package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"privkern/runner/execute/trial"
	"privkern/runner/execute/worker"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// The test program is its own worker when it is started with this variable.
const workerVar = "PRIVKERN_TEST_WORKER"

// killedVar ends a worker before it reads a job.
const killedVar = "PRIVKERN_TEST_KILLED"

// childVar names the file that a trial writes the number of its child to.
const childVar = "PRIVKERN_TEST_CHILD"

// inheritedVar is set by the test and looked for by a trial.
const inheritedVar = "PRIVKERN_TEST_INHERITED"

var demonstration = experiment.Of(experiment.Declaration[*demoSettings, demoMetrics]{
	Name: "demo/a", Version: 1,
	Run: func(_ context.Context, t *experiment.Trial, s *demoSettings) (*experiment.Outcome[demoMetrics], error) {
		switch s.Do {
		case "crash":
			_, _ = os.Stderr.WriteString(strings.Repeat("many words\n", 1000) + "last words\n")
			os.Exit(7)
		case "crash at length":
			_, _ = os.Stderr.WriteString("first words\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 3<<20/100) +
				"last words\n")
			os.Exit(7)
		case "kill beside a child":
			child := exec.Command("sleep", "600")
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
			_ = child.Start()
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "no thread": // as the Go runtime ends
			_, _ = os.Stderr.WriteString(
				"runtime: failed to create new OS thread (have 5 already; errno=11)\nfatal error: newosproc\n")
			os.Exit(2)
		case "no files":
			return nil, &fs.PathError{Op: "open", Path: "my.csv", Err: syscall.EMFILE}
		case "fall":
			panic("two\nlines")
		case "hang":
			select {}
		case "hang with a child": // which holds standard output, and reports its start
			child := exec.Command("sh", "-c", "touch "+os.Getenv(childVar)+".there; sleep 600")
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
			_ = child.Start()
			_ = os.WriteFile(os.Getenv(childVar), []byte(strconv.Itoa(child.Process.Pid)), 0o600)
			select {}
		case "print":
			_, _ = os.Stdout.WriteString("not a message\n")
		case "environment":
			if os.Getenv(inheritedVar) != "yes" {
				return nil, errors.New("the runner's environment is not the worker's")
			}
		case "kinds":
			if !math.IsInf(s.Epsilon, 1) || s.Points.Count != 5 {
				return nil, fmt.Errorf("epsilon is %v, points are %v", s.Epsilon, s.Points)
			}
		case "allocate":
			block := make([]byte, large)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
		case "look at the heap":
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if kept := m.HeapSys - m.HeapReleased; kept > large/2 {
				return nil, fmt.Errorf("the heap keeps %d bytes", kept)
			}
		case "processors":
			if n := runtime.GOMAXPROCS(0); n != t.Workers {
				return nil, fmt.Errorf("%d processors for %d workers", n, t.Workers)
			}
		case "progress":
			for i := range 5 {
				t.Progress(i, 5, "step")
				time.Sleep(60 * time.Millisecond)
			}
		case "share work": // in a folder that is not there
			_, err := t.Memo(context.Background(), "work", func(*experiment.Inputs) {}, func() (*experiment.Shared, error) {
				return &experiment.Shared{}, nil
			})
			return &experiment.Outcome[demoMetrics]{}, err
		case "lose the device":
			deviceFailed.Store(true)
			return nil, errors.New("the device is lost")
		case "fast progress":
			for i := range 1000 {
				t.Progress(i, 1000, "step")
			}
		}
		return &experiment.Outcome[demoMetrics]{Metrics: demoMetrics{PID: float64(os.Getpid())}}, nil
	},
})()

type demoSettings struct {
	Do      string            `name:"do" default:"answer" doc:"what becomes of the trial"`
	Epsilon float64           `name:"epsilon" default:"inf" infinite:"yes" doc:"a number that JSON lacks"`
	Points  experiment.Points `name:"points" default:"5" doc:"a count"`
}

type demoMetrics struct {
	PID float64 `name:"pid" doc:"number of the process"`
}

var demo = demonstration.Experiment

// large is the allocation of a trial, in bytes.
const large = 512 << 20

// deviceFailed stands for a device that the worker has lost.
var deviceFailed atomic.Bool

var registry = experiment.NewRegistry(demo)

func TestMain(m *testing.M) {
	if os.Getenv(killedVar) != "" { // as by a kernel without memory, before there is a job
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if os.Getenv(workerVar) != "" {
		worker.PreferOOMKill()
		_ = worker.Serve(context.Background(), registry,
			worker.Backend{Describe: func(backend string) string { return "a device for " + backend },
				Failed: deviceFailed.Load})
		return
	}
	os.Exit(m.Run())
}

func newProcess(t *testing.T) *worker.Process {
	p := &worker.Process{Command: []string{os.Args[0]}, Env: []string{workerVar + "=1"}}
	t.Cleanup(p.Close)
	return p
}

func job(t *testing.T, do string) trial.Job {
	params, err := demo.Resolve(map[string]any{"do": do})
	if err != nil {
		t.Fatal(err)
	}
	return trial.Job{
		Key: "k", Identity: experiment.Identity{Experiment: demo.Name, Params: params},
		Host: record.Provenance{Version: "test"},
	}
}

func TestJobsShareAProcess(t *testing.T) {
	p := newProcess(t)
	var pids []float64
	for range 3 {
		r, err := p.Run(context.Background(), job(t, "answer"), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != record.OK || r.Provenance.Version != "test" || r.Timing.PeakRSSBytes == 0 {
			t.Errorf("%+v", r)
		}
		pids = append(pids, demonstration.Values(r.Metrics).PID)
	}
	if pids[0] != pids[1] || pids[1] != pids[2] || int(pids[0]) == os.Getpid() {
		t.Errorf("processes %v", pids)
	}
}

// After a device is lost its trial has a record with the reason, and the next trial
// gets a fresh process; records name the worker's own device.
func TestLostDevice(t *testing.T) {
	p := newProcess(t)
	var pids []float64
	for _, do := range []string{"answer", "lose the device", "answer", "answer"} {
		r, err := p.Run(context.Background(), job(t, do), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Provenance.GPU, "a device for ") {
			t.Errorf("the device is %q", r.Provenance.GPU)
		}
		if do == "answer" {
			pids = append(pids, demonstration.Values(r.Metrics).PID)
		} else if r.Status != record.Failed || !strings.Contains(*r.Error, "the device is lost") {
			t.Errorf("%+v", r)
		}
	}
	if pids[0] == pids[1] || pids[1] != pids[2] {
		t.Errorf("processes %v: want another one after the failure, and that one kept", pids)
	}
}

// Output of a library does not disturb the messages.
func TestPrintingIsHarmless(t *testing.T) {
	if r, err := newProcess(t).Run(context.Background(), job(t, "print"), 0, nil); err != nil || r.Status != record.OK {
		t.Errorf("%+v, %v", r, err)
	}
}

// A worker works in its runner's environment, with parameters of their kinds.
func TestWorkersGetWhatTheRunnerHas(t *testing.T) {
	t.Setenv(inheritedVar, "yes")
	for _, do := range []string{"environment", "kinds"} {
		if r, err := newProcess(t).Run(context.Background(), job(t, do), 0, nil); err != nil || r.Error != nil {
			t.Errorf("%s: %+v, %v", do, r, err)
		}
	}
}

// A worker that waits has returned the memory of its trial.
func TestMemoryIsGivenBack(t *testing.T) {
	p := newProcess(t)
	for _, do := range []string{"allocate", "look at the heap"} {
		r, err := p.Run(context.Background(), job(t, do), 0, nil)
		if err != nil || r.Error != nil {
			t.Errorf("%s: %+v, %v", do, r, err)
		}
	}
}

// A trial has as many processors as workers, more or fewer than the one before.
func TestProcessorsAreTheWorkers(t *testing.T) {
	p := newProcess(t)
	for _, workers := range []int{1, 3, 2} {
		j := job(t, "processors")
		j.Workers = workers
		if r, err := p.Run(context.Background(), j, 0, nil); err != nil || r.Error != nil {
			t.Errorf("%d workers: %+v, %v", workers, r, err)
		}
	}
}

// A crash costs one result, and trouble of the machine none; the next job gets a new
// process.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		do         string
		machine    bool
		refused    bool // any trial would be
		reason     string
		begin, end string // of the output
	}{
		{"crash", false, false, "the worker process ended with exit status 7: last words", "many words\n", "last words"},
		{"crash at length", false, false, "the worker process ended with exit status 7: last words", "first words\n",
			"last words"},
		{"kill", true, false, "the worker process was killed (SIGKILL), perhaps for want of memory", "", ""},
		// A process that holds its output does not count as one that this runner ends.
		{"kill beside a child", true, false, "the worker process was killed (SIGKILL), perhaps for want of memory", "", ""},
		{"no thread", true, true, "the worker process could not start a thread: runtime: failed to create new OS thread " +
			"(have 5 already; errno=11)", "runtime: ", "newosproc"},
		{"no files", true, true, "the machine is short of open files of a process: open my.csv: too many open files", "", ""},
	} {
		t.Run(c.do, func(t *testing.T) {
			p := newProcess(t)
			before := answer(t, p)
			r, err := p.Run(context.Background(), job(t, c.do), 0, nil)
			var trouble *trial.Trouble
			if r != nil || !errors.As(err, &trouble) || trouble.Machine != c.machine ||
				trouble.Refused != c.refused || trouble.Reason != c.reason {
				t.Fatalf("%+v, %+v", r, err)
			}
			if o := trouble.Output; !strings.HasPrefix(o, c.begin) || !strings.HasSuffix(o, c.end) || len(o) > 1<<20+100 {
				t.Errorf("%d bytes of output: %.100q", len(o), o)
			}
			if after := answer(t, p); after == before {
				t.Error("the next trial ran in the same process")
			}
		})
	}
}

// The log of a crash leaves out the output of earlier trials.
func TestOutputIsOfOneTrial(t *testing.T) {
	p := newProcess(t)
	for _, do := range []string{"print", "progress"} { // the second takes longer than words to arrive
		if _, err := p.Run(context.Background(), job(t, do), 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.Run(context.Background(), job(t, "no thread"), 0, nil)
	var trouble *trial.Trouble
	if !errors.As(err, &trouble) || strings.Contains(trouble.Output, "not a message") ||
		!strings.Contains(trouble.Output, "newosproc") {
		t.Errorf("%+v", trouble)
	}
}

// answer runs a trial that ends well, and returns the number of its process.
func answer(t *testing.T, p *worker.Process) float64 {
	t.Helper()
	r, err := p.Run(context.Background(), job(t, "answer"), 0, nil)
	if err != nil || r.Status != record.OK || r.Log != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	return demonstration.Values(r.Metrics).PID
}

// The log of a failed trial has its stack; its record has a sentence.
func TestLogOfAFailure(t *testing.T) {
	r, err := newProcess(t).Run(context.Background(), job(t, "fall"), 0, nil)
	if err != nil || *r.Error != "a defect in demo/a: panic: two; lines" {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, text := range []string{"panic: two\nlines\n", "worker_test.go:"} {
		if !strings.Contains(r.Log, text) {
			t.Errorf("%q is not in the log:\n%s", text, r.Log)
		}
	}
}

// A machine that has no process to give is no reason to end a run; a program
// that is gone is one.
func TestMachineWithoutProcesses(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	small := limit
	small.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &small); err != nil {
		t.Skipf("the limit on open files cannot be set here: %v", err)
	}
	_, err := newProcess(t).Run(context.Background(), job(t, "answer"), 0, nil)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var trouble *trial.Trouble
	if !errors.As(err, &trouble) || !trouble.Machine || !trouble.Refused ||
		!strings.HasPrefix(trouble.Reason,
			"the machine is short of open files of a process: a worker process cannot be started: ") {
		t.Errorf("%v", err)
	}
	answer(t, newProcess(t))
}

// A worker that is killed before it reads a job would be so for any job; one that has
// answered, perhaps for the trial's sake.
func TestWorkerThatIsKilledAtItsStart(t *testing.T) {
	p := newProcess(t)
	answer(t, p)
	p.Env = append(p.Env, killedVar+"=1")
	for _, refused := range []bool{false, true} {
		_, err := p.Run(context.Background(), job(t, "kill"), 0, nil)
		var trouble *trial.Trouble
		if !errors.As(err, &trouble) || !trouble.Machine || trouble.Refused != refused {
			t.Errorf("%+v, want it refused: %v", err, refused)
		}
	}
}

// Where memory runs out, the kernel takes a worker and not its runner.
func TestOOMScore(t *testing.T) {
	p := newProcess(t)
	pid := answer(t, p)
	score := func(pid int) int {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		if err != nil {
			t.Skip("not Linux:", err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if own, worker := score(os.Getpid()), score(int(pid)); worker != max(own, 500) {
		t.Errorf("the worker has %d, its runner %d", worker, own)
	}
}

func TestRunawayTrialIsEnded(t *testing.T) {
	p := newProcess(t)
	if _, err := p.Run(context.Background(), job(t, "hang"), 100*time.Millisecond,
		nil); !errors.Is(err, worker.ErrTimeout) {
		t.Errorf("%v", err)
	}
	if r, err := p.Run(context.Background(), job(t, "answer"), 0, nil); err != nil || r.Status != record.OK {
		t.Errorf("afterwards: %v", err)
	}
}

// A trial's own processes end with it, although the trial does not listen to
// anybody, and the next job is served.
func TestRunawayTrialEndsWithItsChildren(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	t.Setenv(childVar, file)
	p := newProcess(t)
	if _, err := p.Run(context.Background(), job(t, "hang with a child"), 2*time.Second,
		nil); !errors.Is(err, worker.ErrTimeout) {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + ".there"); err != nil {
		t.Fatalf("the child never ran: %v", err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	ended := func() bool {
		if syscall.Kill(child, 0) != nil {
			return true
		}
		// Nobody may have asked how it ended.
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err == nil && strings.Contains(string(stat), ") Z ")
	}
	for i := 0; !ended(); i++ {
		if i == 500 {
			t.Fatal("the child lives on")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if r, err := p.Run(context.Background(), job(t, "answer"), 0, nil); err != nil || r.Status != record.OK {
		t.Errorf("afterwards: %v", err)
	}
}

func TestInterruptionEndsATrial(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := newProcess(t).Run(ctx, job(t, "hang"), 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestProgressArrives(t *testing.T) {
	steps := 0
	r, err := newProcess(t).Run(context.Background(), job(t, "progress"), 0, func(_, total int, phase string) {
		if total == 5 && phase == "step" {
			steps++
		}
	})
	if err != nil || r.Status != record.OK || steps == 0 {
		t.Errorf("%d steps, %v", steps, err)
	}
}

// Notices of a worker arrive, and its trial has a result.
func TestNoticesArrive(t *testing.T) {
	p := newProcess(t)
	var notices []string
	j := job(t, "share work")
	j.Shared = trial.SharedWork{Dir: filepath.Join(t.TempDir(), "gone"), Limit: 1}
	for range 2 {
		r, err := p.Run(t.Context(), j, 0, nil)
		if err != nil || r.Status != record.OK {
			t.Fatalf("%+v, %v", r, err)
		}
		j.Notice = func(text string) { notices = append(notices, text) }
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "shared work cannot be locked") {
		t.Errorf("noticed %q", notices)
	}
}

// An experiment may report progress as often as it likes.
func TestProgressIsNoFlood(t *testing.T) {
	messages := 0
	if _, err := newProcess(t).Run(context.Background(), job(t, "fast progress"), 0,
		func(int, int, string) { messages++ }); err != nil || messages == 0 || messages >= 500 {
		t.Errorf("%d of 1000 reports arrived, %v", messages, err)
	}
}

func TestProgramThatCannotStart(t *testing.T) {
	p := &worker.Process{Command: []string{"/does/not/exist"}}
	if _, err := p.Run(context.Background(), job(t, "answer"), 0, nil); !errors.Is(err, trial.ErrNotStarted) ||
		!errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
