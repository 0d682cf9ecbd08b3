package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"privkern/runner/store"
)

// writeFile writes a file of any length: to a temporary file beside it, synced,
// then renamed. On an error the old file, if any, is as it was.
func writeFile(path string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return cannotWrite(path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err = write(w); err != nil {
		return err
	}
	for _, step := range []func() error{
		w.Flush, func() error { return f.Chmod(0o644) }, f.Sync, f.Close,
		func() error { return os.Rename(f.Name(), path) }, func() error { return store.SyncDir(dir) },
	} {
		if err = step(); err != nil {
			return cannotWrite(path, err)
		}
	}
	return nil
}

// cannotWrite leaves out the name of the temporary file.
func cannotWrite(path string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s cannot be written: %w", path, err)
}

// checkFile refuses to replace what is not a file that this package wrote, as
// ours tells from its first bytes.
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
		return fmt.Errorf("%s is a folder; name the file to be written, and with --from the output folder to be exported", path)
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
