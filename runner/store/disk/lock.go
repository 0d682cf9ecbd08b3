package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrHeld says that another process or goroutine holds a lock.
var ErrHeld = errors.New("the lock is held")

// tryExclusive is a lock for systems without flock: whoever creates the file has
// it. Unlike flock it outlives a killed holder, and a person has to remove it.
func tryExclusive(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", path)
		}
		return nil, fmt.Errorf("%w: by the process whose number is in %s; if it is not alive, remove that file",
			ErrHeld, path)
	}
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return func() { _ = os.Remove(path) }, nil
}
