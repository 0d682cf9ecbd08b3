package store_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// identity is that of trials that share work.
var identity = experiment.Identity{Experiment: "demo/a", ResultVersion: 1, Backend: "cpu", DType: "float64"}

// worker is a worker that shares work, with its notices.
type worker struct {
	*store.Memo
	mu      sync.Mutex
	notices []string
}

func newWorker(tb testing.TB, d disk.Disk, dir string, change ...func(*store.MemoOptions)) *worker {
	tb.Helper()
	w := new(worker)
	o := store.MemoOptions{Identity: identity, Class: "gonum-amd64", Limit: 1 << 20, Notice: func(text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notices = append(w.notices, text)
	}}
	for _, f := range change {
		f(&o)
	}
	var err error
	if w.Memo, err = store.OpenMemo(d, dir, o); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

// keep does work whose result is x, and reports whether it was computed.
func (w *worker) keep(tb testing.TB, key string, x ...float64) (got []float64, anew bool) {
	tb.Helper()
	v, err := w.Keep(context.Background(), "work", key, func() (*experiment.Shared, error) {
		anew = true
		return &experiment.Shared{Numbers: map[string][]float64{"x": x}}, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return v.Numbers["x"], anew
}

// memos are the files of a folder of memos.
func memos(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "shared"))
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, filepath.Join(dir, "shared", e.Name()))
	}
	return out
}

// A memo has the computed result, to the last bit.
func TestMemoKeepsEveryBit(t *testing.T) {
	dir := t.TempDir()
	want := &experiment.Shared{
		Numbers: map[string][]float64{
			"a":     {1, math.Copysign(0, -1), math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64},
			"nan":   {math.Float64frombits(0x7ff8000000000123), math.Float64frombits(0xfff0000000000001)},
			"empty": {},
		},
		Texts: []string{"ρ = 1, <ill-conditioned>\n", "", "a"},
	}
	for _, computed := range []bool{true, false} {
		done := false
		got, err := newWorker(t, disk.System, dir).Keep(t.Context(), "work", "key", func() (*experiment.Shared, error) {
			done = true
			time.Sleep(time.Millisecond)
			return want, nil
		})
		if err != nil || done != computed || got.Took < time.Millisecond {
			t.Fatalf("%v, computed %v in %v", err, done, got.Took)
		}
		if !slices.Equal(got.Texts, want.Texts) || len(got.Numbers) != len(want.Numbers) {
			t.Errorf("%+v", got)
		}
		for name, column := range want.Numbers {
			if !slices.EqualFunc(got.Numbers[name], column, func(a, b float64) bool {
				return math.Float64bits(a) == math.Float64bits(b)
			}) {
				t.Errorf("%s is %x, not %x", name, got.Numbers[name], column)
			}
		}
	}
}

// Work is shared with trials that would do the same, and with no other.
func TestMemoIsOfTheSameWork(t *testing.T) {
	dir := t.TempDir()
	newWorker(t, disk.System, dir).keep(t, "key", 1)
	for name, change := range map[string]func(*store.MemoOptions){
		"nothing else":         nil,
		"another seed":         func(o *store.MemoOptions) { o.Identity.Seed = 5 },
		"other settings":       func(o *store.MemoOptions) { o.Identity.Params = experiment.Params{"x": 1.0} },
		"another experiment":   func(o *store.MemoOptions) { o.Identity.Experiment = "demo/b" },
		"other results":        func(o *store.MemoOptions) { o.Identity.ResultVersion = 2 },
		"another backend":      func(o *store.MemoOptions) { o.Identity.Backend = "cuda" },
		"another element type": func(o *store.MemoOptions) { o.Identity.DType = "float32" },
		"another class":        func(o *store.MemoOptions) { o.Class = "openblas-0.3.21-haswell" },
	} {
		t.Run(name, func(t *testing.T) {
			var changes []func(*store.MemoOptions)
			if change != nil {
				changes = append(changes, change)
			}
			// The work puts seed and settings into the key.
			same := change == nil || name == "another seed" || name == "other settings"
			if got, anew := newWorker(t, disk.System, dir, changes...).keep(t, "key", 2); anew == same || anew != (got[0] == 2) {
				t.Errorf("computed %v: %v", anew, got)
			}
		})
	}
	w := newWorker(t, disk.System, dir)
	if got, anew := w.keep(t, "another key", 3); !anew || got[0] != 3 {
		t.Errorf("another key: %v", got)
	}
	_, err := w.Keep(t.Context(), "other work", "key", func() (*experiment.Shared, error) { return nil, os.ErrInvalid })
	if !errors.Is(err, os.ErrInvalid) {
		t.Errorf("work of another name: %v", err)
	}
}

