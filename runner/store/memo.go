package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/store/disk"
)

// sharedDir is the folder of memos in the output folder. It can be removed at any time,
// because missing memos are computed again.
const sharedDir = "shared"

// memoPoll is the interval of checks for a memo that another worker computes.
const memoPoll = 50 * time.Millisecond

// Memo keeps the results of shared work in an output folder, each in a file named by the
// digest of its inputs. It is an [experiment.Keeper], and safe for concurrent use.
//
// A worker that computes holds a lock on the name, which the system releases when it is
// killed; others that need the result wait for the lock or the file. No defect of a file
// costs a result: an invalid memo is put aside and the work is done again, and where the
// folder cannot be written the work is done and not kept.
type Memo struct {
	store  *Store
	of     string
	limit  int64
	notice func(string)

	mu    sync.Mutex
	saved time.Duration
	found int
}

// MemoOptions are the options of a [Memo].
type MemoOptions struct {
	// Identity and Class are those of the trial. It shares results with trials of the same
	// experiment, result version, backend, element type and BLAS class.
	Identity experiment.Identity
	Class    string
	// Limit is the maximum number of bytes of all memos of the folder. The least recently
	// used memos are removed for new ones.
	Limit int64
	// Notice receives a sentence for each problem.
	Notice func(text string)
}

// OpenMemo opens the memos of an output folder.
func OpenMemo(d disk.Disk, dir string, o MemoOptions) (*Memo, error) {
	of, err := json.Marshal([]any{o.Identity.Experiment, o.Identity.ResultVersion, o.Identity.Backend,
		o.Identity.DType, o.Class})
	if err != nil {
		return nil, err
	}
	l, err := openLocks(d, filepath.Join(dir, lockFile))
	if err != nil {
		return nil, fmt.Errorf("shared work cannot be locked: %w", err)
	}
	return &Memo{store: newStore(d, dir, l), of: string(of), limit: o.Limit, notice: o.Notice}, nil
}

// Close releases the locks.
func (m *Memo) Close() error { return m.store.Close() }

// Found returns the number of results that were found, and the duration of their work.
func (m *Memo) Found() (results int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.found, m.saved
}

func (s *Store) memoPath(file string) string { return filepath.Join(s.dir, sharedDir, file) }

// memoLock returns the name of a memo's lock, which differs from all keys.
func memoLock(digest string) string { return "shared " + digest }

