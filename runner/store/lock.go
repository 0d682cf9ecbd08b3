package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// locks are byte-range locks on one file: the lock of a name is the byte at an
// offset that is the name's hash. So a sweep of any size needs one file, the
// operating system gives back what a killed runner held, and the locks work
// across machines where the file system's locks do (NFS, Lustre). Two names
// with the same offset, one chance in 2^62, only wait for each other.
type locks struct {
	file *os.File
	mu   sync.Mutex
	held map[int64]bool // range locks do not exclude within one process
}

func openLocks(path string) (*locks, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return &locks{file: f, held: map[int64]bool{}}, nil
}

func (l *locks) close() error { return l.file.Close() }

func offset(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
}

// try takes the lock of name unless somebody else holds it.
func (l *locks) try(name string) (unlock func(), ok bool, err error) {
	at := offset(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[at] {
		return nil, false, nil
	}
	err = unix.FcntlFlock(l.file.Fd(), setLock, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1})
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("the lock file %s cannot be locked: %w", l.file.Name(), err)
	}
	l.held[at] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, at)
		// Unlocking fails only where the file is closed, which unlocks it.
		_ = unix.FcntlFlock(l.file.Fd(), setLock, &unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: at, Len: 1})
	}, true, nil
}

// wait takes the lock of name when its holder gives it back; it is meant for
// locks that are held briefly.
func (l *locks) wait(name string) (unlock func(), err error) {
	for {
		unlock, ok, err := l.try(name)
		if ok || err != nil {
			return unlock, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func isInvalid(err error) bool { return errors.Is(err, unix.EINVAL) }
