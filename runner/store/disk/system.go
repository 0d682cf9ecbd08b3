package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// System is the file system of the operating system.
var System Disk = system{}

type system struct{}

func (system) Open(path string) (io.ReadCloser, error) { return os.Open(path) }

func (system) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

func (system) Names(path string) ([]string, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	return d.Readdirnames(-1)
}

func (system) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (system) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

func (system) SameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) }

func (system) Mkdir(path string, mode fs.FileMode) error { return os.Mkdir(path, mode) }

func (system) CreateTemp(dir, pattern string) (File, error) { return os.CreateTemp(dir, pattern) }

func (system) Rename(from, to string) error { return os.Rename(from, to) }

func (system) Link(file, name string) error { return os.Link(file, name) }

func (system) Remove(path string) error { return os.Remove(path) }

func (system) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

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

func (system) LockFile(path string) (unlock func(), err error) { return tryLock(path) }
