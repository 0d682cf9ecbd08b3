package gpu

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

// TestKitArchive looks into the archive, which is whole after a call that is killed, and does not hold itself.
func TestKitArchive(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	archive := filepath.Join(out, "results.tgz")
	kit := makeKit(t, "abc")
	args := []string{"run", "--kit", kit, "--archive", archive, "trials", "bench", out}
	killed := exec.Command("bash", args...)
	killed.Env = append(os.Environ(), "MOON=a moon", "SLOW=device/hull")
	var printed bytes.Buffer
	killed.Stdout, killed.Stderr = &printed, &printed
	killed.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	hung := filepath.Join(out, "bench/hull.txt")
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(hung); err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the step that hangs has not begun: %s", &printed)
		}
	}
	if status, printed := runKit(t, []string{"MOON=a moon"}, args[1:]...); status != 1 ||
		!strings.Contains(printed, "another call writes") {
		t.Errorf("a second call has status %d, and prints\n%s", status, printed)
	}
	if err := syscall.Kill(-killed.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	contents := func() string {
		list, err := exec.Command("tar", "-tzf", archive).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, list)
		}
		return string(list)
	}
	list := contents()
	if !strings.Contains(list, "out/trials/trials-differences.txt") || strings.Contains(list, "bench") {
		t.Errorf("after a call that was killed the archive has\n%s", list)
	}
	if status, printed := runKit(t, []string{"MOON=a moon"}, args[1:]...); status != 0 ||
		!strings.Contains(printed, "bench: device/product, before") {
		t.Errorf("the call that goes on has status %d, and prints\n%s", status, printed)
	}
	if list := contents(); !strings.Contains(list, "out/bench/search.txt") || strings.Contains(list, "results.tgz") {
		t.Errorf("the archive has\n%s", list)
	}
}
