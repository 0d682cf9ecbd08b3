package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// WriteFile writes a file durably, with mode 0644: to a temporary file beside it,
// synced, then renamed. On an error the old file, if any, is as it was, or the new
// one is there and may not survive a crash.
func WriteFile(d Disk, path string, data []byte) error {
	return WriteFileWith(d, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFileWith is [WriteFile] for a content that need not be in memory as a
// whole. It may call write again.
func WriteFileWith(d Disk, path string, write func(io.Writer) error) error {
	if err := Replace(d, path, 0o644, write); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

// Replace is [WriteFileWith] without what makes the new name durable: after a
// crash the old file or the new one is there, and whole.
func Replace(d Disk, path string, mode fs.FileMode, write func(io.Writer) error) error {
	for attempt := 1; ; attempt++ {
		removed, err := replace(d, path, mode, write)
		if !removed || attempt == 3 {
			return err
		}
	}
}

// replace is one attempt; removed says that the temporary file was gone before it
// was renamed: by the clock of another process it was an old one.
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

// CreateTemp makes a temporary file beside a path, which is what the path is
// written to first.
func CreateTemp(d Disk, path string) (File, error) {
	return d.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// CreateFile writes a new file durably, with mode 0644, but for its name: see
// [Disk.SyncDir]. It is whole from the moment that it is there. Where something
// has its name already, the error is [fs.ErrExist].
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
	// A file system without links has no such test in one step.
	if _, err := d.Lstat(path); err == nil {
		return fs.ErrExist
	}
	return d.Rename(f.Name(), path)
}

// MakeFolder makes a folder and those above it, durably. A folder that is there may
// have been made by a process that was killed before it synced the folder above,
// which is synced here. It is the only one that may be missing: each folder is
// durable before one is made in it.
//
// A folder that may be entered but not read cannot be synced, and is left to the
// file system.
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
