package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store/disk"
)

// reference is the plan of the folder, with which records are compared.
type reference struct {
	plan        *plan.Plan
	experiments *experiment.Registry

	once   sync.Once
	trials map[string]int // key to position
}

// trial returns the trial of the plan with that key, nil for none.
func (f *reference) trial(key string) *plan.Trial {
	f.once.Do(func() {
		f.trials = make(map[string]int, len(f.plan.Trials))
		for i := range f.plan.Trials {
			f.trials[f.plan.Trials[i].Key] = i
		}
	})
	if i, ok := f.trials[key]; ok {
		return &f.plan.Trials[i]
	}
	return nil
}

// read returns the record of a trial with its text, or the defect of its file; neither where
// there is no file. All records are read here. Errors concern the machine, not the file.
func (s *Store) read(key string) (r *record.Record, text []byte, problem string, err error) {
	text, err = s.disk.ReadFile(s.path(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, "", nil
	case unreadable(err):
		return nil, nil, "it cannot be read: " + errors.Unwrap(err).Error(), nil
	case err != nil:
		return nil, nil, "", err
	}
	r, defect := record.Parse(text)
	if defect != nil {
		problem = defect.Error()
	} else {
		problem = s.verify(r, key)
	}
	if problem != "" {
		return nil, nil, problem, nil
	}
	return r, text, "", nil
}

// unreadable reports whether the error of a read concerns a single file, such as a folder of
// that name or a bad sector, and not the machine.
func unreadable(err error) bool {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return false
	}
	return slices.ContainsFunc(fileErrors, func(of error) bool { return errors.Is(path.Err, of) })
}

// unsealedAlone is the reason why an unsealed record is invalid without a plan that has its key.
const unsealedAlone = "an unsealed record, and no plan that it could be read beside"

// verify returns the reason why a valid record is not that of the trial with this key; "" where
// it is.
func (s *Store) verify(r *record.Record, key string) string {
	if r.Key != key {
		return fmt.Sprintf("the record of another trial (%.12s)", r.Key)
	}
	const other = "its key is not that of its content: it holds other settings than those it is stored for"
	f := s.reference.Load()
	switch {
	case f == nil && !r.Sealed():
		return unsealedAlone
	case f == nil:
		// Only the plan has the data of a trial that could not use them.
		withoutData := r.Status != record.OK && len(r.Provenance.Datasets) == 0
		if !withoutData && !r.Salted() && !record.HasKey(r.Identity(), key) {
			return other
		}
		return ""
	case r.Salted() && !f.planned(r):
		return "the record of a trial with secure noise that the plan does not have"
	case !r.Salted() && !f.plan.Expect(r, key, f.experiments):
		return other
	}
	e, err := f.experiments.Lookup(r.Experiment)
	if err == nil && r.Status == record.OK && len(e.Metrics) > 0 && len(r.Metrics) == 0 {
		return "a result without metrics"
	}
	return ""
}

// planned compares a record with the trial of the plan that has its key. It serves keys that
// cannot be recomputed.
func (f *reference) planned(r *record.Record) bool {
	t := f.trial(r.Key)
	if t == nil || t.Experiment != r.Experiment || t.Seed != r.Seed ||
		f.plan.Backend != r.Backend || f.plan.DType != r.DType {
		return false
	}
	a, errA := record.CanonicalParams(t.Params)
	b, errB := record.CanonicalParams(r.Params)
	return errA == nil && errB == nil && string(a) == string(b)
}

// FileState is the state of a file in the folder of records.
type FileState struct {
	Problem string // "" for a valid record, or none
	There   bool
	Sealed  bool
	Planned bool // the plan has its key
}

// Examine returns the state of the record of a trial. The unsealed record of a trial that the
// plan lacks, such as from another plan, cannot be verified and has no problem.
func (s *Store) Examine(key string) (FileState, error) {
	f := s.reference.Load()
	v := FileState{Planned: f != nil && f.trial(key) != nil}
	from := s
	if !v.Planned {
		from = newStore(s.disk, s.dir, nil)
	}
	r, _, problem, err := from.read(key)
	if err != nil {
		return v, err
	}
	v.There, v.Sealed = r != nil || problem != "", r != nil && r.Sealed()
	if problem != unsealedAlone {
		v.Problem = problem
	}
	return v, nil
}

// Seal adds the result version and the digest to a valid unsealed record, and changes nothing
// else. The caller must hold the trial's lock.
func (s *Store) Seal(key string) (done bool, err error) {
	r, text, problem, err := s.read(key)
	f := s.reference.Load()
	if err != nil || problem != "" || r == nil || r.Sealed() || f == nil {
		return false, err
	}
	if text, err = record.Seal(text, f.plan.Versions[r.Experiment]); err != nil {
		return false, err
	}
	return true, disk.WriteFile(s.disk, s.path(key), text)
}

// Copy copies the record of a trial from another folder, byte for byte; ok is false where that
// has none. The caller must hold the trial's lock.
func (s *Store) Copy(key string, from *Store) (ok bool, err error) {
	r, text, _, err := from.read(key)
	if err != nil || r == nil {
		return false, err
	}
	return true, disk.WriteFile(s.disk, s.path(key), text)
}

// SealPlan adds the digest to a plan and changes nothing else.
func (s *Store) SealPlan(experiments *experiment.Registry) (done bool, err error) {
	unlock, err := s.locks.wait(context.Background(), "plan")
	if err != nil {
		return false, err
	}
	defer unlock()
	path := filepath.Join(s.dir, planFile)
	raw, err := s.disk.ReadFile(path)
	if err != nil {
		return false, err
	}
	p, err := plan.Verify(raw, experiments)
	if err != nil || p.Sealed {
		return false, err
	}
	if raw, err = record.AppendDigest(raw, plan.DigestMember); err != nil {
		return false, err
	}
	return true, disk.WriteFile(s.disk, path, raw)
}

// Files lists the folder of records in order, without temporary files.
func (s *Store) Files() ([]string, error) { return s.visible(trialsDir) }

// visible lists a folder, which may be absent, in order, without temporary files.
func (s *Store) visible(folder string) ([]string, error) {
	names, err := s.disk.Names(filepath.Join(s.dir, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, nil
}

// Discard puts a file aside that is not a record; its path is relative to the output folder.
func (s *Store) Discard(file, reason string) error { return s.setAside(file, reason) }
