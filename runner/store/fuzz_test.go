package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"privkern/runner/record"
)

// Whatever the file of a record holds, it counts as absent and can be put
// aside, or what was read reads the same once it is written again.
func FuzzRecord(f *testing.F) {
	const key = "k"
	r := newRecord(key)
	reason := "a <reason> & more"
	r.Series = map[string]map[string]record.Column{"s": {"x": {1, 2.5e-300}}}
	r.Params, r.Warnings, r.Error = map[string]any{"x": "inf", "l": []any{1.0, "a", true}}, []string{"w"}, &reason
	whole, err := record.Encode(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"schema":1,"key":"k","status":"ok","series":{"s":{"x":[null,1e308]}},"metrics":null}`))
	f.Add([]byte(`{"schema":1,"key":"k","status":"ok","params":{"x":{"y":[{}]}},"privacy":{"notes":null}}` + "\n{}"))
	f.Add([]byte(`{"schema":1,"key":"k","status":"skipped","seed":1e3}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		s := create(t, dir)
		path := filepath.Join(dir, "trials", key+".json")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		first, ok, err := s.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.PutAside(key); err != nil {
			t.Fatal(err)
		}
		if asides := s.Asides(); len(asides) > 0 == ok || !ok && (asides[0].Reason == "" || !bytes.Equal(read(t, filepath.Join(dir, asides[0].Moved)), file)) {
			t.Errorf("usable: %v, put aside: %v", ok, asides)
		}
		if !ok {
			return
		}
		encoded, err := record.Encode(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, encoded, 0o600); err != nil {
			t.Fatal(err)
		}
		second, ok, err := s.Get(key)
		if err != nil || !ok {
			t.Fatalf("%s is read, but not what is written of it: %v", file, err)
		}
		if again, err := record.Encode(second); err != nil || !bytes.Equal(again, encoded) {
			t.Errorf("%s became %s, %v", encoded, again, err)
		}
	})
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
