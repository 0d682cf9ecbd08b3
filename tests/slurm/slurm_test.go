package slurm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// clusterSweep has 6 trials that take some seconds each: long enough for a task
// to be killed in the middle of one.
const clusterSweep = `title: "On a cluster"
experiment: cloaking/design
params: {inputs: synthetic, test_points: 0..84 step 14, solver: gradient, iterations: 36000}
sweep:
  learning_rate: linspace(0.02,0.03,6)
`

// slurm is a real Slurm of one node on this machine.
type slurm struct {
	dir    string
	env    []string
	starts string // the script that starts it
}

// startSlurm starts a Slurm, or skips with the reason.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	tier.Gate(t, "a real Slurm is installed and started")
	script := filepath.Join(program.Root(t), "..", "shared", "slurm", "start-local-slurm")
	if _, err := os.Stat(script); err != nil {
		t.Skipf("no script that starts a Slurm: %v", err)
	}
	if os.Getuid() != 0 {
		t.Skip("Slurm's daemons need root")
	}
	dir, err := os.MkdirTemp("", "pk-slurm-") // the script wants a short path
	if err != nil {
		t.Fatal(err)
	}
	s := &slurm{dir: dir, starts: script}
	t.Cleanup(func() {
		if t.Failed() {
			raw, _ := os.ReadFile(filepath.Join(dir, "log", "slurmctld.log"))
			t.Logf("the end of slurmctld's log:\n%s", raw[max(0, len(raw)-3000):])
		}
		stop := exec.Command(filepath.Join(filepath.Dir(script), "stop-local-slurm"), dir, "--delete")
		if out, err := stop.CombinedOutput(); err != nil {
			t.Logf("Slurm is not stopped: %v\n%s", err, out)
		}
	})
	s.start(t)
	return s
}

// start starts the daemons that do not run.
func (s *slurm) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command(s.starts, s.dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	conf, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "export ")
	if err != nil || !ok {
		t.Fatalf("Slurm does not start: %v\n%s\n%s", err, out, stderr.String())
	}
	s.env = append(os.Environ(), conf, "NO_COLOR=1")
}

// command returns one of Slurm's commands.
func (s *slurm) command(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	out, _ := cmd.CombinedOutput()
	return strings.TrimSpace(string(out))
}

// onSlurm is a sweep on the cluster.
type onSlurm struct {
	*exec.Cmd
	out            string
	stdout, stderr *syncBuffer
}

// syncBuffer can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// sweep starts `run sweep` on the cluster, in the folder dir. Its timed trials
// run at the same time, to save time.
func (s *slurm) sweep(t *testing.T, dir, text string, args ...string) *onSlurm {
	t.Helper()
	return s.sweepAlone(t, dir, text, append(args, "--share-timings")...)
}

// sweepAlone is sweep with timed trials that run alone.
func (s *slurm) sweepAlone(t *testing.T, dir, text string, args ...string) *onSlurm {
	t.Helper()
	file := filepath.Join(dir, "sweep.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &onSlurm{out: filepath.Join(dir, "out"), stdout: &syncBuffer{}, stderr: &syncBuffer{}}
	args = append([]string{"sweep", file, "--out", r.out, "--output", "csv", "--executor", "slurm", "--slurm", "time=10"},
		args...)
	r.Cmd = program.Command(t, args...)
	r.Env, r.Stdout, r.Stderr = s.env, r.stdout, r.stderr
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Process.Kill() // one that a failed test left
		_ = r.Wait()
	})
	return r
}

// waits waits for the end and expects an exit status.
func (r *onSlurm) waits(t *testing.T, status int) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- r.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := r.ProcessState.ExitCode(); got != status {
			t.Fatalf("exit status %d, not %d\n%s", got, status, r.stderr)
		}
	case <-time.After(3 * time.Minute):
		t.Fatalf("no end after three minutes\n%s", r.stderr)
	}
}

// says waits until the sweep has printed something.
func (r *onSlurm) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, fmt.Sprintf("it says %q", text), r.stderr, func() bool {
		return strings.Contains(r.stderr.String(), text)
	})
}

func eventually(t *testing.T, what string, said fmt.Stringer, f func() bool) {
	t.Helper()
	for range 1200 {
		if f() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("not within two minutes: %s\n%s", what, said)
}

// tasks returns the processes of the tasks that work on a folder.
func tasks(out string) []int {
	var found []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		raw, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(raw), "\x00work\x00"+out+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(found, pid)
		}
	}
	return found
}

