package browser

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// serve starts the live view of an output folder and returns its address, and a
// function that interrupts it and returns its exit status.
func serve(t *testing.T, out string) (address string, interrupt func() int) {
	t.Helper()
	cmd := program.Command(t, "report", out, "--serve")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address = strings.TrimSpace(line)
	if err != nil || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("the address is %q (%v)", line, err)
	}
	return address, func() int {
		t.Helper()
		ended = true
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}
}

func get(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", address, answer.StatusCode, err, body)
	}
	return string(body)
}

// until asks for a page until it has a text.
func until(t *testing.T, address, text string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if got = get(t, address); strings.Contains(got, text) {
			return
		}
	}
	t.Fatalf("%s never had %q: %s", address, text, got)
}

// The view is opened before the sweep; it follows it to its end, and Ctrl-C ends
// the view well.
func TestServeFollowsASweep(t *testing.T) {
	tier.Gate(t, "it follows the quick start")
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	address, interrupt := serve(t, out)
	if page := get(t, address); !strings.Contains(page, "not started") {
		t.Errorf("before the sweep: %s", page)
	}
	sweep := program.Command(t, "sweep", filepath.Join(program.Root(t), "configs", "quickstart.yaml"), "--out", out,
		"--quiet", "--jobs", "1")
	sweep.Stderr = os.Stderr
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, address+"progress", "Latest trials")
	if err := sweep.Wait(); err != nil {
		t.Fatal(err)
	}
	until(t, address+"progress", "Every trial has a result")
	until(t, address+"results", `<span class="v v-match">match</span>`)
	if page := get(t, address+"report"); !strings.Contains(page, "<svg") {
		t.Error("the full report has no figures")
	}
	if status := interrupt(); status != 0 {
		t.Errorf("exit status %d after Ctrl-C", status)
	}
}
