package dataset

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

type packedEntry struct {
	name, text string
	link       string // a symbolic link to it, where not empty
}

func packZip(to io.Writer, entries []packedEntry) error {
	z := zip.NewWriter(to)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name}
		h.SetMode(0o644)
		text := e.text
		if e.link != "" {
			h.SetMode(os.ModeSymlink | 0o777)
			text = e.link
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return z.Close()
}

func packTar(to io.Writer, entries []packedEntry) error {
	w := tar.NewWriter(to)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		if e.link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e.link, 0
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			return err
		}
	}
	return w.Close()
}

func packTarGz(to io.Writer, entries []packedEntry) error {
	g := gzip.NewWriter(to)
	return errors.Join(packTar(g, entries), g.Close())
}

var formats = map[string]func(io.Writer, []packedEntry) error{"a.zip": packZip, "a.tar": packTar, "a.tar.gz": packTarGz}

// writeArchive writes an archive of that format.
func writeArchive(t *testing.T, path string, pack func(io.Writer, []packedEntry) error, entries []packedEntry) {
	t.Helper()
	var b bytes.Buffer
	if err := pack(&b, entries); err != nil {
		t.Fatal(err)
	}
	filetest.WriteFile(t, b.Bytes(), path)
}

func TestExtract(t *testing.T) {
	for name, pack := range formats {
		dir := t.TempDir()
		archive, folder := filepath.Join(dir, name), filepath.Join(dir, "out")
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		writeArchive(t, archive, pack, []packedEntry{{name: "a.txt", text: "A"}, {name: "deep/er/b.txt", text: "B"},
			{name: "./c..txt", text: "C"}})
		if err := Extract(context.Background(), archive, folder, 0); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for path, want := range map[string]string{"a.txt": "A", "deep/er/b.txt": "B", "c..txt": "C"} {
			t.Run(path, func(t *testing.T) {
				if got, err := os.ReadFile(filepath.Join(folder, path)); string(got) != want {
					t.Errorf("%s: %s holds %q (%v)", name, path, got, err)
				}
			})
		}
	}
}

func TestExtractRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []packedEntry
		limit   int64
		want    string
	}{
		{"parent", []packedEntry{{name: "../evil", text: "x"}}, 0, "leave the folder"},
		{"parent inside", []packedEntry{{name: "a/../../evil", text: "x"}}, 0, "leave the folder"},
		{"absolute", []packedEntry{{name: "/evil", text: "x"}}, 0, "leave the folder"},
		{"backslash", []packedEntry{{name: `..\evil`, text: "x"}}, 0, "leave the folder"},
		{"link", []packedEntry{{name: "l", link: ".."}, {name: "l/evil", text: "x"}}, 0, "neither a file nor a directory"},
		{"twice", []packedEntry{{name: "a", text: "x"}, {name: "a", text: "y"}}, 0, "exists"},
		{"too large", []packedEntry{{name: "a", text: strings.Repeat("x", 60)}, {name: "b", text: strings.Repeat("x", 60)}},
			100, "more than 100 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for format, pack := range formats {
				dir := t.TempDir()
				archive, folder := filepath.Join(dir, format), filepath.Join(dir, "in", "out")
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				writeArchive(t, archive, pack, c.entries)
				err := Extract(context.Background(), archive, folder, c.limit)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s in %s: %v; want %q", c.name, format, err, c.want)
				}
				for _, outside := range []string{filepath.Join(dir, "evil"), filepath.Join(dir, "in", "evil"), "/evil"} {
					mustNotExist(t, outside)
				}
			}
		})
	}
}

func TestExtractUnknownFormat(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "a.rar")
	if err := os.WriteFile(archive, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Extract(context.Background(), archive, t.TempDir(), 0); err == nil ||
		!strings.Contains(err.Error(), "unknown format") {
		t.Error(err)
	}
}
