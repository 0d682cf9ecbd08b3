package store

import "path/filepath"

// Held reports whether a runner holds the lock of a trial, and so is running it. It takes no
// lock, so that a folder opened for reading is unchanged.
func (s *Store) Held(key string) (bool, error) { return s.held(offset(key), 1) }

// Busy reports whether a runner, including this one, holds any lock of the folder.
func (s *Store) Busy() (bool, error) { return s.held(0, 0) } // length 0 is up to the end

func (s *Store) held(start, length int64) (bool, error) {
	return s.disk.RangeHeld(filepath.Join(s.dir, lockFile), start, length)
}
