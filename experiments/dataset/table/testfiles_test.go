package table

import (
	"os"
	"path/filepath"
	"testing"

	"privkern/runner/experiment"
)

// fileOf writes a file, and returns its path.
func fileOf(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadFrom loads data that lie at a path under any name.
func loadFrom(path string, s Spec) (*Data, error) {
	return s.Load(&experiment.Trial{Dataset: func(string) string { return path }})
}

// loadText loads comma-separated values.
func loadText(t testing.TB, text, inputs string, others ...string) (*Data, error) {
	t.Helper()
	return loadFrom(fileOf(t, "t.csv", []byte(text)), Spec{Dataset: "csv:t.csv", Inputs: inputs, Others: others})
}

func numbersOf(t testing.TB, d *Data, column string) []float64 {
	t.Helper()
	v, err := d.Numbers(column)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
