package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The lock of systems without flock, which is compiled everywhere.
func TestExclusiveLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := tryExclusive(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryExclusive(path); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), path) {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	again, err := tryExclusive(path)
	if err != nil {
		t.Fatal(err)
	}
	again()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := tryExclusive(path); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := tryExclusive(filepath.Join(path, "no", "lock")); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("no folder: %v", err)
	}
}
