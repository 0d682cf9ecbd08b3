package crash

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// The Go runtime reserves other amounts on other systems.
func onlyOnLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("limits on memory are measured on Linux on amd64")
	}
}

// A limit on memory ends in a sentence and the status of an error, not in the
// stacks of a runtime, and a program that it does not touch runs as without one.
func TestMemoryLimits(t *testing.T) {
	t.Parallel()
	onlyOnLinux(t)
	const group, large = "a control group", "points=2000"
	for _, c := range []struct {
		name   string
		limit  string // of ulimit, or a control group
		args   []string
		status int
		want   string // on standard error
	}{
		{"too little to begin", "-v 1800000", []string{"version"}, 1,
			"run: the limit on the address space of a process is 1.7 GiB (ulimit -v), and this program needs 1.8 GiB at least"},
		{"too little for the estimate", "-v 1850000", []string{"trial", "cloaking/stripes", large}, 1,
			" GiB; of the limit on the memory of a process (ulimit -v), which is 1.8 GiB, "},
		{"too little", "-v 1850000", []string{"trial", "cloaking/stripes", large, "--ignore-memory"}, 1,
			"the limit of this shell is 1.8 GiB (ulimit -v); raise it, "},
		{"too little data", "-d 500000", []string{"trial", "cloaking/stripes", large, "--ignore-memory"}, 1,
			"the limit of this shell is 0.5 GiB (ulimit -d); raise it, "},
		{"enough", "-v 4000000", []string{"trial", "cloaking/stripes", "points=50"}, 0, ""},
		{"a mistake", "-v 4000000", []string{"trial", "cloaking/strips"}, 2, `did you mean "cloaking/stripes"?`},
		{"a control group", group, []string{"trial", "cloaking/stripes", large, "--ignore-memory"}, 1,
			"run: this program was killed (SIGKILL), perhaps for want of memory; the limit of its control group is 0.3 GiB; " +
				"raise it, "},
		{"a sweep in a control group", group, []string{"sweep", "--requeue", "0", "--ignore-memory"}, 3,
			"1 of 2 trials have no result"},
		{"a sweep that does not fit by the estimate", "-v 1850000", []string{"sweep"}, 3,
			"1 of 2 trials have no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cmd *exec.Cmd
			var out string
			var stdout, stderr bytes.Buffer
			once := func() (ended int) {
				var command func(...string) *exec.Cmd
				out, command = program.SweepIn(t, t.TempDir(), "experiment: cloaking/stripes\nsweep: {points: [50, 2000]}\n")
				cmd = program.Command(t, c.args...)
				if c.args[0] == "sweep" {
					cmd = command(append([]string{"--jobs", "1"}, c.args[1:]...)...)
				}
				if strings.HasPrefix(c.name, "too little") { // a collector that is fast enough would make do with it
					cmd.Env = append(cmd.Environ(), "GOGC=off")
				}
				stdout.Reset()
				stderr.Reset()
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if c.limit != group {
					_ = program.Limited("ulimit "+c.limit, cmd).Run()
					return 0
				}
				small := program.SmallGroup(t, 300<<20)
				_ = program.Limited("echo $$ > "+small+"/cgroup.procs", cmd).Run()
				return program.Kills(t, small)
			}
			// Linux may end a second process of the group: one that asks for memory when the
			// threads of the first have gone and its memory is not free yet.
			for range 5 {
				if once() < 2 {
					break
				}
			}
			if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("status %d, not %d\n%s", got, c.status, stderr.String())
			}
			if strings.Contains(stderr.String(), "goroutine ") {
				t.Errorf("a dump:\n%s", stderr.String())
			}
			if c.status == 0 && !strings.Contains(stdout.String(), `"status":"ok"`) {
				t.Errorf("%s", stdout.String())
			}
			if n := program.Finished(t, out); c.status == 3 && n != 1 {
				t.Errorf("%d records: a trial that the machine ended has none", n)
			}
		})
	}
}