// oneRuns waits until a task of the folder runs a trial, and returns its process.
func (r *onSlurm) oneRuns(t *testing.T) int {
	t.Helper()
	var found []int
	eventually(t, "a task runs", r.stderr, func() bool {
		found = tasks(r.out)
		return len(found) > 0 && started(r.out) > 0
	})
	return found[0]
}

// started counts the trials that tasks have started.
func started(out string) int {
	logs, _ := filepath.Glob(filepath.Join(out, "logs", "*.jsonl"))
	n := 0
	for _, path := range logs {
		raw, _ := os.ReadFile(path)
		n += bytes.Count(raw, []byte(`"event":"started"`))
	}
	return n
}

// submitted counts the array jobs that a sweep has submitted.
func (r *onSlurm) submitted() int { return strings.Count(r.stderr.String(), "submitted ") }

// A sweep on a real Slurm ends with the results of a local one, for any fate of
// its tasks.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	local := t.TempDir()
	file := filepath.Join(local, "sweep.yaml")
	if err := os.WriteFile(file, []byte(clusterSweep), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := program.Command(t, "sweep", file, "--out", filepath.Join(local, "out"), "--quiet").
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	want := program.Metrics(t, filepath.Join(local, "out"))
	if len(want) != 6 {
		t.Fatalf("%d trials", len(want))
	}
	whole := func(t *testing.T, r *onSlurm) {
		t.Helper()
		program.SameMetrics(t, program.Metrics(t, r.out), want)
		if _, err := os.Stat(filepath.Join(r.out, "report.html")); err != nil ||
			!strings.Contains(r.stdout.String(), "cloaking/design") {
			t.Errorf("no tables: %v\n%s", err, r.stdout)
		}
	}

	t.Run("undisturbed", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a folder, 100%")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		r := s.sweep(t, dir, clusterSweep, "--trials-per-task", "2", "--array-chunk", "2", "--max-running", "1")
		r.waits(t, 0)
		whole(t, r)
		if n := r.submitted(); n != 2 {
			t.Errorf("%d jobs for 3 tasks, 2 in each at most", n)
		}
		if n := started(r.out); n != 6 {
			t.Errorf("%d trials were started", n)
		}
		again := s.sweep(t, dir, clusterSweep)
		again.waits(t, 0)
		if !strings.Contains(again.stderr.String(), "6 trials on cpu, all with a result") ||
			again.stdout.String() != r.stdout.String() {
			t.Errorf("the same command again: %s", again.stderr)
		}
	})

	// A round is submitted when the one before has come to its end.
	t.Run("a search", func(t *testing.T) {
		const text = "experiment: cloaking/stripes\nparams: {method: sparse, epsilon: inf}\nsearch: {method: bayesian, " +
			"budget: 7, metric: accuracy, direction: maximise, space: {lengthscale: log(1, 10), inducing: 2..30}}\n"
		file, out := filepath.Join(t.TempDir(), "search.yaml"), filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if msg, err := program.Command(t, "sweep", file, "--out", out, "--quiet").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		r := s.sweep(t, t.TempDir(), text)
		r.waits(t, 0)
		program.SameMetrics(t, program.Metrics(t, r.out), program.Metrics(t, out))
		if n := r.submitted(); n != 2 || !strings.Contains(r.stderr.String(), "round 2: 7 of 7 settings") {
			t.Errorf("%d jobs for 2 rounds:\n%s%s", n, r.stderr, r.stdout)
		}
	})

	// The node has two processors, and runs tasks of timed trials one at a time.
	t.Run("timed trials are alone", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		const ordinary = "  - experiment: privacygp/example1\n    sweep: {xi: [0.4, 0.5]}\n"
		mixed := strings.Replace(clusterSweep, "experiment:", "runs:\n"+ordinary+"  - experiment:", 1)
		mixed = strings.NewReplacer("\nparams:", "\n    params:", "\nsweep:", "\n    sweep:", "\n  learning_rate:",
			"\n      learning_rate:").Replace(mixed)
		r := s.sweepAlone(t, t.TempDir(), mixed)
		r.says(t, "submitted 2 tasks as job ")
		const timed = "submitted 6 tasks of timed trials, each alone on its node, as job "
		r.says(t, timed)
		_, rest, _ := strings.Cut(r.stderr.String(), timed)
		job := strings.Fields(rest)[0] + "_"
		seen := 0
		for program.Finished(t, r.out) < 8 && !t.Failed() {
			running := s.command("squeue", "-h", "-r", "-t", "R", "-o", "%i")
			if strings.Contains(running, job) {
				if seen++; strings.Contains(running, "\n") {
					t.Errorf("beside each other run\n%s", running)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		r.waits(t, 0)
		if seen == 0 {
			t.Error("no running task was seen")
		}
		got := program.Metrics(t, r.out)
		for key, text := range want {
			program.SameMetrics(t, map[string]string{key: got[key]}, map[string]string{key: text})
		}
	})

	t.Run("a task is killed", func(t *testing.T) {
		r := s.sweep(t, t.TempDir(), clusterSweep)
		if err := syscall.Kill(r.oneRuns(t), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		r.says(t, "1 task lost (FAILED), submitted again: part ")
		r.waits(t, 0)
		whole(t, r)
	})

	t.Run("a task is cancelled", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		r := s.sweep(t, t.TempDir(), clusterSweep)
		r.oneRuns(t)
		job := s.command("squeue", "-h", "-r", "-t", "R", "-o", "%i")
		s.command("scancel", strings.Fields(job)[0])
		r.says(t, "lost (CANCELLED), submitted again: part ")
		r.waits(t, 0)
		whole(t, r)
	})

	// Nothing remains of a node that has died: neither daemon nor tasks.
	t.Run("the node dies", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		r := s.sweep(t, t.TempDir(), clusterSweep)
		r.oneRuns(t)
		raw, err := os.ReadFile(filepath.Join(s.dir, "run", "slurmd.pid"))
		if err != nil {
			t.Fatal(err)
		}
		daemon, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range append([]int{daemon}, append(stepDaemons(s.dir), tasks(r.out)...)...) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		// The controller notices after SlurmdTimeout; new tasks wait for the node.
		r.says(t, "lost (NODE_FAIL), submitted again: part")
		s.start(t)
		r.waits(t, 0)
		whole(t, r)
	})

	// The controller is away for a while: the tasks go on, and nothing is lost.
	t.Run("no controller", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		r := s.sweep(t, t.TempDir(), clusterSweep)
		r.oneRuns(t)
		raw, err := os.ReadFile(filepath.Join(s.dir, "run", "slurmctld.pid"))
		if err != nil {
			t.Fatal(err)
		}
		daemon, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		// SIGTERM: it saves its state, as before an upgrade.
		if err := syscall.Kill(daemon, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		r.says(t, "the queue cannot be read")
		s.start(t)
		r.waits(t, 0)
		whole(t, r)
	})

	t.Run("a full disk", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		dir := t.TempDir()
		disk := filepath.Join(dir, "out", "trials")
		if err := os.MkdirAll(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=12k", "tmpfs", disk).Run(); err != nil {
			t.Skipf("a small file system cannot be mounted here (%v)", err)
		}
		defer func() { _ = exec.Command("umount", disk).Run() }()
		r := s.sweep(t, dir, clusterSweep, "--requeue", "0")
		r.waits(t, 3)
		if text := r.stderr.String(); !strings.Contains(text, "no space left on device") ||
			!strings.Contains(text, "its task was lost once") || !strings.Contains(text, "trials have no result") {
			t.Errorf("the reason is missing:\n%s", text)
		}
		if n := program.Finished(t, r.out); n == 0 || n == 6 {
			t.Errorf("%d records on the full disk", n)
		}
		if err := exec.Command("mount", "-o", "remount,size=10m", disk).Run(); err != nil {
			t.Fatal(err)
		}
		r = s.sweep(t, dir, clusterSweep)
		r.waits(t, 0)
		whole(t, r)
	})

	// Somebody runs a part of it by hand: no trial runs twice.
	t.Run("two runs of one part", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		r := s.sweep(t, t.TempDir(), clusterSweep, "--trials-per-task", "3")
		r.oneRuns(t)
		cmd := program.Command(t, "work", r.out, "--shard", "1/2", "--jobs", "1", "--share-timings")
		msg, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, msg)
		}
		r.waits(t, 0)
		whole(t, r)
		if n := started(r.out); n != 6 {
			t.Errorf("6 trials were started %d times", n)
		}
	})

	t.Run("the terminal is lost", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		if signal.Ignored(syscall.SIGHUP) {
			t.Skip("SIGHUP is ignored here, as under nohup, and so by the programs that the test starts")
		}
		dir := t.TempDir()
		r := s.sweep(t, dir, clusterSweep)
		r.oneRuns(t)
		if err := r.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		_ = r.Wait()
		if len(tasks(r.out)) == 0 {
			t.Error("the tasks ended with the program")
		}
		r = s.sweep(t, dir, clusterSweep)
		r.waits(t, 0)
		whole(t, r)
		if !strings.Contains(r.stderr.String(), "attached to job ") || r.submitted() != 0 {
			t.Errorf("not attached; %d jobs:\n%s", r.submitted(), r.stderr)
		}
	})

	t.Run("SIGINT without a terminal", func(t *testing.T) {
		tier.Night(t, "it waits for Slurm")
		dir := t.TempDir()
		r := s.sweep(t, dir, clusterSweep)
		r.oneRuns(t)
		if err := r.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		r.waits(t, 130)
		_, rest, ok := strings.Cut(r.stderr.String(), "goes on; the same command attaches again, `scancel ")
		if !ok || len(tasks(r.out)) == 0 {
			t.Fatalf("it does not say how to go on, or the tasks ended:\n%s", r.stderr)
		}
		job, _, _ := strings.Cut(rest, "`")
		s.command("scancel", job)
		r = s.sweep(t, dir, clusterSweep)
		r.waits(t, 0)
		whole(t, r)
	})

	t.Run("Ctrl-C on a terminal", func(t *testing.T) { s.cancelledOnTerminal(t, want) })

	// A trial that fails has a result: its task is not submitted again.
	t.Run("failing trials", func(t *testing.T) {
		r := s.sweep(t, t.TempDir(), "experiment: privacygp/example1\ncases:\n  - {noise_variance: 1e308}\n  - {xi: 0.5}\n")
		r.waits(t, 3)
		if n := r.submitted(); n != 1 || !strings.Contains(r.stderr.String(), "1 of 2 trials failed") {
			t.Errorf("%d jobs\n%s", n, r.stderr)
		}
	})

	t.Run("sbatch refuses", func(t *testing.T) {
		r := s.sweep(t, t.TempDir(), clusterSweep, "--slurm", "partition=nowhere")
		r.waits(t, 1)
		if !strings.Contains(r.stderr.String(), "run: sbatch: ") ||
			!strings.Contains(r.stderr.String(), "invalid partition") {
			t.Errorf("%s", r.stderr)
		}
	})
}

