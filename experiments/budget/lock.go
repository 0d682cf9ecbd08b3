package budget

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"privkern/runner/store/disk"
)

// lockTimeout bounds the wait for the lock. A booking takes milliseconds, so
// that only a holder that was stopped, or hundreds of them, take longer.
const lockTimeout = time.Minute

// lock takes the lock of the ledger, which excludes other processes and other
// goroutines, and makes the folder, for its owner only, where it is not there.
func (l *Ledger) lock() (unlock func(), err error) {
	if err := disk.MakeFolder(l.disk, filepath.Dir(l.path), 0o700); err != nil {
		return nil, l.problem("cannot be written", err, "make its folder, or give another file with --budget-file")
	}
	// A file of its own: the ledger is replaced, and a lock on it would stay with
	// the old file. It is never removed.
	path := l.path + lockSuffix
	// A file that is no ledger gets no lock file.
	if _, err := l.disk.Lstat(path); err != nil {
		if _, _, err := l.read(); err != nil && !errors.Is(err, ErrNone) {
			return nil, err
		}
	}
	for deadline := time.Now().Add(l.wait); ; time.Sleep(2 * time.Millisecond) {
		unlock, err := l.disk.LockFile(path)
		switch {
		case err == nil:
			return unlock, nil
		case !errors.Is(err, disk.ErrHeld):
			return nil, l.problem(
				"cannot be locked",
				err,
				"check that its folder can be written, or give another file with --budget-file; "+
					"a file system without locks cannot hold a ledger",
			)
		case time.Now().After(deadline): // by the monotonic clock
			return nil, l.problem("is locked", err,
				fmt.Sprintf("another process has held %s for %v; end it and try again", path, l.wait))
		}
	}
}
