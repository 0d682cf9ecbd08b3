package crash

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"privkern/runner/record"
	"privkern/tests/program"
)

// sharingTrials is a sweep whose trials have clusters and radii in common.
const sharingTrials = `experiment: kahm/classifier
params: {train: 1500, test: 200, score_points: 200, variant: as-published, branches: 2, n: 8, data: fabricated}
sweep:
  epsilon: [8, 16, 32]
`

// A sweep that shares work has the records of one that does not, but for times, even
// where it is killed and its shared results are damaged; these are put aside with a message.
func TestSharedWorkOfASweep(t *testing.T) {
	if os.Getenv("PRIVKERN_DATA") == "" {
		t.Skip("no data folder: PRIVKERN_DATA is not set")
	}
	run := func(dir string, args ...string) (out, messages string) {
		out, command := program.SweepIn(t, dir, sharingTrials)
		cmd := command(args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, stderr.Bytes())
		}
		return out, stderr.String()
	}
	alone, _ := run(t.TempDir(), "--shared-limit", "0")
	dir := t.TempDir()
	out, command := program.SweepIn(t, dir, sharingTrials)
	killed := command()
	killed.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	program.WaitFor(t, out, 1)
	_ = syscall.Kill(-killed.Process.Pid, syscall.SIGKILL)
	_ = killed.Wait()
	files, err := filepath.Glob(filepath.Join(out, "shared", "*.memo"))
	if err != nil || len(files) != 2 {
		t.Fatalf("clusters and radii: %v, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 16
	if err := os.WriteFile(files[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, messages := run(dir); strings.Count(messages, "put aside shared") != 1 {
		t.Errorf("the damaged file is not named once:\n%s", messages)
	}
	if _, err := os.Lstat(filepath.Join(out, "shared")); !os.IsNotExist(err) {
		t.Errorf("what is shared is still there: %v", err)
	}
	a, b := timeless(t, out), timeless(t, alone)
	if len(b) != 3 || !reflect.DeepEqual(a, b) {
		t.Errorf("with shared work\n%+v\nwithout\n%+v", a, b)
	}
}

// timeless reads the records of a folder without their times, by key.
func timeless(t *testing.T, out string) map[string]record.Record {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]record.Record{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var r record.Record
		if err := json.Unmarshal(raw, &r); err != nil || r.Status != record.OK {
			t.Fatalf("%s: %s, %v", f, r.Status, err)
		}
		maps.DeleteFunc(r.Metrics, func(name string, _ float64) bool { return strings.HasSuffix(name, "_s") })
		kept := r.Warnings[:0]
		for _, w := range r.Warnings {
			if !record.AboutTimes(w) {
				kept = append(kept, w)
			}
		}
		r.Warnings, r.Timing = kept, record.Timing{}
		all[r.Key] = r
	}
	return all
}
