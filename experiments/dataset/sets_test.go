package dataset

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
	"privkern/experiments/dataset/readers"
)

func TestHAPTSet(t *testing.T) {
	if n := len(haptSet.Files); n != 2*readers.HAPTRecordings+1 {
		t.Errorf("%d files", n)
	}
	if size := haptSet.TotalSize(); size != 133067331 {
		t.Errorf("%d bytes", size)
	}
	defer func() {
		if recover() == nil {
			t.Error("a line without a size is taken")
		}
	}()
	haptFiles("75b2be56 acc_exp01_user01.txt\n")
}

// A file that was made here counts as the set too, whose digest is then its own.
func TestMadeFile(t *testing.T) {
	root := t.TempDir()
	set := Set{Name: "made", Supplied: "make a", Files: []File{{Path: "a", Size: 5, SHA256: hash([]byte("first")),
		Made: hash([]byte("second"))}}}
	for content, want := range map[string]int64{"first": 5, "second": 6} {
		filetest.WriteFile(t, []byte(content), root, "made", "a")
		_, found, err := (Locator{Roots: []string{root}}).Resolve(context.Background(), set)
		if err != nil || found.Digest() != hash([]byte(content)) || found.TotalSize() != want {
			t.Errorf("%q: digest %s, %d bytes, %v", content, found.Digest(), found.TotalSize(), err)
		}
	}
	filetest.WriteFile(t, []byte("third"), root, "made", "a")
	var wrong *WrongFileError
	if err := Verify(context.Background(), set, filepath.Join(root, "made")); !errors.As(err, &wrong) {
		t.Errorf("%v; want a *WrongFileError", err)
	}
	if set.Digest() != hash([]byte("first")) {
		t.Error("the registered set has changed")
	}
}
