package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Limited has a command run under a limit that its shell sets, such as "ulimit -v 2000000".
func Limited(limit string, cmd *exec.Cmd) *exec.Cmd {
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", limit + ` && exec "$0" "$@"`}, cmd.Args...)
	return cmd
}

// SmallDisk mounts a file system of that size and returns how to give it
// another.
func SmallDisk(t *testing.T, size string) (folder string, resize func(size string)) {
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

// SmallGroup makes a control group with a limit on its memory, where this
// process may.
func SmallGroup(t *testing.T, bytes int64) (folder string) {
	t.Helper()
	for _, c := range []struct{ parent, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		folder, err := os.MkdirTemp(c.parent, "privkern-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(folder) })
		if os.WriteFile(folder+"/"+c.limit, []byte(strconv.FormatInt(bytes, 10)), 0o600) == nil {
			return folder
		}
	}
	t.Skip("control groups cannot be made here")
	return ""
}

// Kills returns how many processes of a control group the kernel ended for want of memory.
func Kills(t *testing.T, group string) int {
	t.Helper()
	for _, file := range []string{"memory.oom_control", "memory.events"} { // of the two hierarchies
		text, err := os.ReadFile(filepath.Join(group, file))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			var n int
			if _, err := fmt.Sscanf(line, "oom_kill %d", &n); err == nil {
				return n
			}
		}
	}
	t.Fatalf("%s has no count of the processes that were ended", group)
	return 0
}
