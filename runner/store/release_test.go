package store_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

var (
	releasedRows = &experiment.Release{Columns: []string{"dose, mg", "prediction"},
		Rows: [][]float64{{1, 0.1}, {2.5, -1e-300}}}
	releaseRecord = &record.Record{Schema: record.Schema, Key: "k", Status: record.OK,
		Series: map[string]map[string]record.SeriesColumn{"released": {"prediction": {0.1}}}}
)

func namesIn(t *testing.T, dir string) string {
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

func TestWriteRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := store.CheckReleasePath(disk.System, path, nil, experiment.Size{}); err != nil {
		t.Fatal(err)
	}
	if err := store.WriteRelease(disk.System, path, releaseRecord, releasedRows); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(path)
	if err != nil || string(table) != "\"dose, mg\",prediction\n1,0.1\n2.5,-1e-300\n" {
		t.Errorf("%s, %v", table, err)
	}
	side, err := os.ReadFile(path + ".json")
	if err != nil || !strings.Contains(string(side), `"status": "ok"`) || strings.Contains(string(side), "prediction") ||
		len(releaseRecord.Series) != 1 {
		t.Errorf("%s, %v", side, err)
	}
	if got := namesIn(t, filepath.Dir(path)); got != "out.csv out.csv.json" {
		t.Errorf("the folder holds %s", got)
	}
}

func TestWriteReleaseOfModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	model := struct {
		Model string    `json:"model"`
		Mean  []float64 `json:"mean"`
	}{"a/1", []float64{0.1, -1e-300}}
	if err := store.WriteRelease(disk.System, path, releaseRecord, &experiment.Release{Model: model}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "{\n \"model\": \"a/1\",\n \"mean\": [\n  0.1,\n  -1e-300\n ]\n}\n" {
		t.Errorf("%s, %v", text, err)
	}
	if got := namesIn(t, filepath.Dir(path)); got != "m.json m.json.json" {
		t.Errorf("the folder holds %s", got)
	}
	var exists *store.ExistsError
	err = store.WriteRelease(disk.System, path, releaseRecord, &experiment.Release{Model: 1})
	if !errors.As(err, &exists) {
		t.Errorf("twice: %v", err)
	}
	other := filepath.Join(t.TempDir(), "m.json")
	model.Mean[0] = math.NaN()
	if err := store.WriteRelease(disk.System, other, releaseRecord, &experiment.Release{Model: model}); err == nil ||
		!strings.Contains(err.Error(), "nothing is written") || namesIn(t, filepath.Dir(other)) != "" {
		t.Errorf("NaN: %v, %s", err, namesIn(t, filepath.Dir(other)))
	}
}

// Existing files are unchanged.
func TestReleaseReplacesNothing(t *testing.T) {
	for _, there := range []string{"out.csv", "out.csv.json"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out.csv")
		if err := os.WriteFile(filepath.Join(dir, there), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		var exists *store.ExistsError
		if err := store.CheckReleasePath(disk.System, path, nil, experiment.Size{}); !errors.As(err, &exists) {
			t.Errorf("%s is there: %v", there, err)
		}
		if err := store.WriteRelease(disk.System, path, releaseRecord, releasedRows); !errors.As(err, &exists) {
			t.Errorf("%s is there: %v", there, err)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, there)); string(raw) != "mine" || namesIn(t, dir) != there {
			t.Errorf("%s holds %q (%v), the folder %s", there, raw, err, namesIn(t, dir))
		}
	}
}

func TestCheckReleasePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "out.csv")
	if err := store.CheckReleasePath(disk.System, path, nil, experiment.Size{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := store.WriteRelease(disk.System, path, releaseRecord, releasedRows); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "nothing is written") {
		t.Error(err)
	}
}
