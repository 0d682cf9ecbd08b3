package release

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzReadConfiguration reads the file of a choice and its description; a choice that is
// read is a choice whose budget is booked, and written again reads the same.
func FuzzReadConfiguration(f *testing.F) {
	chosen := `{"choice":"choice/1","about":"","experiment":"cloaking/selection",` +
		`"settings":{"lengthscale":25,"variance":1e-300},"privacy":{"guarantee":"g","notes":[]}}`
	booked := `{"release":{"budget":"booked"},"more":[1]}`
	f.Add([]byte(chosen), []byte(booked))
	f.Add([]byte(chosen[:len(chosen)/2]), []byte(booked))
	f.Add([]byte(chosen+chosen), []byte(booked))
	f.Add([]byte(strings.Replace(chosen, "25", "1e999", 1)), []byte(booked))
	f.Add([]byte(strings.Replace(chosen, "choice/1", "choice/2", 1)), []byte(booked))
	f.Add([]byte(chosen), []byte(`{"release":{"budget":"none"}}`))
	f.Add([]byte(chosen), []byte(`{"release":{"budget":"booked","settings":{"lengthscale":24}}}`))
	f.Add([]byte("null"), []byte("null"))
	f.Fuzz(func(t *testing.T, file, description []byte) {
		path := filepath.Join(t.TempDir(), "choice")
		read := func(file []byte) (*Configuration, error) {
			for name, text := range map[string][]byte{path: file, path + ".json": description} {
				if err := os.WriteFile(name, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return ReadConfiguration(path, choosing())
		}
		c, err := read(file)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		if !strings.Contains(string(description), "booked") {
			t.Errorf("a choice without a booked budget is taken: %s", description)
		}
		for name, v := range c.Settings {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s is %g", name, v)
			}
		}
		written, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(written)
		if err != nil {
			t.Fatalf("%s is read, but not what is written of it: %v", file, err)
		}
		if third, err := json.Marshal(again); err != nil || string(third) != string(written) {
			t.Errorf("%s became %s, %v", written, third, err)
		}
		if _, err := read(append(file, "{}"...)); err == nil {
			t.Errorf("what follows the choice is not looked at: %s{}", file)
		}
	})
}
