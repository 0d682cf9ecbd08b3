//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A process whose open lock file is removed does not hold the lock, because another may have
// locked a new file of that name.
func TestRemovedLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := current(f, path); err != nil {
		t.Errorf("the file is there: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := current(f, path); !errors.Is(err, ErrHeld) {
		t.Errorf("the file is gone: %v", err)
	}
	unlock, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := current(f, path); !errors.Is(err, ErrHeld) {
		t.Errorf("another file is there: %v", err)
	}
}
