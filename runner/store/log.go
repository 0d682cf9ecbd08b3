package store

import (
	"fmt"
	"path/filepath"

	"privkern/runner/store/disk"
)

// logPath is where the log of a trial is, relative to the output folder: what a
// process printed that crashed, or a stack. It is for people; nothing reads it.
func logPath(key string) string { return filepath.Join(logsDir, key+".log") }

// ProfilePath is the file for a profile of the processor of a trial. Nothing reads it, and
// it may be deleted at any time.
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

// CopyLog copies the log of a trial from another folder. It is an error where
// that has none.
func (s *Store) CopyLog(key string, from *Store) error {
	text, err := from.disk.ReadFile(filepath.Join(from.dir, logPath(key)))
	if err != nil {
		return err
	}
	_, err = s.PutLog(key, text)
	return err
}
