package store

import "path/filepath"

// Held says whether a runner holds the lock of a trial at present, and so is
// running it. It asks and takes nothing: a folder opened for reading stays as it
// is.
func (s *Store) Held(key string) (bool, error) { return s.held(offset(key), 1) }

// Busy says whether a runner holds any lock of the folder at present. The locks
// of this store count too.
func (s *Store) Busy() (bool, error) { return s.held(0, 0) } // length 0 is up to the end

func (s *Store) held(start, length int64) (bool, error) {
	return s.disk.RangeHeld(filepath.Join(s.dir, lockFile), start, length)
}
