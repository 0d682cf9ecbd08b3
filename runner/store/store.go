// Package store keeps the output folder of a sweep: the frozen plan and one
// record per trial. The files are the only state. A record is written to a
// temporary file, synced and renamed, so that it is either whole or absent. A
// file that is torn, foreign, unreadable, of another schema, or has a wrong digest
// or key is put aside and reported, and its trial is run again. Locks on the
// folder prevent two runners from running one trial at the same time; the
// operating system releases them when a runner dies.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store/disk"
)

// Names inside the output folder.
const (
	planFile  = "plan.json"
	trialsDir = "trials"
	asideDir  = "aside"
	logsDir   = "logs"
	lockFile  = "lock"

	profilesDir = "profiles"
)

// Store is an output folder. It is safe for concurrent use.
type Store struct {
	disk      disk.Disk
	dir       string
	trials    string                    // the folder of records, with a separator behind it
	locks     *locks                    // nil where the folder is only read
	reference atomic.Pointer[reference] // once the plan is known

	mu    sync.Mutex
	aside []Aside
}

func newStore(d disk.Disk, dir string, l *locks) *Store {
	trials := filepath.Join(dir, trialsDir) + string(filepath.Separator)
	return &Store{disk: d, dir: dir, trials: trials, locks: l}
}

// Aside is a file that was put aside, because it is not a record of the trial in its name.
type Aside struct {
	File   string // the old path, relative to the output folder
	Moved  string // the new path, relative to the output folder
	Reason string
}

// Create opens the output folder for writing, and makes a missing one.
func Create(d disk.Disk, dir string) (*Store, error) {
	if err := disk.MakeFolder(d, filepath.Join(dir, trialsDir), 0o777); err != nil {
		return nil, fmt.Errorf("the output folder cannot be made: %w", err)
	}
	l, err := openLocks(d, filepath.Join(dir, lockFile))
	if err != nil {
		return nil, fmt.Errorf("the output folder cannot be written: %w", err)
	}
	s := newStore(d, dir, l)
	if err := s.removeLeftovers(); err != nil {
		_ = l.close()
		return nil, err
	}
	return s, nil
}

// removeLeftovers removes the temporary files of killed runners. A record that is being
// written has a lock, and its file stays. Those of plan, tables, plots and logs are few and
// have no locks; they are removed when they are a day old.
func (s *Store) removeLeftovers() error {
	for _, folder := range []string{"", "tables", "plots", logsDir, asideDir, sharedDir, "slurm"} {
		old, err := s.temporaryFiles(filepath.Join(s.dir, folder))
		if err != nil && folder == sharedDir {
			continue // it costs no result, and each trial that needs the folder reports it
		}
		if err != nil {
			return err
		}
		for _, path := range old {
			if info, err := s.disk.Stat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
				_ = s.disk.Remove(path) // another runner may have done it
			}
		}
	}
	left, err := s.temporaryFiles(filepath.Join(s.dir, trialsDir))
	if err != nil {
		return err
	}
	for _, path := range left {
		key, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "."), ".")
		unlock, ok, err := s.locks.try(key)
		if err != nil {
			return err
		}
		if ok {
			_ = s.disk.Remove(path) // another runner may have done it
			unlock()
		}
	}
	return nil
}

// temporaryFiles returns the incomplete files of [disk.WriteFile] in a folder, which may be
// absent. It matches names itself, because the folder's name may be a pattern of
// [filepath.Glob].
func (s *Store) temporaryFiles(folder string) (paths []string, err error) {
	names, err := s.disk.Names(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		if strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp") {
			paths = append(paths, filepath.Join(folder, name))
		}
	}
	return paths, nil
}

// Open opens an existing output folder for reading.
func Open(d disk.Disk, dir string) (*Store, error) {
	if info, err := d.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file, not the output folder of a sweep", dir)
	}
	if _, err := d.Stat(filepath.Join(dir, planFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not the output folder of a sweep: it has no %s", dir, planFile)
		}
		return nil, err
	}
	return newStore(d, dir, nil), nil
}

