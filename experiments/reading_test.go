package experiments

import (
	"os"
	"path/filepath"
	"testing"

	"privkern/runner/experiment"
)

// Every experiment on a user's own data reads them with the settings of reading.
func TestReadingIsEverywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("a|y|p\n1|0|u\n2|1|v\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	usual := map[string]any{"dataset": "csv:" + path, "inputs": "a", "columns": "a", "output": "y", "utility": "y",
		"privacy": "p", "party": "p", "delta": "1e-3", "low": "0", "high": "1", "output_low": "0", "output_high": "1",
		"input_low": "0", "input_high": "1", "sensitive": "a:0..1"}
	tried := 0
	r := experiment.RegistryOf(Papers())
	for _, name := range r.Names() {
		e, err := r.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		given := map[string]any{}
		for name, value := range usual {
			if p, err := e.Param(name); err == nil && p.Values == nil {
				given[name] = value
			}
		}
		if e.Tables == nil || given["dataset"] == nil {
			continue
		}
		check := func(separator string) error {
			given["separator"] = separator
			params, err := e.Resolve(given)
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			tables := e.Tables(params)
			if len(tables) != 1 {
				t.Fatalf("%s: %d files", e.Name, len(tables))
			}
			return tables[0].Check(path)
		}
		if err := check("|"); err != nil {
			t.Errorf("%s does not read with separator=|: %v", e.Name, err)
		}
		if check("auto") == nil {
			t.Errorf("%s found the columns of another separator", e.Name)
		}
		tried++
	}
	if tried < 10 {
		t.Errorf("only %d experiments read files", tried)
	}
}
