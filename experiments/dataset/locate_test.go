package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

func TestRegistryIsSound(t *testing.T) {
	if !slices.IsSortedFunc(All(), func(a, b Set) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the sets are not in the order of their names")
	}
	for _, s := range All() {
		if s.Title == "" || s.Source == "" || s.Licence == "" || s.Citation == "" || len(s.Files) == 0 {
			t.Errorf("%s: incomplete description", s.Name)
		}
		for _, f := range s.Files {
			// A git blob's id starts with its size.
			known := len(f.SHA256) == 64 || f.SHA256 == "" && len(f.GitBlob) == 40 && f.Size > 0
			complete := known && (len(f.URLs) > 0 || f.Archive != "")
			if s.Supplied != "" {
				complete = (known || f.SHA256 == "" && f.Size == 0) && strings.Contains(s.Supplied, f.Path)
			}
			if !complete {
				t.Errorf("%s/%s: incomplete description", s.Name, f.Path)
			}
		}
		if got, err := Lookup(s.Name); err != nil || got.Name != s.Name {
			t.Errorf("Lookup(%q): %v", s.Name, err)
		}
	}
	var unknown *UnknownError
	if _, err := Lookup("kong"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "kung") {
		t.Errorf("%v; want an *UnknownError that lists the sets", err)
	}
}

// A digest is that of sha256sum for one file, and of sha256sum's sorted lines for several: the
// order of registration does not matter.
func TestDigest(t *testing.T) {
	a, b := File{Path: "a.csv", SHA256: hash([]byte("a"))}, File{Path: "sub/b.csv", SHA256: hash([]byte("b"))}
	both := hash([]byte(a.SHA256 + "  a.csv\n" + b.SHA256 + "  sub/b.csv\n"))
	for _, c := range []struct {
		files []File
		want  string
	}{
		{[]File{a}, a.SHA256},
		{[]File{a, b}, both},
		{[]File{b, a}, both},
	} {
		t.Run(fmt.Sprint(len(c.files), " files"), func(t *testing.T) {
			if got := (&Set{Files: c.files}).Digest(); got != c.want {
				t.Errorf("digest of %d files: %s, want %s", len(c.files), got, c.want)
			}
		})
	}
}

func TestNewLocatorOrder(t *testing.T) {
	t.Setenv(DataVariable, "from-env")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	l := NewLocator("from-flag")
	if len(l.Roots) < 2 || l.Roots[0] != "from-flag" || l.Roots[1] != "from-env" {
		t.Errorf("roots %q; want the flag, then $%s", l.Roots, DataVariable)
	}
	if root, err := l.FetchRoot(); err != nil || root != "from-flag" {
		t.Errorf("fetches go to %q, %v", root, err)
	}
	if _, err := (Locator{}).FetchRoot(); err == nil {
		t.Error("a locator without roots offers a place to fetch to")
	}
}

func TestFindMissing(t *testing.T) {
	root := t.TempDir()
	_, _, err := (Locator{Roots: []string{root}}).Find("kung")
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Advice() != "fetch it with: run data fetch kung" ||
		!strings.Contains(err.Error(), missing.Advice()) || !strings.Contains(err.Error(), root) {
		t.Errorf("%v; want a *MissingError with the folder and the command", err)
	}
	var unknown *UnknownError
	if _, _, err := (Locator{}).Find("nope"); !errors.As(err, &unknown) {
		t.Errorf("%v; want an *UnknownError", err)
	}
}

