package disk

import (
	"io/fs"
	"os"
	"time"
)

// System is the file system of the operating system.
var System Disk = system{}

type system struct{}

func (system) Names(path string) ([]string, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	return d.Readdirnames(-1)
}

func (system) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (system) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

func (system) SameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) }

func (system) Mkdir(path string, mode fs.FileMode) error { return os.Mkdir(path, mode) }

func (system) CreateTemp(dir, pattern string) (File, error) { return os.CreateTemp(dir, pattern) }

func (system) Link(file, name string) error { return os.Link(file, name) }

func (system) Touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

func (system) LockFile(path string) (unlock func(), err error) { return tryLock(path) }
