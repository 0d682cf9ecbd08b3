package disk

import "os"

// tryLock locks the first byte of the file, which need not exist. The lock belongs to
// the open file: it excludes goroutines and processes, and ends with the process that
// holds it. An open file cannot be removed on Windows, so that the locked file keeps
// its name.
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
