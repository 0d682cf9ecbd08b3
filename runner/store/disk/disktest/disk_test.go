package disktest_test

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"privkern/runner/store/disk"
	"privkern/runner/store/disk/disktest"
)

// long is a content of three sectors, without zeros.
var long = strings.Repeat("new!", 300)

// lone makes a file without any sync.
func lone(t *testing.T, d disk.Disk, name, content string) disk.File {
	t.Helper()
	f, err := disk.CreateTemp(d, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	return f
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// The contents after a power cut of a file that replaces another depend on the syncs.
func TestPowerCut(t *testing.T) {
	for _, c := range []struct {
		name    string
		content bool // synced
		folder  bool // synced
		want    []string
	}{
		{"all is synced", true, true, []string{"new"}},
		{"the folder is not", true, false, []string{"new", "old"}},
		{"the content is not", false, true, []string{"empty", "first bytes", "new", "sectors"}},
		{"nothing is", false, false, []string{"empty", "first bytes", "new", "old", "sectors"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			for seed := range uint64(500) {
				on := disktest.New()
				p := on.Process("p")
				must(t, disk.WriteFile(p, "/file", []byte("old")))
				f := lone(t, p, "/file", long)
				if c.content {
					must(t, f.Sync())
				}
				must(t, f.Close(), p.Rename(f.Name(), "/file"))
				if c.folder {
					must(t, p.SyncDir("/"))
				}
				seen[state(string(on.PowerCut(rand.New(rand.NewPCG(seed, 0))).Look("/file")))] = true
				if _, err := p.ReadFile("/file"); !errors.Is(err, disktest.ErrKilled) {
					t.Errorf("the process lives on: %v", err)
				}
			}
			if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, c.want) {
				t.Errorf("%v, not %v", got, c.want)
			}
		})
	}
}

func state(content string) string {
	switch {
	case content == long:
		return "new"
	case content == "old" || content == "":
		return map[string]string{"old": "old", "": "empty"}[content]
	case strings.HasPrefix(long, content):
		return "first bytes"
	case len(content) == len(long) && strings.Contains(content, "\x00"):
		return "sectors"
	}
	return content
}

// A rename from folder to folder is kept or lost; files below a lost folder are lost.
func TestPowerCutOfFolders(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		on := disktest.New()
		p := on.Process("p")
		must(t, disk.MakeFolder(p, "/a", 0o777), disk.MakeFolder(p, "/b", 0o777), disk.WriteFile(p, "/a/file", nil))
		must(t, p.Rename("/a/file", "/b/file"), p.Mkdir("/new", 0o777), disk.WriteFile(p, "/new/file", nil))
		after := on.PowerCut(rand.New(rand.NewPCG(seed, 0)))
		seen[strings.Join(after.List("/a"), "")+" "+strings.Join(after.List("/b"), "")+" "+
			strings.Join(after.List("/new"), "")] = true
	}
	want := []string{" file ", " file file", "file  ", "file  file"}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// The changes of a killed process stay, its locks end, and its later operations fail.
func TestKill(t *testing.T) {
	on := disktest.New()
	p, q := on.Process("p"), on.Process("q")
	locks, err := p.RangeLocks("/lock")
	must(t, err)
	if ok, err := locks.Try(5); !ok || err != nil {
		t.Fatal(ok, err)
	}
	others, err := q.RangeLocks("/lock")
	must(t, err)
	if ok, err := others.Try(5); ok || err != nil {
		t.Errorf("two processes have a lock: %v", err)
	}
	if held, err := q.RangeHeld("/lock", 0, 0); !held || err != nil {
		t.Error(held, err)
	}
	p.KillAt(4) // after create and both halves of the write
	if err := disk.WriteFile(p, "/file", []byte("content")); !errors.Is(err, disktest.ErrKilled) || !p.Killed() {
		t.Error(err)
	}
	if names := on.List("/"); len(names) != 2 || string(on.Look("/"+names[0])) != "content" {
		t.Errorf("%v", names)
	}
	if ok, err := others.Try(5); !ok || err != nil {
		t.Errorf("a killed process has a lock: %v", err)
	}
}

// A full disk takes the bytes that fit, and a fault affects one operation.
func TestFaults(t *testing.T) {
	on := disktest.New()
	p := on.Process("p")
	f := lone(t, p, "/file", "")
	on.SetFree(3)
	if n, err := f.Write([]byte("content")); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Error(n, err)
	}
	if err := p.Mkdir("/folder", 0o777); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	on.SetFree(disktest.Unlimited)
	p.FailAt(1)
	if err := p.Mkdir("/folder", 0o777); !errors.Is(err, syscall.EIO) || !p.Failed() {
		t.Error(err)
	}
	must(t, p.Mkdir("/folder", 0o777))
	if err := p.Mkdir("/folder", 0o777); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	p.FailAt(1)
	if _, err := p.ReadFile("/folder"); !errors.Is(err, syscall.EMFILE) {
		t.Error(err)
	}
	if _, err := p.ReadFile("/folder"); !errors.Is(err, syscall.EISDIR) {
		t.Error(err)
	}
}
