package dataset

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// DefaultExtractLimit bounds what [Extract] writes, in bytes, so that a small
// archive cannot fill the disk.
const DefaultExtractLimit = 16 << 30

// Extract unpacks a .zip, .tar, .tar.gz or .tgz archive into an existing
// folder. It refuses, before writing it, every entry that would land outside
// the folder or is neither a regular file nor a directory, a file that is
// already there, and content beyond limit bytes (0: [DefaultExtractLimit]).
func Extract(ctx context.Context, archive, folder string, limit int64) error {
	if limit == 0 {
		limit = DefaultExtractLimit
	}
	// All writing goes through a root, which also does not follow links out
	// of the folder.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written to the handle
	x := &extraction{ctx: ctx, root: root, left: limit, limit: limit}
	if strings.HasSuffix(archive, ".zip") {
		err = x.zip(archive)
	} else {
		err = x.tar(archive)
	}
	if err != nil {
		return fmt.Errorf("archive %s: %w", filepath.Base(archive), err)
	}
	return nil
}

type extraction struct {
	ctx         context.Context
	root        *os.Root
	left, limit int64
}

func (x *extraction) zip(archive string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // opened for reading only
	for _, entry := range z.File {
		mode := entry.Mode()
		if err := x.entry(entry.Name, mode.IsDir(), mode.IsRegular(), entry.Open); err != nil {
			return err
		}
	}
	return nil
}

func (x *extraction) tar(archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var r io.Reader = f
	switch {
	case strings.HasSuffix(archive, ".gz"), strings.HasSuffix(archive, ".tgz"):
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	case !strings.HasSuffix(archive, ".tar"):
		return fmt.Errorf("unknown format; .zip, .tar, .tar.gz and .tgz are known")
	}
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(t), nil }
		if err := x.entry(h.Name, h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeReg, open); err != nil {
			return err
		}
	}
}

// entry writes one entry of an archive.
func (x *extraction) entry(name string, isDir, isRegular bool, open func() (io.ReadCloser, error)) error {
	local := filepath.FromSlash(path.Clean(name))
	switch {
	case strings.Contains(name, `\`) || !filepath.IsLocal(local):
		return fmt.Errorf("the entry %q would leave the folder; nothing of it was written", name)
	case isDir:
		return x.root.MkdirAll(local, 0o755)
	case !isRegular:
		return fmt.Errorf("the entry %q is neither a file nor a directory; links and devices are refused", name)
	}
	if err := x.root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	in, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := x.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, contextReader{x.ctx, io.LimitReader(in, x.left+1)})
	x.left -= n
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil && x.left < 0 {
		err = fmt.Errorf("more than %d bytes of content", x.limit)
	}
	if err != nil {
		return fmt.Errorf("the entry %q: %w", name, err)
	}
	return nil
}