// stepDaemons returns the processes of Slurm that look after single tasks.
func stepDaemons(dir string) []int {
	var found []int
	all, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, path := range all {
		name, err := os.ReadFile(path)
		if err != nil || strings.TrimSpace(string(name)) != "slurmstepd" {
			continue
		}
		// Only those of this cluster: their environment names its configuration.
		env, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if err == nil && strings.Contains(string(env), dir+"/") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(found, pid)
		}
	}
	return found
}

// cancelledOnTerminal presses Ctrl-C, is asked, and cancels; then the same
// command finishes.
func (s *slurm) cancelledOnTerminal(t *testing.T, want map[string]string) {
	script, err := exec.LookPath("script") // of util-linux: gives a program a terminal
	if err != nil {
		t.Skip("no script command to make a terminal with")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "sweep.yaml")
	if err := os.WriteFile(file, []byte(clusterSweep), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	line := fmt.Sprintf("stty cols 100; '%s' sweep '%s' --out '%s' --executor slurm", program.Path(t), file, out)
	cmd := exec.CommandContext(ctx, script, "-qec", line, "/dev/null")
	cmd.Env = append(s.env, "TERM=xterm")
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var shown syncBuffer
	done := make(chan struct{})
	go func() { defer close(done); _, _ = io.Copy(&shown, bufio.NewReader(screen)) }()
	eventually(t, "the bar shows running tasks", &shown, func() bool {
		return strings.Contains(shown.String(), "running") && len(tasks(out)) > 0
	})
	_, _ = io.WriteString(keys, "\x03")
	eventually(t, "it asks", &shown, func() bool { return strings.Contains(shown.String(), "Leave or cancel? [L/c]") })
	_, _ = io.WriteString(keys, "c\n")
	<-done
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 || !strings.Contains(shown.String(), "cancelled job ") {
		t.Fatalf("%v\n%s", err, &shown)
	}
	eventually(t, "the queue is empty", &shown, func() bool { return s.command("squeue", "-h") == "" })
	r := s.sweep(t, dir, clusterSweep)
	r.waits(t, 0)
	program.SameMetrics(t, program.Metrics(t, r.out), want)
}
