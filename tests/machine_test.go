package tests

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killWorkers kills the workers of a runner, as a kernel without memory does,
// until so many are dead or the runner has ended.
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

// A worker that is killed costs no result: its trial runs again, and what comes
// out is what comes out in peace.
func TestKilledWorkers(t *testing.T) {
	want := reference(t)
	out, command := newSweep(t)
	cmd := command("--jobs", "2")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, out, 2)
	killed := killWorkers(cmd.Process.Pid, 2)
	if err := cmd.Wait(); err != nil || killed == 0 {
		t.Fatalf("%v, %d killed\n%s", err, killed, stderr.String())
	}
	if n := events(t, out, "again"); n == 0 || n > killed || !strings.Contains(stderr.String(), "the worker process was killed (SIGKILL)") {
		t.Errorf("%d killed, %d run again\n%s", killed, n, stderr.String())
	}
	sameMetrics(t, metrics(t, out), want)
}

// Without --requeue a killed worker leaves its trial without a result, and the
// others have theirs; the same command runs it.
func TestKilledWorkerThatIsNotRunAgain(t *testing.T) {
	want := reference(t)
	out, command := newSweep(t)
	cmd := command("--jobs", "1", "--requeue", "0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, out, 2)
	if killWorkers(cmd.Process.Pid, 1) != 1 {
		t.Fatal("no worker was there")
	}
	exitsWith(t, cmd.Wait(), stderr.Bytes(), 3, "run: 1 of 24 trials have no result")
	if text := stderr.String(); !strings.Contains(text, "(SIGKILL), perhaps for want of memory (tried once); run fewer trials at a time") || !strings.Contains(text, "23 ok, 1 not run") {
		t.Errorf("%s", text)
	}
	if n := finished(t, out); n != 23 {
		t.Errorf("%d records", n)
	}
	if msg, err := exec.Command(program, "check", out).CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, msg)
	}
	if msg, err := command().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	sameMetrics(t, metrics(t, out), want)
}

// A machine that has no files to give keeps trials from results, and fails none.
func TestNoOpenFiles(t *testing.T) {
	out, command := newSweep(t)
	cmd := command("--jobs", "1", "--requeue", "0")
	// A worker needs a dozen.
	cmd.Args = append([]string{"sh", "-c", `ulimit -n 12 && exec "$0" "$@"`}, cmd.Args...)
	cmd.Path = "/bin/sh"
	msg, err := cmd.CombinedOutput()
	if err == nil || !bytes.Contains(msg, []byte("too many open files")) {
		t.Fatalf("%v\n%s", err, msg)
	}
	if failed, _ := filepath.Glob(filepath.Join(out, "trials", "*.json")); len(failed) > 0 {
		raw, _ := os.ReadFile(failed[0])
		t.Errorf("%d records, such as %s", len(failed), raw)
	}
}