// Many workers that want the same at once compute it once.
func TestMemoOfManyWorkers(t *testing.T) {
	dir := t.TempDir()
	var computed atomic.Int64
	var group sync.WaitGroup
	for i := range 12 {
		w := newWorker(t, disk.System, dir)
		for range 2 { // of one process, and of several
			group.Go(func() {
				v, err := w.Keep(t.Context(), "work", "key", func() (*experiment.Shared, error) {
					computed.Add(1)
					time.Sleep(100 * time.Millisecond)
					return &experiment.Shared{Numbers: map[string][]float64{"x": {7}}}, nil
				})
				if err != nil || !reflect.DeepEqual(v.Numbers, map[string][]float64{"x": {7}}) {
					t.Errorf("worker %d: %+v, %v", i, v, err)
				}
			})
		}
	}
	group.Wait()
	if n := computed.Load(); n != 1 {
		t.Errorf("computed %d times", n)
	}
	if files := memos(t, dir); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// lateDisk is one on which a memo appears after the first look, and can be read only
// once then.
type lateDisk struct {
	disk.Disk
	reads int
}

func (d *lateDisk) ReadFile(name string) ([]byte, error) {
	if d.reads++; d.reads != 2 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return d.Disk.ReadFile(name)
}

// A worker that gets the lock and finds the file takes it, and does not look again: a
// third one may hold the lock by then, or have removed the file.
func TestMemoWrittenJustBeforeTheLock(t *testing.T) {
	dir := t.TempDir()
	newWorker(t, disk.System, dir).keep(t, "key", 7)
	late := &lateDisk{Disk: disk.System}
	w := newWorker(t, late, dir)
	if got, anew := w.keep(t, "key", 8); anew || got[0] != 7 || late.reads != 2 {
		t.Errorf("%v, computed %v after %d reads", got, anew, late.reads)
	}
	if n, _ := w.Found(); n != 1 {
		t.Errorf("found %d", n)
	}
}

// An error is not kept, nor a panic; others do the work then, those too that wait.
func TestMemoOfAFailure(t *testing.T) {
	for name, fails := range map[string]func() (*experiment.Shared, error){
		"an error": func() (*experiment.Shared, error) { return nil, errors.New("singular") },
		"a panic":  func() (*experiment.Shared, error) { panic("index out of range") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first, second := newWorker(t, disk.System, dir), newWorker(t, disk.System, dir)
			begun, waits := make(chan bool), make(chan bool)
			go func() {
				defer func() { _ = recover() }()
				_, err := first.Keep(t.Context(), "work", "key", func() (*experiment.Shared, error) {
					close(begun)
					<-waits
					return fails()
				})
				if err == nil || err.Error() != "singular" {
					t.Errorf("%v", err)
				}
			}()
			<-begun
			time.AfterFunc(100*time.Millisecond, func() { close(waits) })
			if got, anew := second.keep(t, "key", 4); !anew || got[0] != 4 {
				t.Errorf("%v", got)
			}
			if got, anew := first.keep(t, "key", 5); anew || got[0] != 4 {
				t.Errorf("the first reads %v", got)
			}
		})
	}
}

