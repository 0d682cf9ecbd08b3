package budget

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// patience is how long a ledger is waited for. A booking takes milliseconds, so
// that only a holder that was stopped, or hundreds of them, take longer.
const patience = time.Minute

// lock takes the lock of the ledger, which excludes other processes and other
// goroutines, and makes the folder where it is not there.
func (l *Ledger) lock() (unlock func(), err error) {
	if err := makeFolder(filepath.Dir(l.path)); err != nil {
		return nil, l.problem("cannot be written", err, "make its folder, or give another file with --budget-file")
	}
	// What is no ledger gets no lock file beside it.
	if _, _, err := l.read(); err != nil && !errors.Is(err, ErrNone) {
		return nil, err
	}
	// A file of its own: the ledger is replaced, and a lock on it would stay with
	// the old file. It is never removed.
	path := l.path + lockSuffix
	for deadline := time.Now().Add(l.wait); ; time.Sleep(2 * time.Millisecond) {
		unlock, err := tryLock(path)
		switch {
		case err == nil:
			return unlock, nil
		case !errors.Is(err, errHeld):
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

// errHeld says that another process or goroutine holds a lock.
var errHeld = errors.New("the lock is held")

// tryExclusive is a lock for systems without flock: whoever creates the file has
// it. Unlike flock it outlives a killed holder, and a person has to remove it.
func tryExclusive(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", path)
		}
		return nil, fmt.Errorf("%w: by the process whose number is in %s; if it is not alive, remove that file",
			errHeld, path)
	}
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return func() { _ = os.Remove(path) }, nil
}