// Under a limit on memory a runner has a parent. Signals end both in an orderly way,
// sent to the parent alone, as by kill, or to both, as by a terminal or a scheduler;
// and the child does not outlive a parent that is killed.
func TestSignalsUnderALimit(t *testing.T) {
	onlyOnLinux(t)
	t.Parallel() // most of it waits
	want := program.Reference(t)
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		group  bool
		status int
		night  bool
	}{
		{"SIGINT", syscall.SIGINT, false, 130, true},
		{"SIGTERM", syscall.SIGTERM, false, 130, false},
		{"SIGINT to the group", syscall.SIGINT, true, 130, false},
		{"SIGTERM to the group", syscall.SIGTERM, true, 130, true},
		{"SIGKILL", syscall.SIGKILL, false, -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.night {
				tier.Night(t, "another signal comes this way in every run, and this one the other way")
			}
			out, command := program.NewSweep(t)
			cmd := program.Limited("ulimit -v 8000000", command("--jobs", "1"))
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			program.WaitFor(t, out, 3)
			pid := cmd.Process.Pid
			runners := children(pid)
			if len(runners) != 1 {
				t.Fatalf("the parent has the children %v", runners)
			}
			if c.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, c.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.status ||
				strings.Contains(stderr.String(), "the same command goes on") != (c.status == 130) {
				t.Errorf("status %d\n%s", got, stderr.String())
			}
			if !strings.Contains(stderr.String(), "24 trials on cpu\n") {
				t.Errorf("what is said does not come out while it runs:\n%s", stderr.String())
			}
			for i := 0; alive(runners[0]); i++ {
				if i == 1000 {
					t.Fatal("the child lives on")
				}
				time.Sleep(10 * time.Millisecond)
			}
			if n := program.Finished(t, out); n < 3 || n >= len(want) {
				t.Errorf("%d records", n)
			}
			if msg, err := command().CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			program.SameMetrics(t, program.Metrics(t, out), want)
		})
	}
}

// killWorkers kills the workers of a runner, as a kernel without memory does,
// until the given number is dead or the runner has ended.
func killWorkers(pid, times int) (killed int) {
	for killed < times && alive(pid) {
		for _, w := range children(pid) {
			if killed < times && syscall.Kill(w, syscall.SIGKILL) == nil {
				killed++
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return killed
}

// A worker that is killed costs no result: its trial runs again, with the result of an
// undisturbed run.
func TestKilledWorkers(t *testing.T) {
	t.Parallel() // most of it waits
	want := program.Reference(t)
	out, command := program.NewSweep(t)
	cmd := command("--jobs", "2")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.WaitFor(t, out, 2)
	killed := killWorkers(cmd.Process.Pid, 2)
	if err := cmd.Wait(); err != nil || killed == 0 {
		t.Fatalf("%v, %d killed\n%s", err, killed, stderr.String())
	}
	if n := program.Events(t, out, "again"); n == 0 || n > killed ||
		!strings.Contains(stderr.String(), "the worker process was killed (SIGKILL)") {
		t.Errorf("%d killed, %d run again\n%s", killed, n, stderr.String())
	}
	program.SameMetrics(t, program.Metrics(t, out), want)
}

// Without --requeue a killed worker leaves its trial without a result, and the
// others have theirs; the same command runs it.
func TestKilledWorkerThatIsNotRunAgain(t *testing.T) {
	t.Parallel() // most of it waits
	want := program.Reference(t)
	out, command := program.NewSweep(t)
	cmd := command("--jobs", "1", "--requeue", "0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.WaitFor(t, out, 2)
	if killWorkers(cmd.Process.Pid, 1) != 1 {
		t.Fatal("no worker was there")
	}
	program.ExitsWith(t, cmd.Wait(), stderr.Bytes(), 3, "run: 1 of 24 trials have no result")
	if text := stderr.String(); !strings.Contains(text,
		"(SIGKILL), perhaps for want of memory (tried once); run fewer trials at a time") ||
		!strings.Contains(text, "23 ok, 1 without a result") {
		t.Errorf("%s", text)
	}
	if n := program.Finished(t, out); n != 23 {
		t.Errorf("%d records", n)
	}
	if msg, err := program.Command(t, "check", out).CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, msg)
	}
	if msg, err := command().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	program.SameMetrics(t, program.Metrics(t, out), want)
}

// A machine that has no files to give keeps trials from results, and fails none. The sweep stops
// after a few, and the same command goes on where there are files again.
func TestNoOpenFiles(t *testing.T) {
	t.Parallel()
	want := program.Reference(t)
	out, command := program.NewSweep(t)
	cmd := program.Limited("ulimit -n 12", command("--jobs", "1", "--requeue", "0")) // a worker needs more
	msg, err := cmd.CombinedOutput()
	program.ExitsWith(t, err, msg, 3, "run: stopped after 3 trials in a row that this machine refused: the machine is "+
		"short of open files of a process: a worker process cannot be started: ")
	if n := program.Events(t, out, "given_up"); n != 3 {
		t.Errorf("%d trials were given up\n%s", n, msg)
	}
	if failed, _ := filepath.Glob(filepath.Join(out, "trials", "*.json")); len(failed) > 0 {
		raw, _ := os.ReadFile(failed[0])
		t.Errorf("%d records, such as %s", len(failed), raw)
	}
	if msg, err := command().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	program.SameMetrics(t, program.Metrics(t, out), want)
}
