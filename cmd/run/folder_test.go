package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"privkern/runner"
	"privkern/runner/claims/ledger"
	"privkern/runner/execute/progress"
	"privkern/runner/plan"
	"privkern/runner/store/disk"
)

// syncs notes which folders are synced.
type syncs struct {
	disk.Disk
	folders []string
}

func (s *syncs) SyncDir(path string) error {
	s.folders = append(s.folders, path)
	return s.Disk.SyncDir(path)
}

// Each folder that is made for a sweep is durable: the one above it is synced. The
// log is the first that needs the folder, before the store does.
func TestFoldersOfASweepAreDurable(t *testing.T) {
	top := t.TempDir()
	d := &syncs{Disk: disk.System}
	stop := errors.New("far enough")
	a := &app{Catalogue: &runner.Catalogue{Book: &ledger.Book{}, Disk: d}, out: io.Discard, err: io.Discard}
	req := runner.SweepRun{Dir: filepath.Join(top, "results", "runs", "out"), Plan: &plan.Plan{}}
	_, err := a.run(context.Background(), req, "", "log.jsonl",
		func(*progress.Reporter) (runner.Executor, error) { return nil, stop })
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	for _, above := range []string{top, filepath.Join(top, "results"), filepath.Join(top, "results", "runs")} {
		if !slices.Contains(d.folders, above) {
			t.Errorf("%s is not synced: %v", above, d.folders)
		}
	}
}
