package store_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"privkern/tests/tier"

	"privkern/runner/experiment"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/store/disk/disktest"
)

// onDisk does work in an output folder on a disk that may fail, and checks the results.
func onDisk(t *testing.T, p *disktest.Process, what string, keys ...string) {
	t.Helper()
	w, err := store.OpenMemo(p, "/out", store.MemoOptions{Identity: identity, Limit: 700})
	if err != nil {
		return // the runner reports it, and computes
	}
	defer func() { _ = w.Close() }()
	for _, key := range keys {
		x := float64(key[0])
		v, err := w.Keep(t.Context(), "work", key, func() (*experiment.Shared, error) {
			return &experiment.Shared{Numbers: map[string][]float64{"x": {x, x}}}, nil
		})
		if err != nil || !slices.Equal(v.Numbers["x"], []float64{x, x}) {
			t.Fatalf("%s: work %s is %+v, %v", what, key, v, err)
		}
	}
}

// A worker is killed at any operation, or any operation fails, or the disk is full, and
// then the power goes: every result is right, then and afterwards, and a memo is whole or
// counts as none.
func TestPowerCutOfMemos(t *testing.T) {
	tier.Sequential(t)
	mishaps := map[string]func(p *disktest.Process, d *disktest.Disk, n int){
		"kill":          func(p *disktest.Process, _ *disktest.Disk, n int) { p.KillAt(n) },
		"kill at sync":  func(p *disktest.Process, _ *disktest.Disk, n int) { p.KillAtSync(n) },
		"failure":       func(p *disktest.Process, _ *disktest.Disk, n int) { p.FailAt(n) },
		"a full disk":   func(_ *disktest.Process, d *disktest.Disk, n int) { d.SetFree(n * 5) },
		"no disk space": func(_ *disktest.Process, d *disktest.Disk, _ int) { d.SetFree(0) },
	}
	for name, mishap := range mishaps {
		t.Run(name, func(t *testing.T) {
			for n := 1; n < 90; n++ {
				d := disktest.New()
				if err := disk.MakeFolder(d.Process("before"), "/out", 0o777); err != nil {
					t.Fatal(err)
				}
				p := d.Process("first")
				mishap(p, d, n)
				onDisk(t, p, "with a mishap", "a", "b")
				onDisk(t, d.Process("second"), "beside it", "b", "a")
				d.SetFree(disktest.Unlimited)
				after := d.PowerCut(rand.New(rand.NewPCG(uint64(n), 1)))
				if err := disk.MakeFolder(after.Process("folder"), "/out", 0o777); err != nil {
					t.Fatal(err)
				}
				onDisk(t, after.Process("third"), "after a power cut", "a", "b")
				onDisk(t, after.Process("fourth"), "once more", "c") // who writes clears up
				s, err := store.Create(after.Process("look"), "/out")
				if err != nil {
					t.Fatal(err)
				}
				names, err := s.Memos()
				if err != nil || len(names) == 0 {
					t.Fatalf("%s at %d: memos %q, %v", name, n, names, err)
				}
				for _, file := range names {
					if problem, _, _, err := s.ExamineMemo(file); problem != "" || err != nil {
						t.Errorf("%s at %d: %s: %s, %v", name, n, file, problem, err)
					}
				}
				for _, file := range after.List("/out/shared") {
					if strings.HasSuffix(file, ".tmp") {
						t.Errorf("%s at %d: %s is left", name, n, file)
					}
				}
			}
		})
	}
}

// memoFolder names the folder in which a process of [TestMemoOfAKilledProcess] works.
const memoFolder = "PRIVKERN_TEST_MEMO_FOLDER"

// A process that is killed while it computes holds nobody up.
func TestMemoOfAKilledProcess(t *testing.T) {
	if dir := os.Getenv(memoFolder); dir != "" {
		w := newWorker(t, disk.System, dir)
		_, _ = w.Keep(t.Context(), "work", "key", func() (*experiment.Shared, error) {
			if err := os.WriteFile(filepath.Join(dir, "begun"), nil, 0o600); err != nil {
				return nil, err
			}
			time.Sleep(time.Minute)
			return nil, errors.New("it was not killed")
		})
		return
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestMemoOfAKilledProcess$")
	child.Env = append(os.Environ(), memoFolder+"="+dir)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the process ended: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	killed := make(chan bool)
	time.AfterFunc(150*time.Millisecond, func() {
		_ = child.Process.Kill()
		close(killed)
	})
	got, anew := newWorker(t, disk.System, dir).keep(t, "key", 4)
	select {
	case <-killed:
	default:
		t.Error("it did not wait for the other process")
	}
	if !anew || got[0] != 4 {
		t.Errorf("%v", got)
	}
	if err := <-ended; err == nil {
		t.Error("the process was not killed")
	}
}
