package sweep_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"privkern/runner/plan/sweep"
)

// The error of a sweep file that does not exist names the nearest one that does.
func TestMissingFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"mine.yaml", "notes.txt", "other.yml",
		"configs/quickstart.yaml", "configs/table1.yaml"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("folder.yaml", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, nearest string }{
		{"mnie.yaml", "mine.yaml"},
		{"mine", "mine.yaml"},
		{"other.yaml", "other.yml"},
		{"configs/quickstrat.yaml", "configs/quickstart.yaml"},
		{"quickstart.yaml", "configs/quickstart.yaml"},
		{"quickstart", "configs/quickstart.yaml"},
		{dir + "/configs/tabel1.yaml", dir + "/configs/table1.yaml"},
		{"notse.txt", ""},
		{"fodler.yaml", ""},
		{"entirely-different.yaml", ""},
		{"nowhere/mine.yaml", ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			_, err := sweep.ReadFile(c.path, sweep.Names{})
			var missing *sweep.MissingError
			if !errors.As(err, &missing) || missing.Path != c.path || missing.Nearest != c.nearest {
				t.Errorf("got %v, want the nearest %q", err, c.nearest)
			}
		})
	}
}
