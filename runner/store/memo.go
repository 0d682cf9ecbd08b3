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

// sharedDir is the folder of memos in the output folder. It can be removed at any
// time: what is missing is computed again.
const sharedDir = "shared"

// memoPoll is how often a memo that another worker computes is looked at.
const memoPoll = 50 * time.Millisecond

// Memo keeps the results of shared work in an output folder, each in a file of its own
// whose name is the digest of what determines it. It is an [experiment.Keeper], and
// safe for concurrent use.
//
// Who computes holds a lock on the name, which the system gives back when it is killed;
// others that want the same result wait for the lock or the file. Nothing that goes
// wrong with a file costs a result: a memo that does not hold is put aside and the work
// is done again, and where the folder cannot be written the work is done and not kept.
type Memo struct {
	store  *Store
	of     string
	limit  int64
	notice func(string)

	mu    sync.Mutex
	saved time.Duration
	found int
}

// MemoOptions say what a [Memo] keeps.
type MemoOptions struct {
	// Identity and Class are those of the trial: what it shares, it shares with trials
	// of the same experiment, result version, backend, element type and class of kernels.
	Identity experiment.Identity
	Class    string
	// Limit is the most bytes that all memos of the folder take together. What was not
	// used for longest makes room for what is new.
	Limit int64
	// Notice gets one sentence for each thing that went wrong.
	Notice func(text string)
}

// OpenMemo opens the memos of an output folder.
func OpenMemo(dir string, o MemoOptions) (*Memo, error) { return OpenMemoOn(disk.System, dir, o) }

// OpenMemoOn is [OpenMemo] on a disk.
func OpenMemoOn(d disk.Disk, dir string, o MemoOptions) (*Memo, error) {
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

// Close gives back the locks.
func (m *Memo) Close() error { return m.store.Close() }

// Found returns how many results were found done, and how long that work had taken.
func (m *Memo) Found() (results int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.found, m.saved
}

func (s *Store) memoPath(file string) string { return filepath.Join(s.dir, sharedDir, file) }

// memoLock is the name of a memo's lock, which is no trial's key.
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

// look returns what is kept; nil where nothing is that holds. It shares the lock, so
// that nobody removes the file meanwhile.
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

// use notes that a memo saved its work.
func (m *Memo) use(file string, v *experiment.Shared) {
	_ = m.store.disk.Touch(m.store.memoPath(file)) // it may go earlier than it should
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found++
	m.saved += v.Took
}

// compute does the work and keeps the result. It holds the lock.
func (m *Memo) compute(ctx context.Context, id memoID, unlock func(), compute func() (*experiment.Shared, error),
) (*experiment.Shared, error) {
	defer unlock() // in a panic too
	file := id.digest() + memoSuffix
	switch v, problem, err := m.store.readMemo(file); {
	case problem != "":
		m.putAside(file, problem)
	case err == nil:
		// Another worker has written it since. To give the lock back and look again fails
		// where another one holds it by then, and the work would be done twice.
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

// putAside moves a file that does not hold out of the way.
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

// write keeps a result, where there is room for it. Writers come one after the other,
// so that they keep the limit together.
func (m *Memo) write(ctx context.Context, file string, id memoID, v *experiment.Shared) error {
	raw, err := encodeMemo(id, v)
	if err != nil {
		return err
	}
	unlock, err := m.room(ctx)
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
	// A crash may lose the name, which costs the work and nothing else.
	// What is derived from the data is for the user alone.
	return disk.Replace(d, m.store.memoPath(file), 0o600, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// room waits for its turn to write.
func (m *Memo) room(ctx context.Context) (unlock func(), err error) {
	for {
		unlock, ok, err := m.store.locks.try("room for shared work")
		if ok || err != nil {
			return unlock, err
		}
		select {
		case <-time.After(memoPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// kept is a file in the folder of memos.
type kept struct {
	name string
	size int64
	used time.Time
}

// makeRoom removes what was not used for longest until there is room for a file of that
// size, and what killed writers have left. ok is false where there is no room: a memo
// that is in use stays.
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
	var files []kept
	total := size
	for _, name := range names {
		if !isMemo(name) {
			continue // somebody else's
		}
		info, err := s.disk.Stat(s.memoPath(name))
		if err != nil {
			continue // it is gone
		}
		f := kept{name, info.Size(), info.ModTime()}
		if strings.HasSuffix(name, ".tmp") {
			f.used = time.Time{} // writers come one after the other: a dead one's
		}
		files = append(files, f)
		total += f.size
	}
	slices.SortFunc(files, func(a, b kept) int { return a.used.Compare(b.used) })
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

// removeMemo removes a file of the folder of memos that nobody uses, and says whether it
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

// isMemo says whether a name is that of a memo, or of one that is being written.
func isMemo(name string) bool {
	return strings.HasSuffix(name, memoSuffix) ||
		strings.HasPrefix(name, ".") && strings.Contains(name, memoSuffix) && strings.HasSuffix(name, ".tmp")
}

// RemoveMemos removes the results of shared work that nobody uses, and their folder
// where nothing is left in it.
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

// Memos lists the files in the folder of memos in order, temporary files aside.
func (s *Store) Memos() ([]string, error) { return s.visible(sharedDir) }

// ExamineMemo says what is wrong with a file of the folder of memos, and how large it
// is; there is false where there is none.
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

// say notes something for people.
func (m *Memo) say(format string, args ...any) {
	if m.notice != nil {
		m.notice(fmt.Sprintf(format, args...))
	}
}

// complain says what went wrong with the folder, in words that do not name a file: each
// worker would name another.
func (m *Memo) complain(what string, err error) {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	m.say("%s %s (%v): what trials share is computed by each of them", filepath.Join(m.store.dir, sharedDir), what, err)
}
