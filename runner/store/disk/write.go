package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// WriteFile writes a file durably, with mode 0644: to a temporary file in the same folder,
// synced, then renamed. After an error the old file, if any, is unchanged, or the new one
// exists and may not survive a crash.
func WriteFile(d Disk, path string, data []byte) error {
	return WriteFileWith(d, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFileWith is [WriteFile] for content that write streams. It may call write again.
func WriteFileWith(d Disk, path string, write func(io.Writer) error) error {
	if err := Replace(d, path, 0o644, write); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

// Replace is [WriteFileWith] without the sync of the new name: after a crash either the old
// file or the new one exists, and is whole.
func Replace(d Disk, path string, mode fs.FileMode, write func(io.Writer) error) error {
	for attempt := 1; ; attempt++ {
		removed, err := replace(d, path, mode, write)
		if !removed || attempt == 3 {
			return err
		}
	}
}

// replace is one attempt; removed reports that the temporary file was removed before the
// rename, by a process with another clock that considered it old.
func replace(d Disk, path string, mode fs.FileMode, write func(io.Writer) error) (removed bool, err error) {
	f, err := CreateTemp(d, path)
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = d.Remove(f.Name())
		}
	}()
	if err = fill(f, mode, write); err != nil {
		return false, err
	}
	if err = d.Rename(f.Name(), path); err != nil {
		_, gone := d.Lstat(f.Name())
		return errors.Is(gone, fs.ErrNotExist), err
	}
	return false, nil
}

// fill writes a new file durably and closes it.
func fill(f File, mode fs.FileMode, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// CreateTemp makes a temporary file in the folder of a path, to be renamed to it.
func CreateTemp(d Disk, path string) (File, error) {
	return d.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// CreateFile writes a new file with mode 0644 and durable content; [Disk.SyncDir] makes its
// name durable. The file is whole when it appears. The error is [fs.ErrExist] where the name
// exists.
func CreateFile(d Disk, path string, data []byte) error {
	f, err := CreateTemp(d, path)
	if err != nil {
		return err
	}
	defer func() {
		_ = d.Remove(f.Name()) // after a rename it is gone
	}()
	err = fill(f, 0o644, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		_ = f.Close()
		return err
	}
	err = d.Link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without links has no atomic test.
	if _, err := d.Lstat(path); err == nil {
		return fs.ErrExist
	}
	return d.Rename(f.Name(), path)
}

// MakeFolder makes a folder and those above it, durably. An existing folder may have been made
// by a process that was killed before it synced the folder above, so that this is synced,
// too. The folders above it are durable, because each is before another is made in it.
//
// A folder above that cannot be read cannot be synced, which is no error.
func MakeFolder(d Disk, dir string, mode fs.FileMode) error {
	above := filepath.Dir(dir)
	info, err := d.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := MakeFolder(d, above, mode); err != nil {
			return err
		}
		if err := d.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err = d.Stat(dir)
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file, not a folder", dir)
	case above == dir:
		return nil
	}
	if err := d.SyncDir(above); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
