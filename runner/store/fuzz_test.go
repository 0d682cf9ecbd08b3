package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// The file of a record is either invalid and can be put aside, or the record reads the same
// after it is written again.
func FuzzRecord(f *testing.F) {
	params, err := demo.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	p, err := plan.New([]sweep.Assignment{{Experiment: demo.Experiment, Params: params}}, plan.NewDatasets(finder{"d"}),
		plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		f.Fatal(err)
	}
	key := p.Trials[0].Key
	r := newRecord(f, p.Trials[0])
	r.Series = map[string]map[string]record.SeriesColumn{"s": {"x": {1, 2.5e-300}}}
	r.Warnings = []string{"a <warning> & more"}
	whole := encode(f, r)
	f.Add([]byte(whole))
	f.Add([]byte(whole[:len(whole)/2]))
	r.ResultVersion = 0
	old := encode(f, r)
	f.Add([]byte(old))
	f.Add([]byte(strings.Replace(old, "[1,2.5e-300]", "[null,1e308]", 1)))
	f.Add([]byte(old + "{}"))
	f.Add([]byte(strings.Replace(old, `"seed":0`, `"seed":0e3`, 1)))
	f.Add([]byte(`{"schema":1,"key":"` + key + `","status":"ok","params":{"x":{"y":[{}]}},"privacy":{"notes":null}}`))
	f.Add([]byte(`{"schema":1,"key":"` + key + `","status":"skipped","error":"e","params":null,"experiment":"demo/a"}`))
	first, err := store.Create(disk.System, f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(first.FreezePlan(p, registry, false), first.Close()); err != nil {
		f.Fatal(err)
	}
	frozen, err := os.ReadFile(filepath.Join(first.Dir(), "plan.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		s := create(t, dir)
		// Not frozen: that would wait for the disk every time.
		if err := os.WriteFile(filepath.Join(dir, "plan.json"), frozen, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadPlan(registry); err != nil {
			t.Fatal(err)
		}
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
		if asides := s.Asides(); len(asides) > 0 == ok || !ok &&
			(asides[0].Reason == "" || !bytes.Equal(read(t, filepath.Join(dir, asides[0].Moved)), file)) {
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
