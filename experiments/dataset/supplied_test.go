package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privkern/experiments/dataset/internal/filetest"
)

var suppliedSet = Set{Name: "mine", Supplied: "put a and b there", Files: []File{{Path: "a"}, {Path: "b"}}}

func TestSuppliedIsFoundByItsContent(t *testing.T) {
	root := t.TempDir()
	locator := Locator{Roots: []string{t.TempDir(), root}}
	a := filetest.WriteFile(t, []byte("first"), root, "mine", "a")
	filetest.WriteFile(t, []byte("second"), root, "mine", "b")
	digest := func() string {
		t.Helper()
		folder, found, err := locator.Resolve(context.Background(), suppliedSet)
		if err != nil || folder != filepath.Join(root, "mine") {
			t.Fatalf("found %q, %v", folder, err)
		}
		if n := found.TotalSize(); n != int64(len("firstsecond")) {
			t.Errorf("the files have %d bytes", n)
		}
		return found.Digest()
	}
	was := digest()
	if want := hash([]byte(hash([]byte("first")) + "  a\n" + hash([]byte("second")) + "  b\n")); was != want {
		t.Errorf("digest %s, want %s", was, want)
	}
	// Another content, even of the same length, is another set.
	filetest.WriteFile(t, []byte("other"), a)
	if err := os.Chtimes(a, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if now := digest(); now == was {
		t.Error("the digest did not change with the content")
	}
	if suppliedSet.Files[0].SHA256 != "" || suppliedSet.Digest() != "not supplied" {
		t.Error("what was found became part of the description")
	}
}

// An unchanged file is not read again: only that explains the old digest of a
// file that was changed behind its size and time.
func TestSuppliedIsReadOnce(t *testing.T) {
	folder := t.TempDir()
	path := filetest.WriteFile(t, []byte("first"), folder, "a")
	then := time.Unix(1e9, 0)
	read := func() string {
		t.Helper()
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		f := File{Path: "a"}
		if err := f.describe(context.Background(), folder); err != nil {
			t.Fatal(err)
		}
		return f.SHA256
	}
	first := read()
	filetest.WriteFile(t, []byte("other"), path)
	if first != hash([]byte("first")) || read() != first {
		t.Error("the file was read again")
	}
}

func TestSuppliedMissing(t *testing.T) {
	root := t.TempDir()
	locator := Locator{Roots: []string{root}}
	advice := func(name string, want bool) {
		t.Helper()
		_, found, err := locator.Resolve(context.Background(), suppliedSet)
		var missing *MissingError
		if errors.As(err, &missing) != want {
			t.Errorf("%s: %v", name, err)
		}
		if want && (!strings.Contains(err.Error(), "no public address: put a and b there") ||
			strings.Contains(err.Error(), "run data fetch")) {
			t.Errorf("%s: %v; want how to make it, not how to fetch it", name, err)
		}
		if found.Digest() != "not supplied" {
			t.Errorf("%s: digest %s", name, found.Digest())
		}
	}
	advice("nothing", true)
	filetest.WriteFile(t, []byte("first"), root, "mine", "a")
	advice("a half", true)
	b := filetest.WriteFile(t, nil, root, "mine", "b")
	advice("an empty file", false)
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b, 0o755); err != nil {
		t.Fatal(err)
	}
	advice("a folder in place of the file", false)
}

func TestSuppliedIsNotFetched(t *testing.T) {
	root := t.TempDir()
	filetest.MustFail(t, Fetch(context.Background(), suppliedSet, root, nil),
		"fetching mine: it has no public address: put a and b there")
	mustNotExist(t, filepath.Join(root, "mine"))
	filetest.WriteFile(t, []byte("first"), root, "mine", "a")
	filetest.WriteFile(t, []byte("second"), root, "mine", "b")
	filetest.MustFail(t, Fetch(context.Background(), suppliedSet, root, nil), "")
}
