//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes an flock, which belongs to the open file: it excludes goroutines
// as it excludes processes, and ends with the process that holds it.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	// Without waiting, because a wait in the system cannot end with an error.
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		err = ErrHeld
	}
	if err == nil {
		err = current(f, path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil // closing unlocks
}

// current returns ErrHeld where a locked file no longer has its name, because after its
// removal another process may lock a new file of that name.
func current(f *os.File, path string) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(mine, there) {
		return ErrHeld // the caller tries again with the new file
	}
	return nil
}
