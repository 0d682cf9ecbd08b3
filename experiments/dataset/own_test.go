package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

// A file of the user's is a data set under the name csv:PATH.
func TestFindFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range []string{OwnCSV, OwnParquet} {
		name := OwnName(kind, "sub/my.csv")
		filetest.WriteFile(t, []byte("a,b\n1,2\n"), "sub", "my.csv")
		path, digest, err := Locator{}.Find(name)
		if err != nil || !filepath.IsAbs(path) || len(digest) != 64 {
			t.Fatalf("%s, %s, %v", path, digest, err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != "a,b\n1,2\n" {
			t.Errorf("%s holds %q, %v", path, raw, err)
		}
		if _, again, _ := (Locator{}).Find(OwnName(kind, "./sub/my.csv")); again != digest {
			t.Errorf("by another path the digest is %s, not %s", again, digest)
		}
		filetest.WriteFile(t, []byte("a,b\n1,3.\n"), "sub", "my.csv")
		if _, other, _ := (Locator{}).Find(name); other == digest {
			t.Error("other content has the same digest")
		}
	}
	_, digest, err := Locator{}.Find("csv:sub/mine.csv")
	var missing *MissingFileError
	if !errors.As(err, &missing) || digest != notSupplied ||
		err.Error() != "the file sub/mine.csv is not there; its path starts at the current folder" {
		t.Errorf("digest %q, %v", digest, err)
	}
	_, _, err = Locator{}.Find("csv:sub")
	filetest.MustFail(t, err, "sub: it is not a regular file")
	for _, kind := range ownKinds {
		_, _, err = Locator{}.Find(kind + ":")
		filetest.MustFail(t, err, "names no file")
	}
}

// The digest covers the array and its file of labels.
func TestFindArrays(t *testing.T) {
	t.Chdir(t.TempDir())
	find := func() string {
		path, digest, err := Locator{}.Find("npy:x.npy")
		if err != nil || !filepath.IsAbs(path) || filepath.Base(path) != "x.npy" {
			t.Fatalf("%s, %v", path, err)
		}
		return digest
	}
	filetest.WriteFile(t, []byte("numbers"), "x.npy")
	alone := find()
	filetest.WriteFile(t, []byte("labels"), "x.labels.npy")
	both := find()
	filetest.WriteFile(t, []byte("labelz"), "x.labels.npy")
	other := find()
	filetest.WriteFile(t, []byte("number"), "x.npy")
	if d := []string{alone, both, other, find()}; len(slices.Compact(slices.Sorted(slices.Values(d)))) != 4 {
		t.Errorf("%v", d)
	}
}

// Of a folder of pictures, names and contents have a part.
func TestFindPictures(t *testing.T) {
	t.Chdir(t.TempDir())
	find := func() string {
		path, digest, err := Locator{}.Find("images:my@8x8")
		if err != nil || !filepath.IsAbs(path) || filepath.Base(path) != "my" {
			t.Fatalf("%s, %v", path, err)
		}
		return digest
	}
	filetest.WriteFile(t, []byte("one"), "my", "cat", "a.png")
	filetest.WriteFile(t, []byte("two"), "my", "dog", "a.png")
	first := find()
	filetest.WriteFile(t, []byte("hidden"), "my", "dog", ".thumbs")
	if find() != first {
		t.Error("a hidden file changed the digest")
	}
	if _, same, _ := (Locator{}).Find("images:./my"); same != first {
		t.Error("another size or path changed the digest of the files")
	}
	if err := os.Rename("my/dog", "my/wolf"); err != nil {
		t.Fatal(err)
	}
	renamed := find()
	filetest.WriteFile(t, []byte("ten"), "my", "cat", "a.png")
	if d := []string{first, renamed, find()}; len(slices.Compact(slices.Sorted(slices.Values(d)))) != 3 {
		t.Errorf("%v", d)
	}
	_, _, err := Locator{}.Find("images:none")
	var missing *MissingFileError
	if !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
	_, _, err = Locator{}.Find("images:my/cat/a.png")
	filetest.MustFail(t, err, "my/cat/a.png: not a directory")
	if err := os.Mkdir("my/cat/b.png", 0o700); err != nil {
		t.Fatal(err)
	}
	_, _, err = Locator{}.Find("images:my")
	filetest.MustFail(t, err, "my/cat/b.png: it is a folder in that of a class")
}

func TestOwnNames(t *testing.T) {
	for _, c := range []struct {
		name, kind, path string
		width, height    int
	}{
		{"csv:a b.csv", OwnCSV, "a b.csv", 0, 0},
		{"csv:images:x", OwnCSV, "images:x", 0, 0},
		{"csv:x@2x2", OwnCSV, "x@2x2", 0, 0},
		{"npy:x.npy", OwnNPY, "x.npy", 0, 0},
		{"images:my", OwnImages, "my", 28, 28},
		{"images:my@32x24", OwnImages, "my", 32, 24},
		{"images:my@8x8@32x24", OwnImages, "my@8x8", 32, 24},
		{"images:me@home", OwnImages, "me@home", 28, 28},
		{"kung", "", "", 0, 0}, {"CSV:x", "", "", 0, 0}, {"csv", "", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, ok := FilePath(c.name)
			if OwnKind(c.name) != c.kind || path != c.path || ok != (c.kind != "") || IsOwn(c.name) != ok {
				t.Errorf("%q, %q, %v", OwnKind(c.name), path, ok)
			}
			if w, h, err := SizeOfPictures(c.name); c.width > 0 && (w != c.width || h != c.height || err != nil) {
				t.Errorf("%d×%d, %v", w, h, err)
			}
		})
	}
}
