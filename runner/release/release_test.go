package release_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/release"
)

var (
	rows = &experiment.Release{Columns: []string{"dose, mg", "prediction"}, Rows: [][]float64{{1, 0.1}, {2.5, -1e-300}}}
	rec  = &record.Record{Schema: record.Schema, Key: "k", Status: record.OK, Series: map[string]map[string]record.Column{"released": {"prediction": {0.1}}}}
)

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := release.Check(path); err != nil {
		t.Fatal(err)
	}
	if err := release.Write(path, rec, rows); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(path)
	if err != nil || string(table) != "\"dose, mg\",prediction\n1,0.1\n2.5,-1e-300\n" {
		t.Errorf("%s, %v", table, err)
	}
	side, err := os.ReadFile(path + ".json")
	if err != nil || !strings.Contains(string(side), `"status": "ok"`) || strings.Contains(string(side), "prediction") || len(rec.Series) != 1 {
		t.Errorf("%s, %v", side, err)
	}
	if got := names(t, filepath.Dir(path)); got != "out.csv out.csv.json" {
		t.Errorf("the folder holds %s", got)
	}
}

// What is there stays as it is.
func TestNothingIsReplaced(t *testing.T) {
	for _, there := range []string{"out.csv", "out.csv.json"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out.csv")
		if err := os.WriteFile(filepath.Join(dir, there), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		var exists *release.ExistsError
		if err := release.Check(path); !errors.As(err, &exists) {
			t.Errorf("%s is there: %v", there, err)
		}
		if err := release.Write(path, rec, rows); !errors.As(err, &exists) {
			t.Errorf("%s is there: %v", there, err)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, there)); string(raw) != "mine" || names(t, dir) != there {
			t.Errorf("%s holds %q (%v), the folder %s", there, raw, err, names(t, dir))
		}
	}
}

func TestFoldersThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "out.csv")
	if err := release.Check(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := release.Write(path, rec, rows); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "nothing is released") {
		t.Error(err)
	}
}
