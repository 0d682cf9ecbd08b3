package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"privkern/runner/store/disk"
)

// writeFile writes a file of any length, which gets its name when it is complete. On an error
// an old file is unchanged. Errors of write are returned unchanged.
func writeFile(path string, write func(io.Writer) error) error {
	var inside error
	err := disk.WriteFileWith(disk.System, path, func(w io.Writer) error {
		inside = write(w)
		return inside
	})
	if err == nil || inside != nil {
		return err
	}
	return cannotWrite(path, err)
}

// cannotWrite returns an error without the name of the temporary file.
func cannotWrite(path string, err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%s cannot be written: %w", path, err)
}

// checkFile refuses to replace a file that this package did not write. ours recognises its
// files by their first bytes.
func checkFile(path, format string, ours func(head []byte) bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		dir := filepath.Dir(path)
		if d, err := os.Stat(dir); err != nil || !d.IsDir() {
			return fmt.Errorf("%s cannot be written: %s is not a folder", path, dir)
		}
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name the file to be written, and with --from the output folder to be exported",
			path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; name a file to be written", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s is there and cannot be read: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s is there and cannot be read: %w", path, err)
	}
	if n > 0 && !ours(head[:n]) {
		return fmt.Errorf("%s is there and is no %s of this program; remove it, or name another", path, format)
	}
	return nil
}