// Peek opens an output folder, which may be absent, for reading, and returns the errors that
// [Create] and [Store.FreezePlan] would return for the folder and its plan. It changes
// nothing in the folder; p gets the rounds of an existing search. Records are compared with p.
func Peek(d disk.Disk, dir string, p *plan.Plan, experiments *experiment.Registry, replace bool) (*Store, error) {
	s := newStore(d, dir, nil)
	for at := filepath.Clean(s.trials); ; at = filepath.Dir(at) {
		info, err := d.Stat(at)
		if err == nil && !info.IsDir() {
			return nil, fmt.Errorf("the output folder cannot be made: %s is a file", at)
		}
		if err == nil || at == filepath.Dir(at) {
			break
		}
	}
	if raw, err := d.ReadFile(filepath.Join(dir, planFile)); err == nil {
		old, err := s.same(raw, p, experiments, replace)
		if err != nil {
			return nil, err
		}
		adopt(p, old)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.reference.Store(&reference{plan: p, experiments: experiments})
	return s, nil
}

// Close releases the locks.
func (s *Store) Close() error {
	if s.locks == nil {
		return nil
	}
	return s.locks.close()
}

// Disk returns the disk of the output folder.
func (s *Store) Disk() disk.Disk { return s.disk }

// Dir returns the output folder.
func (s *Store) Dir() string { return s.dir }

// PlanMismatchError is the error of a folder with another sweep's plan.
type PlanMismatchError struct {
	Dir        string
	Difference string
}

func (e *PlanMismatchError) Error() string {
	return fmt.Sprintf("%s holds the plan of another sweep (%s); use another --out, or --replan to replace the plan and "+
		"keep the finished trials that both have", e.Dir, e.Difference)
}

// FreezePlan writes the plan, or compares it with the existing one. If they are the same, p
// gets the BLAS class of the existing plan, and the rounds of an existing search. With replace,
// another plan is put aside and replaced. Records are compared with the plan from then on.
func (s *Store) FreezePlan(p *plan.Plan, experiments *experiment.Registry, replace bool) error {
	if err := s.freezePlan(p, experiments, replace); err != nil {
		return err
	}
	s.reference.Store(&reference{plan: p, experiments: experiments})
	return nil
}

func (s *Store) freezePlan(p *plan.Plan, experiments *experiment.Registry, replace bool) error {
	path := filepath.Join(s.dir, planFile)
	unlock, err := s.locks.wait(context.Background(), "plan")
	if err != nil {
		return err
	}
	defer unlock()
	if raw, err := s.disk.ReadFile(path); err == nil {
		old, err := s.same(raw, p, experiments, replace)
		switch {
		case err != nil:
			return err
		case old != nil:
			p.BLASClass = old.BLASClass
			adopt(p, old)
			if slices.Equal(old.Tables, p.Tables) && slices.Equal(old.Metrics, p.Metrics) &&
				old.Commands.Path() == p.Commands.Path() {
				// The runner that wrote it may have been killed before it was durable.
				return s.disk.SyncDir(s.dir)
			}
		default:
			if err := s.keepPlan(raw); err != nil {
				return err
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	raw, err := encodePlan(p)
	if err != nil {
		return err
	}
	return disk.WriteFile(s.disk, path, raw)
}

// same returns the plan of the folder if it has the trials of p. Another plan is refused, or
// with replace ignored.
func (s *Store) same(raw []byte, p *plan.Plan, experiments *experiment.Registry, replace bool) (*plan.Plan, error) {
	old, err := plan.Parse(raw, experiments)
	switch {
	case err == nil && p.Search == nil && old.Search == nil && old.Digest == p.Digest &&
		maps.Equal(old.Datasets, p.Datasets), err == nil && p.Search != nil && old.Continues(p) == nil:
		return old, nil
	case replace:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be used (%w); use another --out, or --replan to replace it",
			filepath.Join(s.dir, planFile), err)
	}
	difference := plan.Difference(old, p)
	if p.Search != nil || old.Search != nil {
		difference = old.Continues(p).Error()
	}
	return nil, &PlanMismatchError{Dir: s.dir, Difference: difference}
}

// keepPlan puts a copy of a plan aside before its replacement, so that the folder always has a
// plan.
func (s *Store) keepPlan(raw []byte) error {
	moved, err := s.asideName(planFile)
	if err == nil {
		err = disk.WriteFile(s.disk, filepath.Join(s.dir, moved), raw)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be put aside: %w", filepath.Join(s.dir, planFile), err)
	}
	s.note(Aside{File: planFile, Moved: moved, Reason: "replaced by another plan"})
	return nil
}

// encodePlan returns the plan with one trial on each line, for line tools and without a second
// copy in memory.
func encodePlan(p *plan.Plan) ([]byte, error) {
	head := *p
	head.Trials = nil
	raw, err := json.MarshalIndent(&head, "", " ")
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(string(raw), "null\n}")
	out := make([]byte, 0, len(text)+len(p.Trials)*256+256)
	out = append(out, text...)
	out = append(out, '[')
	for i, t := range p.Trials {
		if i > 0 {
			out = append(out, ',')
		}
		member, err := t.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out = append(append(out, "\n  "...), member...)
	}
	return record.AppendDigest(append(out, "\n ]\n}\n"...), plan.DigestMember)
}

// OpenPlan opens an output folder and reads its plan.
func OpenPlan(d disk.Disk, dir string, experiments *experiment.Registry) (*Store, *plan.Plan, error) {
	s, err := Open(d, dir)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.ReadPlan(experiments)
	if err != nil {
		return nil, nil, err
	}
	return s, p, nil
}

// ReadPlan reads the frozen plan. Records are compared with it from then on.
func (s *Store) ReadPlan(experiments *experiment.Registry) (*plan.Plan, error) {
	return s.readPlan(experiments, plan.Parse)
}

// VerifyPlan reads the frozen plan and recomputes all of its keys.
func (s *Store) VerifyPlan(experiments *experiment.Registry) (*plan.Plan, error) {
	return s.readPlan(experiments, plan.Verify)
}

func (s *Store) readPlan(experiments *experiment.Registry,
	parse func([]byte, *experiment.Registry) (*plan.Plan, error)) (*plan.Plan, error) {
	raw, err := s.disk.ReadFile(filepath.Join(s.dir, planFile))
	if err != nil {
		return nil, err
	}
	p, err := parse(raw, experiments)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(s.dir, planFile), err)
	}
	s.reference.Store(&reference{plan: p, experiments: experiments})
	return p, nil
}

// trialPath returns the path of a record, relative to the output folder.
func trialPath(key string) string { return filepath.Join(trialsDir, key+".json") }

// path returns the path of a record. It avoids [filepath.Join], which is slow for many records.
func (s *Store) path(key string) string { return s.trials + key + ".json" }

// Get reads the record of a trial; ok is false where there is none. An invalid file, or the
// record of another trial, counts as none; [Store.PutAside] moves it.
func (s *Store) Get(key string) (r *record.Record, ok bool, err error) {
	r, _, problem, err := s.read(key)
	if problem != "" && s.locks == nil {
		s.note(Aside{File: trialPath(key), Reason: problem})
	}
	return r, r != nil, err
}

// PutAside puts the file of a trial aside if it is not a valid record of that trial. The caller
// must hold the trial's lock, because otherwise a good record may just have replaced it.
func (s *Store) PutAside(key string) error {
	_, _, problem, err := s.read(key)
	if err != nil || problem == "" {
		return err
	}
	return s.setAside(trialPath(key), problem)
}

// Keys returns the keys with a file, valid or not.
func (s *Store) Keys() (map[string]bool, error) {
	names, err := s.disk.Names(filepath.Join(s.dir, trialsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // archives may leave out empty folders
	}
	if err != nil {
		return nil, err
	}
	keys := make(map[string]bool, len(names))
	for _, name := range names {
		if key, ok := strings.CutSuffix(name, ".json"); ok {
			keys[key] = true
		}
	}
	return keys, nil
}

// Withdraw puts a record aside so that its trial is run again. It does nothing where another
// runner is running the trial.
func (s *Store) Withdraw(key string) error {
	unlock, ok, err := s.locks.try(key)
	if err != nil || !ok {
		return err
	}
	defer unlock()
	_, err = s.moveAside(trialPath(key))
	return err
}

// Put writes a record durably: when it returns, the record survives a crash of the machine.
// An invalid record is a defect, and refused.
func (s *Store) Put(r *record.Record) error {
	raw, err := record.Encode(r)
	if err != nil {
		return err
	}
	problem := s.verify(r, r.Key)
	if err := r.Check(); err != nil {
		problem = err.Error()
	} else if !r.Sealed() {
		problem = "it has no result version"
	}
	if problem != "" {
		return fmt.Errorf("a defect: the record of trial %.12s would not be read again: %s", r.Key, problem)
	}
	return disk.WriteFile(s.disk, s.path(r.Key), raw)
}

// Settle makes the records of all runners durable, because a killed runner may have left
// records that are visible but would not survive a crash of the machine. It is called before
// a report on all records.
func (s *Store) Settle() error { return s.disk.SyncDir(filepath.Join(s.dir, trialsDir)) }

// Lock takes the lock of a trial, without waiting; ok is false where another
// runner holds it.
func (s *Store) Lock(key string) (unlock func(), ok bool, err error) {
	return s.locks.try(key)
}

// Asides returns the files that were put aside since the store was opened.
func (s *Store) Asides() []Aside {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Aside(nil), s.aside...)
}

// note adds a file to the asides. Files that are only read may be read again, and are added
// once.
func (s *Store) note(a Aside) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Moved == "" && slices.Contains(s.aside, a) {
		return
	}
	s.aside = append(s.aside, a)
}

