package disk_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"privkern/runner/store/disk"
)

// A file is replaced as a whole: a reader keeps the old one, and a failed replacement leaves no
// temporary file.
func TestFilesAreReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path, old := filepath.Join(dir, "file"), filepath.Join(dir, "old")
	for _, text := range []string{"first", "second"} {
		if err := disk.WriteFile(disk.System, path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if text == "first" {
			if err := os.Link(path, old); err != nil {
				t.Skipf("no second name for a file here: %v", err)
			}
		}
	}
	for name, want := range map[string]string{path: "second", old: "first"} {
		t.Run(name, func(t *testing.T) {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("%s holds %q, %v, not %q", name, got, err, want)
			}
		})
	}

	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFile(disk.System, folder, []byte("x")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// A runner whose clock is ahead takes a temporary file for an old one and
// removes it: the file is written again.
func TestTemporaryFileThatIsRemoved(t *testing.T) {
	dir := t.TempDir()
	path, times := filepath.Join(dir, "file"), 0
	err := disk.WriteFileWith(disk.System, path, func(w io.Writer) error {
		if times++; times == 1 {
			temporary, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
			if err != nil || len(temporary) != 1 {
				t.Fatalf("%v, %v", temporary, err)
			}
			if err := os.Remove(temporary[0]); err != nil {
				t.Fatal(err)
			}
		}
		_, err := io.WriteString(w, "whole")
		return err
	})
	if got, readErr := os.ReadFile(path); err != nil || readErr != nil || string(got) != "whole" || times != 2 {
		t.Errorf("%q after %d times, %v, %v", got, times, err, readErr)
	}
}
