package store

// ReadWith replaces how records are read, so that a disk can fail.
func (s *Store) ReadWith(read func(path string) ([]byte, error)) { s.readFile = read }
