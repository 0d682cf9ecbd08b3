package store

import (
	"fmt"
	"path/filepath"

	"privkern/runner/store/disk"
)

// logPath returns the path of the log of a trial, relative to the output folder. The log has
// the output of a crashed process, or a stack, for diagnosis.
func logPath(key string) string { return filepath.Join(logsDir, key+".log") }

// ProfilePath returns the path of the CPU profile of a trial, which may be deleted at any time.
func (s *Store) ProfilePath(key string) string {
	return filepath.Join(s.dir, profilesDir, key+".pprof")
}

// PutLog writes the log of a trial in place of an earlier one, and returns its
// name in the output folder.
func (s *Store) PutLog(key string, text []byte) (name string, err error) {
	name = logPath(key)
	if err := disk.MakeFolder(s.disk, filepath.Join(s.dir, logsDir), 0o777); err != nil {
		return "", fmt.Errorf("the folder of logs cannot be made: %w", err)
	}
	return name, disk.WriteFile(s.disk, filepath.Join(s.dir, name), text)
}

// CopyLog copies the log of a trial from another folder. A missing log is an error.
func (s *Store) CopyLog(key string, from *Store) error {
	text, err := from.disk.ReadFile(filepath.Join(from.dir, logPath(key)))
	if err != nil {
		return err
	}
	_, err = s.PutLog(key, text)
	return err
}
