package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// silent is an application that prints into nothing.
func silent(t *testing.T) *app {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = null.Close() })
	messages := messagesTo(null)
	t.Cleanup(messages.Flush) // before the file is closed
	return &app{in: strings.NewReader(""), out: progress.NewResults(t.Context(), null, messages), err: messages}
}

// Each folder that is made for a sweep is durable: the one above it is synced. The
// log is the first that needs the folder, before the store does.
func TestFoldersOfASweepAreDurable(t *testing.T) {
	top := t.TempDir()
	d := &syncs{Disk: disk.System}
	stop := errors.New("far enough")
	a := silent(t)
	a.Catalogue = &runner.Catalogue{Book: &ledger.Book{}, Disk: d}
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
