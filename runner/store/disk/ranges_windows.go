package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"sync"

	"golang.org/x/sys/windows"
)

func (system) RangeLocks(path string) (RangeLocks, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return &rangeLocks{file: f, held: map[int64]uint32{}}, nil
}

// rangeLocks belong to the open file. Unlike those of Unix they also exclude their own
// holder, and prevent others from reading and writing the bytes; the file is empty.
type rangeLocks struct {
	file *os.File
	mu   sync.Mutex
	held map[int64]uint32 // the flags with which a byte was taken
}

const (
	sharedLock    = 0
	exclusiveLock = windows.LOCKFILE_EXCLUSIVE_LOCK
)

func (l *rangeLocks) Try(at int64) (bool, error) { return l.lock(exclusiveLock, at) }

func (l *rangeLocks) Share(at int64) (bool, error) { return l.lock(sharedLock, at) }

// lock takes the lock of a byte. A lock of the other kind of this holder is released first,
// and lost where another takes it meanwhile.
func (l *rangeLocks) lock(flags uint32, at int64) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch mine, ok := l.held[at]; {
	case ok && mine == flags:
		return true, nil
	case ok:
		l.unlock(at)
	}
	ok, err := lockBytes(l.file, flags, at, 1)
	if ok {
		l.held[at] = flags
	}
	return ok, err
}

func (l *rangeLocks) Unlock(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlock(at)
}

func (l *rangeLocks) unlock(at int64) {
	if _, ok := l.held[at]; ok {
		unlockBytes(l.file, at, 1)
		delete(l.held, at)
	}
}

// Close releases all locks before it closes the file, because Windows releases the locks of a
// closed file with a delay.
func (l *rangeLocks) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := range l.held {
		l.unlock(at)
	}
	return l.file.Close()
}

func (system) RangeHeld(path string, start, length int64) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	n := uint64(length)
	if length == 0 {
		n = math.MaxUint64 - uint64(start)
	}
	free, err := lockBytes(f, sharedLock, start, n)
	if free {
		unlockBytes(f, start, n)
	}
	return !free && err == nil, err
}

// lockBytes locks n bytes of a file without waiting; ok is false where another
// holds one of them.
func lockBytes(f *os.File, flags uint32, start int64, n uint64) (ok bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags|windows.LOCKFILE_FAIL_IMMEDIATELY, 0,
		uint32(n), uint32(n>>32), overlapped(start))
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("the lock file %s cannot be locked: %w", f.Name(), err)
	}
	return true, nil
}

// unlockBytes releases a lock of lockBytes with the same range.
func unlockBytes(f *os.File, start int64, n uint64) {
	// It fails only where the file is closed, which unlocks.
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, uint32(n), uint32(n>>32), overlapped(start))
}

// overlapped returns the start of a range of bytes for the system.
func overlapped(start int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(start), OffsetHigh: uint32(start >> 32)}
}
