//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func (system) RangeLocks(path string) (RangeLocks, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return rangeLocks{f}, nil
}

// rangeLocks works across machines where the file system's locks do (NFS,
// Lustre).
type rangeLocks struct{ file *os.File }

func (l rangeLocks) Try(at int64) (bool, error) { return l.lock(unix.F_WRLCK, at) }

func (l rangeLocks) Share(at int64) (bool, error) { return l.lock(unix.F_RDLCK, at) }

func (l rangeLocks) lock(kind int16, at int64) (bool, error) {
	byteAt := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1}
	err := unix.FcntlFlock(l.file.Fd(), setLock, &byteAt)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("the lock file %s cannot be locked: %w", l.file.Name(), err)
	}
	return true, nil
}

func (l rangeLocks) Unlock(at int64) {
	// It fails only where the file is closed, which unlocks.
	_ = unix.FcntlFlock(l.file.Fd(), setLock, &unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: at, Len: 1})
}

func (l rangeLocks) Close() error { return l.file.Close() }

func (system) RangeHeld(path string, start, length int64) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	l := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: start, Len: length}
	if err := unix.FcntlFlock(f.Fd(), getLock, &l); err != nil {
		return false, fmt.Errorf("the lock file %s cannot be read: %w", path, err)
	}
	return l.Type != unix.F_UNLCK, nil
}