// Who waits for another stops when its context ends.
func TestMemoWaitsUntilItsContextEnds(t *testing.T) {
	dir := t.TempDir()
	first, second := newWorker(t, disk.System, dir), newWorker(t, disk.System, dir)
	_, err := first.Keep(t.Context(), "work", "key", func() (*experiment.Shared, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 80*time.Millisecond)
		defer cancel()
		_, err := second.Keep(ctx, "work", "key", func() (*experiment.Shared, error) {
			t.Error("two compute at once")
			return nil, nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		return &experiment.Shared{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An invalid file is put aside with a notice, and the work is done again.
func TestMemoThatDoesNotHold(t *testing.T) {
	whole := func(t *testing.T) (dir, file string, text []byte) {
		dir = t.TempDir()
		newWorker(t, disk.System, dir).keep(t, "key", 1, 2, 3)
		file = memos(t, dir)[0]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return dir, file, text
	}
	other, err := os.ReadFile(func() string {
		dir := t.TempDir()
		newWorker(t, disk.System, dir).keep(t, "other", 9)
		return memos(t, dir)[0]
	}())
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[(at+len(b))%len(b)] ^= 4; return b }
	}
	for _, c := range []struct {
		name, says string
		change     func([]byte) []byte
	}{
		{"empty", "no memo", func([]byte) []byte { return nil }},
		{"torn in its head", "torn", func(b []byte) []byte { return b[:30] }},
		{"torn in its numbers", "torn or changed", func(b []byte) []byte { return b[:len(b)-40] }},
		{"without its last byte", "torn or changed", func(b []byte) []byte { return b[:len(b)-1] }},
		{"a byte more", "torn or changed", func(b []byte) []byte { return append(b, 0) }},
		{"a flipped bit in its head", "torn or changed", change(40)},
		{"a flipped bit in a number", "torn or changed", change(-40)},
		{"a flipped bit in its digest", "torn or changed", change(-1)},
		{"of another version", "of another version", func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "memo 1", "memo 2", 1))
		}},
		{"not ours", "no memo", func([]byte) []byte { return []byte("hello") }},
		{"of other work", "other work", func([]byte) []byte { return other }},
		{"zeros, as a crash may leave", "no memo", func(b []byte) []byte { return make([]byte, len(b)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, file, text := whole(t)
			planted := c.change(slices.Clone(text))
			if err := os.WriteFile(file, planted, 0o600); err != nil {
				t.Fatal(err)
			}
			w := newWorker(t, disk.System, dir)
			if got, anew := w.keep(t, "key", 4); !anew || got[0] != 4 {
				t.Errorf("read %v", got)
			}
			if len(w.notices) != 1 || !strings.Contains(w.notices[0], c.says) || !strings.Contains(w.notices[0], "aside") {
				t.Errorf("noticed %q", w.notices)
			}
			aside, err := filepath.Glob(filepath.Join(dir, "aside", filepath.Base(file)+".*"))
			if err != nil || len(aside) != 1 {
				t.Fatalf("aside: %v, %v", aside, err)
			}
			if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != string(planted) {
				t.Errorf("put aside %q, %v", kept, err)
			}
			if got, anew := newWorker(t, disk.System, dir).keep(t, "key", 5); anew || got[0] != 4 {
				t.Errorf("then %v", got)
			}
		})
	}
	t.Run("a folder in its place", func(t *testing.T) {
		dir, file, _ := whole(t)
		if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
			t.Fatal(err)
		}
		w := newWorker(t, disk.System, dir)
		if _, anew := w.keep(t, "key", 4); !anew || len(w.notices) != 1 {
			t.Errorf("noticed %q", w.notices)
		}
	})
}

