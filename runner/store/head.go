package store

import (
	"fmt"
	"path/filepath"

	"privkern/runner/plan"
	"privkern/runner/store/disk"
)

// PlanFile and TrialsDir are names in an output folder, for those who only look at their dates.
const (
	PlanFile  = planFile
	TrialsDir = trialsDir
)

// OpenHead opens an output folder for reading and reads its plan without the settings: records are compared with their
// own keys and not with the plan.
func OpenHead(d disk.Disk, dir string) (*Store, *plan.Head, error) {
	s, err := Open(d, dir)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, planFile)
	raw, err := d.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	h, err := plan.ParseHead(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, h, nil
}

// Text returns the text of a record as it is, with the record, or the defect of its file.
func (s *Store) Text(key string) (text []byte, err error) {
	_, text, problem, err := s.read(key)
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		return nil, fmt.Errorf("%s cannot be used: %s", filepath.Join(s.dir, trialPath(key)), problem)
	case text == nil:
		return nil, fmt.Errorf("%s has no record of the trial %.12s", s.dir, key)
	}
	return text, nil
}
