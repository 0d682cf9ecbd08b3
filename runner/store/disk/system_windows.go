package disk

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// patience is the maximum wait for a file that another program has open, such as a reader of
// the old version or a virus scanner.
const patience = 2 * time.Second

// persist calls f until its error is not in busy, or patience ends.
func persist(f func() error, busy ...error) error {
	pause := time.Millisecond
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		err := f()
		again := false
		for _, of := range busy {
			again = again || errors.Is(err, of)
		}
		if !again || time.Now().After(deadline) {
			return err
		}
		pause = min(2*pause, 100*time.Millisecond)
	}
}

func (system) Open(path string) (r io.ReadCloser, err error) {
	err = persist(func() (err error) {
		r, err = os.Open(path)
		return err
	}, windows.ERROR_SHARING_VIOLATION)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (system) ReadFile(path string) (data []byte, err error) {
	err = persist(func() (err error) {
		data, err = os.ReadFile(path)
		return err
	}, windows.ERROR_SHARING_VIOLATION)
	return data, err
}

// Rename differs from [os.Rename] in that it requests write-through of the entry, because
// Windows cannot sync the folder.
func (system) Rename(from, to string) error {
	failed := func(err error) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: err} }
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return failed(err)
	}
	name, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return failed(err)
	}
	err = persist(func() error {
		return windows.MoveFileEx(old, name, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
	}, windows.ERROR_SHARING_VIOLATION, windows.ERROR_ACCESS_DENIED)
	if err != nil {
		return failed(err)
	}
	return nil
}

func (system) Remove(path string) error {
	return persist(func() error { return os.Remove(path) }, windows.ERROR_SHARING_VIOLATION)
}

// SyncDir only checks the folder: see the package documentation on Windows.
func (system) SyncDir(path string) error {
	_, err := os.Stat(path)
	return err
}