// sized is a limit for n results of one number.
func sized(t *testing.T, n int64) func(*store.MemoOptions) {
	dir := t.TempDir()
	newWorker(t, disk.System, dir).keep(t, "a", 1)
	info, err := os.Stat(memos(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	return func(o *store.MemoOptions) { o.Limit = n * (info.Size() + 8) } // the time it took has more digits or less
}

// The least recently used memos make room.
func TestMemoKeepsItsLimit(t *testing.T) {
	dir := t.TempDir()
	limit := sized(t, 2)
	w := newWorker(t, disk.System, dir, limit)
	anew := func(key string) bool {
		time.Sleep(5 * time.Millisecond) // the times of files
		_, anew := w.keep(t, key, 1)
		return anew
	}
	for _, step := range []struct {
		key  string
		anew bool
	}{
		{"a", true}, {"b", true}, {"a", false}, // b was used less lately
		{"c", true}, {"a", false}, {"c", false}, {"b", true}, // a goes
		{"c", false}, {"b", false}, {"a", true},
	} {
		if got := anew(step.key); got != step.anew {
			t.Fatalf("%+v: computed %v", step, got)
		}
		if files := memos(t, dir); len(files) > 2 {
			t.Fatalf("%+v: %d files", step, len(files))
		}
	}
	before := memos(t, dir)
	if _, anew := w.keep(t, "large", make([]float64, 1000)...); !anew || len(w.notices) != 1 ||
		!strings.Contains(w.notices[0], "--shared-limit") {
		t.Errorf("noticed %q", w.notices)
	}
	if !slices.Equal(memos(t, dir), before) {
		t.Error("what is larger than the limit drives others out")
	}
}

// Files that another worker reads or writes are not removed, and the limit is kept.
func TestMemoLeavesWhatIsInUse(t *testing.T) {
	dir := t.TempDir()
	w, other := newWorker(t, disk.System, dir, sized(t, 1)), newWorker(t, disk.System, dir)
	w.keep(t, "a", 1)
	used := memos(t, dir)
	first, second := store.HoldMemo(t, other.Memo, "work", "a"), store.HoldMemo(t, other.Memo, "work", "a")
	for held, release := range []func(){first, second} {
		w.keep(t, "b", 1)
		if !slices.Equal(memos(t, dir), used) {
			t.Errorf("with a in use by %d: %v", 2-held, memos(t, dir))
		}
		release()
	}
	w.keep(t, "b", 1)
	if now := memos(t, dir); len(now) != 1 || slices.Equal(now, used) {
		t.Errorf("then: %v", now)
	}
}

// Temporary files of killed writers go when there is something to write.
func TestMemoRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	w := newWorker(t, disk.System, dir)
	w.keep(t, "a", 1)
	left := filepath.Join(dir, "shared", "."+filepath.Base(memos(t, dir)[0])+".123.tmp")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.keep(t, "b", 1)
	if files := memos(t, dir); len(files) != 2 || slices.Contains(files, left) {
		t.Errorf("%v", files)
	}
}

// Where nothing can be written, the work is done and nothing is kept.
func TestMemoInAFolderThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shared"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w := newWorker(t, disk.System, dir)
		if got, anew := w.keep(t, "key", 3); !anew || got[0] != 3 {
			t.Errorf("%v", got)
		}
		if len(w.notices) != 1 || !strings.Contains(w.notices[0], "computed by each of them") {
			t.Errorf("noticed %q", w.notices)
		}
	}
}

// The folder may go at any moment.
func TestMemoWithoutItsFolder(t *testing.T) {
	dir := t.TempDir()
	w := newWorker(t, disk.System, dir)
	for range 3 {
		if got, anew := w.keep(t, "key", 3); !anew || got[0] != 3 || len(w.notices) > 0 {
			t.Errorf("%v, noticed %q", got, w.notices)
		}
		if err := os.RemoveAll(filepath.Join(dir, "shared")); err != nil {
			t.Fatal(err)
		}
	}
	s := create(t, dir)
	w.keep(t, "a", 1)
	if err := s.RemoveMemos(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "shared")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	w.keep(t, "a", 1)
	foreign := filepath.Join(dir, "shared", "notes.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveMemos(); err != nil {
		t.Fatal(err)
	}
	if files := memos(t, dir); !slices.Equal(files, []string{foreign}) {
		t.Errorf("left %v", files)
	}
}