// setAside puts a file aside and notes the reason.
func (s *Store) setAside(file, reason string) error {
	moved, err := s.moveAside(file)
	if err != nil {
		return fmt.Errorf("%s cannot be used (%s) nor put aside: %w", file, reason, err)
	}
	if moved != "" {
		s.note(Aside{File: file, Moved: moved, Reason: reason})
	}
	return nil
}

// moveAside puts a file aside and returns its new path; "" where another runner was faster. The
// new name is durable before the old one is removed, so that a new record under the old name
// replaces nothing.
func (s *Store) moveAside(file string) (moved string, err error) {
	if moved, err = s.asideName(file); err != nil {
		return "", err
	}
	from, to := filepath.Join(s.dir, file), filepath.Join(s.dir, moved)
	linked := s.disk.Link(from, to) == nil
	if !linked { // a folder has one name only, and so has every file on some file systems
		err = s.disk.Rename(from, to)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = s.disk.SyncDir(filepath.Dir(to))
	}
	if err == nil && linked {
		err = s.disk.Remove(from)
	}
	return moved, err
}

// asideName makes the folder of files that are put aside, and returns the path for one of them,
// relative to the output folder.
func (s *Store) asideName(file string) (string, error) {
	if err := disk.MakeFolder(s.disk, filepath.Join(s.dir, asideDir), 0o777); err != nil {
		return "", err
	}
	return filepath.Join(asideDir, fmt.Sprintf("%s.%d", filepath.Base(file), time.Now().UnixNano())), nil
}

// Version identifies the stored record of a trial: it changes with every write, and is zero
// where there is no record. Versions have no order, because clocks of machines differ and jump.
func (s *Store) Version(key string) (Version, error) {
	info, err := s.disk.Stat(s.path(key))
	if errors.Is(err, fs.ErrNotExist) || unreadable(err) {
		return Version{}, nil
	}
	return Version{info, s.disk}, err
}

// Version is a state of the record of a trial.
type Version struct {
	file fs.FileInfo
	disk disk.Disk
}

// Same reports whether two versions are of one record.
func (v Version) Same(w Version) bool {
	if v.file == nil || w.file == nil {
		return v.file == nil && w.file == nil
	}
	// A record is never written to the file of an older one, but the file system may reuse
	// its inode.
	return v.disk.SameFile(v.file, w.file) && v.file.ModTime().Equal(w.file.ModTime()) && v.file.Size() == w.file.Size()
}

// Modified returns the time at which the record of a trial was written, by the clock of the
// machine that wrote it. It does not order records.
func (s *Store) Modified(key string) (time.Time, error) {
	info, err := s.disk.Stat(s.path(key))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
