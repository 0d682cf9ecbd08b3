package disk

import "os"

// tryLock locks the first byte of the file, which need not be there. The lock
// belongs to the open file: it excludes goroutines as it excludes processes, and
// ends with the process that holds it. Nobody can remove a file that is open here,
// so that the one of this name is the one that is locked.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ok, err := lockBytes(f, exclusiveLock, 0, 1)
	if !ok && err == nil {
		err = ErrHeld
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() {
		unlockBytes(f, 0, 1) // closing would unlock, but later
		_ = f.Close()
	}, nil
}
