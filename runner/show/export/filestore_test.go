package export

import (
	"os"
	"path/filepath"
	"testing"
)

// Two exports at once make the same experiment: the later one leaves it, with
// the runs that are in it.
func TestAnExperimentIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	temp := filepath.Join(dir, tempPrefix+"1")
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	m := &fileStore{dir: dir, temp: temp}
	meta := files{}
	meta.yaml("meta.yaml", []any{"experiment_id", "1", "name", "demo/fit"})
	if err := m.write(meta, "1"); err != nil {
		t.Fatal(err)
	}
	if err := m.write(files{"meta.yaml": []byte("run_id: r\n")}, "1", "r"); err != nil {
		t.Fatal(err)
	}
	if err := m.write(meta, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "1", "r", "meta.yaml")); err != nil {
		t.Errorf("the run is gone: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left over: %v (%v)", left, err)
	}
	// A folder without an experiment is refused.
	if err := os.MkdirAll(filepath.Join(dir, "2", "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.write(meta, "2"); err == nil {
		t.Error("another folder was taken for an experiment")
	}
}
