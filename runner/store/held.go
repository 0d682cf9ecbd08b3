package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Held says whether a runner holds the lock of a trial at present, and so is
// running it. It asks and takes nothing: a folder opened for reading stays as it
// is.
func (s *Store) Held(key string) (bool, error) { return s.held(offset(key), 1) }

// Busy says whether a runner holds any lock of the folder at present. The locks
// of this store count too.
func (s *Store) Busy() (bool, error) { return s.held(0, 0) } // length 0 is up to the end

func (s *Store) held(start, length int64) (bool, error) {
	f, err := os.Open(filepath.Join(s.dir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	l := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: start, Len: length}
	if err := unix.FcntlFlock(f.Fd(), getLock, &l); err != nil {
		return false, fmt.Errorf("the lock file %s cannot be read: %w", f.Name(), err)
	}
	return l.Type != unix.F_UNLCK, nil
}
