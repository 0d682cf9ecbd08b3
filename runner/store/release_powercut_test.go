package store_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"privkern/tests/tier"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/store/disk/disktest"
)

// releasesOfForms returns named releases of all forms.
func releasesOfForms() []struct {
	name, path string
	release    *experiment.Release
} {
	table := &experiment.Release{Columns: []string{"prediction"}, Rows: [][]float64{{1}, {2}}}
	model := &experiment.Release{Model: map[string]string{"format": "test/1"}}
	return []struct {
		name, path string
		release    *experiment.Release
	}{
		{"a table", "/out/noisy.csv", table},
		{"a model", "/out/model", model},
		{"a model by its name", "/out/both.json", both()},
		{"arrays", "/out/both.npy", both()},
		{"pictures", "/out/both/", both()},
	}
}

// emptyOut is a disk with a folder /out, and a process on it.
func emptyOut(t *testing.T) (*disktest.Disk, *disktest.Process) {
	t.Helper()
	on := disktest.New()
	p := on.Process("p")
	if err := disk.MakeFolder(p, "/out", 0o777); err != nil {
		t.Fatal(err)
	}
	return on, p
}

// lookAll returns the files of a disk below a folder, without temporary ones.
func lookAll(on *disktest.Disk, folder string) map[string]string {
	out := map[string]string{}
	for _, name := range on.List(folder) {
		at := path.Join(folder, name)
		if strings.HasPrefix(name, ".") {
			continue
		}
		if data := on.Look(at); data != nil {
			out[at] = string(data)
		} else if inside := lookAll(on, at); len(inside) > 0 {
			maps.Copy(out, inside)
		} else {
			out[at+"/"] = "" // an empty folder
		}
	}
	return out
}

// Where the power goes while a release is written, all of its files are there and whole, or
// the one that it is named by is not; no file is torn, and none is there without the
// description. Once it is written, all are there.
func TestPowerCutOfRelease(t *testing.T) {
	tier.Sequential(t)
	rec := &record.Record{Experiment: "demo/a"}
	for _, c := range releasesOfForms() {
		t.Run(c.name, func(t *testing.T) {
			on, p := emptyOut(t)
			if err := store.WriteRelease(p, c.path, rec, c.release); err != nil {
				t.Fatal(err)
			}
			whole, named := lookAll(on, "/out"), strings.TrimRight(c.path, "/")
			side := named + store.DescriptionSuffix
			if !strings.HasSuffix(whole[side], "}\n") || len(whole) < 2 {
				t.Fatalf("written were %q", slices.Sorted(maps.Keys(whole)))
			}
			for moment := 1; ; moment++ {
				written := false
				for seed := range uint64(50) {
					on, p := emptyOut(t)
					p.KillAt(moment)
					err := store.WriteRelease(p, c.path, rec, c.release)
					if written = err == nil; !written && !errors.Is(err, disktest.ErrKilled) {
						t.Fatal(err)
					}
					after := lookAll(on.PowerCut(rand.New(rand.NewPCG(seed, 0))), "/out")
					for at, content := range after {
						if known, ok := whole[at]; !ok || content != known {
							t.Fatalf("killed at %d: %s is %q", moment, at, content)
						}
						there := at == named || strings.HasPrefix(at, named+"/")
						if there && len(after) != len(whole) || after[side] == "" {
							t.Fatalf("killed at %d: %s is there, and of %q there are %q", moment, at,
								slices.Sorted(maps.Keys(whole)), slices.Sorted(maps.Keys(after)))
						}
					}
					if written && len(after) != len(whole) {
						t.Fatalf("written, and there are %q", slices.Sorted(maps.Keys(after)))
					}
				}
				if written {
					return
				}
			}
		})
	}
}

// A release that cannot be written, since an operation fails or the disk is full, leaves
// nothing under its names.
func TestFailedRelease(t *testing.T) {
	rec := &record.Record{Experiment: "demo/a"}
	for _, c := range releasesOfForms() {
		for _, mishap := range []struct {
			name string
			set  func(on *disktest.Disk, p *disktest.Process, moment int)
			step int
		}{
			{"failure", func(_ *disktest.Disk, p *disktest.Process, moment int) { p.FailAt(moment) }, 1},
			{"full disk", func(on *disktest.Disk, _ *disktest.Process, moment int) { on.SetFree(moment) }, 7},
		} {
			t.Run(c.name+", "+mishap.name, func(t *testing.T) {
				failures := 0
				for moment := 1; ; moment += mishap.step {
					on, p := emptyOut(t)
					mishap.set(on, p, moment)
					err := store.WriteRelease(p, c.path, rec, c.release)
					left := lookAll(on, "/out")
					if err != nil {
						if failures++; len(left) > 0 {
							t.Fatalf("at %d: %v; there are %q", moment, err, slices.Sorted(maps.Keys(left)))
						}
					} else if mishap.step > 1 || !p.Failed() {
						break
					}
				}
				if failures == 0 {
					t.Error("nothing failed")
				}
			})
		}
	}
}
