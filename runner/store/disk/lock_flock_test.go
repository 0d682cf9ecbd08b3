//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A process that has opened a lock file which somebody then removes does not hold
// the lock: another may have locked the file that is there now.
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
