package dataset

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

// For any archive nothing is written outside the folder, no more than the limit inside, and no link
// is made.
func FuzzExtract(f *testing.F) {
	entries := []packedEntry{{name: "a.txt", text: "A"}, {name: "deep/er/b.txt", text: "B"}, {name: "../evil", text: "x"}}
	for _, some := range [][]packedEntry{entries[:2], entries[1:],
		{{name: "l", link: ".."}, {name: "l/evil", text: "x"}}} {
		for format, write := range map[byte]func(io.Writer, []packedEntry) error{0: packZip, 1: packTar, 2: packTarGz} {
			var b bytes.Buffer
			if err := write(&b, some); err != nil {
				f.Fatal(err)
			}
			f.Add(format, b.Bytes())
		}
	}
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, format byte, file []byte) {
		dir := t.TempDir()
		folder := filepath.Join(dir, "in", "out")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		archive := filetest.WriteFile(t, file, dir, "a"+[]string{".zip", ".tar", ".tar.gz"}[int(format)%3])
		filetest.Bounded(t, file, 64, func() {
			if err := Extract(context.Background(), archive, folder, limit); err != nil &&
				!strings.Contains(err.Error(), filepath.Base(archive)) {
				t.Errorf("the error does not name the archive: %v", err)
			}
		})
		var content int64
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			switch inside := strings.HasPrefix(path, folder+string(filepath.Separator)); {
			case path != archive && !d.IsDir() && !inside:
				t.Errorf("%s was written", path)
			case !d.IsDir() && !d.Type().IsRegular():
				t.Errorf("%s is a %v", path, d.Type())
			case inside && !d.IsDir():
				info, err := d.Info()
				if err != nil {
					return err
				}
				content += info.Size()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if content > limit+1 {
			t.Errorf("%d bytes were written; the limit is %d", content, limit)
		}
	})
}