// A wrong file in an earlier root is not passed over in silence.
func TestFindWrongFile(t *testing.T) {
	right, wrong := t.TempDir(), t.TempDir()
	set := Set{Name: "demo", Files: []File{{Path: "a", Size: 5, SHA256: hash([]byte("right"))}}}
	for root, text := range map[string]string{right: "right", wrong: "wrong!"} {
		if err := os.Mkdir(filepath.Join(root, "demo"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "demo", "a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := (Locator{Roots: []string{wrong, right}}).FindSet(context.Background(), set)
	var e *WrongFileError
	if !errors.As(err, &e) {
		t.Fatalf("%v; want a *WrongFileError", err)
	}
	for _, want := range []string{filepath.Join(wrong, "demo", "a"), hash([]byte("wrong!")), hash([]byte("right")),
		"6 bytes", "5 bytes"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

// A compressed copy of a file is the same file.
func TestFindCompressed(t *testing.T) {
	const right = "right"
	for _, c := range []struct{ name, plain, packed, want string }{
		{"plain", right, "", ""},
		{"compressed", "", right, ""},
		{"both: the plain one counts", right, "wrong", ""},
		{"wrong plain one", "wrong!", right, "a is not the expected one"},
		{"wrong compressed one", "", "wrong", "a.gz is not the expected one"},
		{"too long a compressed one", "", strings.Repeat(right, 1000), "a.gz is not the expected one"},
		{"neither", "", "", "not on this machine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			if c.plain != "" {
				filetest.WriteFile(t, []byte(c.plain), root, "demo", "a")
			}
			if c.packed != "" {
				filetest.WriteFile(t, filetest.Gzipped(t, []byte(c.packed)), root, "demo", "a.gz")
			}
			set := Set{Name: "demo", Files: []File{{Path: "a", Size: 5, SHA256: hash([]byte(right)), Compressed: true}}}
			_, err := (Locator{Roots: []string{root}}).FindSet(context.Background(), set)
			filetest.MustFail(t, err, c.want)
			set.Files[0].Compressed = false
			if _, err := (Locator{Roots: []string{root}}).FindSet(context.Background(), set); c.plain == "" && err == nil {
				t.Error("a compressed file was accepted where none is allowed")
			}
		})
	}
}

// A file can be known by its git blob: "git hash-object" of "right" without a
// line end is this.
func TestFindByGitBlob(t *testing.T) {
	const right, blob = "right", "19981f7e045c3a2c35d15e977b6f56f1923bb400"
	for _, c := range []struct{ name, plain, packed, want string }{
		{"plain", right, "", ""},
		{"compressed", "", right, ""},
		{"another", "wrong", "", "is not the expected one: git-blob:"},
		{"longer", right + "!", "", "expected git-blob:" + blob + " (5 bytes)"},
		{"longer, compressed", "", right + "!", "a.gz is not the expected one: git-blob:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			if c.plain != "" {
				filetest.WriteFile(t, []byte(c.plain), root, "in", "a", "a")
			}
			if c.packed != "" {
				filetest.WriteFile(t, filetest.Gzipped(t, []byte(c.packed)), root, "in", "a", "a.gz")
			}
			set := Set{Name: "demo", Folder: "in/a", Files: []File{{Path: "a", Size: 5, GitBlob: blob, Compressed: true}}}
			folder, err := (Locator{Roots: []string{root}}).FindSet(context.Background(), set)
			filetest.MustFail(t, err, c.want)
			if err == nil && folder != filepath.Join(root, "in", "a") {
				t.Errorf("found in %s", folder)
			}
			if d := set.Digest(); d != "git-blob:"+blob {
				t.Errorf("digest %s", d)
			}
		})
	}
	_, err := (Locator{Roots: []string{"x"}}).FindSet(context.Background(),
		Set{Name: "demo", Folder: "../out", Files: []File{{Path: "a"}}})
	filetest.MustFail(t, err, "leaves the folder")
}

// The registered files of a set without an address are checked like those of any other.
func TestSuppliedWithRegisteredContent(t *testing.T) {
	set := Set{Name: "demo", Files: []File{{Path: "a", Size: 5, SHA256: hash([]byte("right"))}}, Supplied: "put a there"}
	root := t.TempDir()
	locator := Locator{Roots: []string{root}}
	_, err := locator.FindSet(context.Background(), set)
	filetest.MustFail(t, err, "no public address: put a there")
	filetest.MustFail(t, Fetch(context.Background(), set, root, nil), "no public address: put a there")
	filetest.WriteFile(t, []byte("wrong"), root, "demo", "a")
	_, err = locator.FindSet(context.Background(), set)
	filetest.MustFail(t, err, "is not the expected one: SHA-256")
	filetest.WriteFile(t, []byte("right"), root, "demo", "a")
	_, err = locator.FindSet(context.Background(), set)
	filetest.MustFail(t, err, "")
}
