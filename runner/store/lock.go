package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"privkern/runner/store/disk"
)

// locks are byte-range locks on one file: the lock of a name is the byte at the
// offset given by the name's hash. So a sweep of any size needs one file, the
// operating system releases the locks of a killed runner, and the locks work
// across machines where the file system's locks do (NFS, Lustre). Two names
// with the same offset, with probability 2^−62, only wait for each other.
type locks struct {
	ranges disk.RangeLocks
	mu     sync.Mutex
	// Range locks do not exclude within one process.
	held   map[int64]bool
	shared map[int64]int // the number of holders
}

func openLocks(d disk.Disk, path string) (*locks, error) {
	ranges, err := d.RangeLocks(path)
	if err != nil {
		return nil, err
	}
	return &locks{ranges: ranges, held: map[int64]bool{}, shared: map[int64]int{}}, nil
}

func (l *locks) close() error { return l.ranges.Close() }

func offset(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
}

// try takes the lock of name unless somebody else holds it.
func (l *locks) try(name string) (unlock func(), ok bool, err error) {
	at := offset(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[at] || l.shared[at] > 0 {
		return nil, false, nil
	}
	if ok, err := l.ranges.Try(at); !ok {
		return nil, false, err
	}
	l.held[at] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, at)
		l.ranges.Unlock(at)
	}, true, nil
}

// share takes a shared lock of name, unless it is held exclusively.
func (l *locks) share(name string) (unlock func(), ok bool, err error) {
	at := offset(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[at] {
		return nil, false, nil
	}
	if l.shared[at] == 0 {
		if ok, err := l.ranges.Share(at); !ok {
			return nil, false, err
		}
	}
	l.shared[at]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.shared[at]--; l.shared[at] == 0 {
			delete(l.shared, at)
			l.ranges.Unlock(at)
		}
	}, true, nil
}

// wait takes the lock of name when its holder releases it, or returns the error of ctx. It is
// meant for locks that are held briefly.
func (l *locks) wait(ctx context.Context, name string) (unlock func(), err error) {
	for {
		unlock, ok, err := l.try(name)
		if ok || err != nil {
			return unlock, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