// Keep implements [experiment.Keeper].
func (m *Memo) Keep(ctx context.Context, name, key string, compute func() (*experiment.Shared, error),
) (*experiment.Shared, error) {
	id := memoID{Of: m.of, Name: name, Key: key}
	digest := id.digest()
	for {
		if v := m.look(digest); v != nil {
			return v, nil
		}
		unlock, ok, err := m.store.locks.try(memoLock(digest))
		if err != nil {
			m.complain("cannot be locked", err)
			return experiment.Work(compute)
		}
		if ok {
			return m.compute(ctx, id, unlock, compute)
		}
		select {
		case <-time.After(memoPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// look returns a valid result, nil for none. It shares the lock, so that the file is not
// removed meanwhile.
func (m *Memo) look(digest string) *experiment.Shared {
	unlock, ok, err := m.store.locks.share(memoLock(digest))
	if !ok || err != nil {
		return nil
	}
	defer unlock()
	file := digest + memoSuffix
	v, problem, err := m.store.readMemo(file)
	if v == nil || problem != "" || err != nil {
		return nil
	}
	m.use(file, v)
	return v
}

// use counts a memo that was found.
func (m *Memo) use(file string, v *experiment.Shared) {
	_ = m.store.disk.Touch(m.store.memoPath(file)) // on an error it may be removed too early
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found++
	m.saved += v.Took
}

// compute does the work and keeps the result. The caller holds the lock.
func (m *Memo) compute(ctx context.Context, id memoID, unlock func(), compute func() (*experiment.Shared, error),
) (*experiment.Shared, error) {
	defer unlock() // in a panic too
	file := id.digest() + memoSuffix
	switch v, problem, err := m.store.readMemo(file); {
	case problem != "":
		m.putAside(file, problem)
	case err == nil:
		// Another worker has written it since. It is used here, because after unlock a third
		// worker might hold the lock, and the work would be done twice.
		m.use(file, v)
		return v, nil
	}
	v, err := experiment.Work(compute)
	if err != nil {
		return nil, err
	}
	if err := m.write(ctx, file, id, v); err != nil && ctx.Err() == nil {
		m.complain("cannot be written", err)
	}
	return v, nil
}

// putAside puts an invalid file aside.
func (m *Memo) putAside(file, problem string) {
	at := filepath.Join(sharedDir, file)
	moved, err := m.store.moveAside(at)
	switch {
	case err != nil:
		m.complain("cannot be put aside", err)
	case moved != "":
		m.say("put aside %s (%s); it is now %s, and the work is done again", at, problem, moved)
	}
}

// write keeps a result where there is room. A lock orders the writers, so that they keep the
// common limit.
func (m *Memo) write(ctx context.Context, file string, id memoID, v *experiment.Shared) error {
	raw, err := encodeMemo(id, v)
	if err != nil {
		return err
	}
	unlock, err := m.store.locks.wait(ctx, "room for shared work")
	if err != nil {
		return err
	}
	defer unlock()
	d, folder := m.store.disk, filepath.Join(m.store.dir, sharedDir)
	if err := disk.MakeFolder(d, folder, 0o777); err != nil {
		return err
	}
	if ok, err := m.makeRoom(int64(len(raw))); err != nil || !ok {
		return err
	}
	// The name need not survive a crash, because the work can be done again. Only the user
	// may read results derived from data.
	return disk.Replace(d, m.store.memoPath(file), 0o600, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// memoFile is a file in the folder of memos.
type memoFile struct {
	name string
	size int64
	used time.Time
}

// makeRoom removes temporary files of killed writers, and the least recently used memos until
// there is room for a file of that size. Memos in use stay; ok is false where there is no
// room.
func (m *Memo) makeRoom(size int64) (ok bool, err error) {
	s := m.store
	if size > m.limit {
		m.say("a result of %d bytes that trials share is more than the limit of %d (--shared-limit): each of them "+
			"computes it", size, m.limit)
		return false, nil
	}
	names, err := s.disk.Names(filepath.Join(s.dir, sharedDir))
	if err != nil {
		return false, err
	}
	var files []memoFile
	total := size
	for _, name := range names {
		if !isMemo(name) {
			continue // a foreign file
		}
		info, err := s.disk.Stat(s.memoPath(name))
		if err != nil {
			continue // it is gone
		}
		f := memoFile{name, info.Size(), info.ModTime()}
		if strings.HasSuffix(name, ".tmp") {
			f.used = time.Time{} // of a killed writer, because writers are ordered
		}
		files = append(files, f)
		total += f.size
	}
	slices.SortFunc(files, func(a, b memoFile) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= m.limit && !f.used.IsZero() {
			break
		}
		if s.removeMemo(f.name) {
			total -= f.size
		}
	}
	return total <= m.limit, nil
}

// removeMemo removes a file of the folder of memos unless it is in use, and reports whether it
// did.
func (s *Store) removeMemo(name string) bool {
	digest, _, _ := strings.Cut(strings.TrimPrefix(name, "."), ".")
	unlock, ok, err := s.locks.try(memoLock(digest))
	if err != nil || !ok {
		return false
	}
	defer unlock()
	return s.disk.Remove(s.memoPath(name)) == nil
}

// isMemo reports whether a name is that of a memo, complete or being written.
func isMemo(name string) bool {
	return strings.HasSuffix(name, memoSuffix) ||
		strings.HasPrefix(name, ".") && strings.Contains(name, memoSuffix) && strings.HasSuffix(name, ".tmp")
}

// RemoveMemos removes the results of shared work that are not in use, and their folder where it
// is empty.
func (s *Store) RemoveMemos() error {
	names, err := s.disk.Names(filepath.Join(s.dir, sharedDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	left := false
	for _, name := range names {
		left = !isMemo(name) || !s.removeMemo(name) || left
	}
	if left {
		return nil
	}
	err = s.disk.Remove(filepath.Join(s.dir, sharedDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another runner did
	}
	return err
}

// Memos lists the files in the folder of memos in order, without temporary files.
func (s *Store) Memos() ([]string, error) { return s.visible(sharedDir) }

// ExamineMemo returns the defect of a file of the folder of memos, if any, and its size; there
// is false for a missing file.
func (s *Store) ExamineMemo(name string) (problem string, bytes int64, there bool, err error) {
	info, err := s.disk.Stat(s.memoPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, false, nil
	}
	if err != nil {
		return "", 0, false, err
	}
	if !strings.HasSuffix(name, memoSuffix) {
		return "no result of shared work", info.Size(), true, nil
	}
	_, problem, err = s.readMemo(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, false, nil
	}
	return problem, info.Size(), true, err
}

// say sends a sentence to the notice.
func (m *Memo) say(format string, args ...any) {
	if m.notice != nil {
		m.notice(fmt.Sprintf(format, args...))
	}
}

// complain sends a problem of the folder to the notice, without the name of the file, which
// would differ for each worker.
func (m *Memo) complain(problem string, err error) {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	m.say("%s %s (%v): what trials share is computed by each of them", filepath.Join(m.store.dir, sharedDir), problem, err)
}
