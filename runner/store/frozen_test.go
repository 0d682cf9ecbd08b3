package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/store"
	"privkern/runner/store/disk"
)

func TestFrozenBackend(t *testing.T) {
	frozen := t.TempDir()
	s := create(t, frozen)
	if err := s.FreezePlan(makePlan(t, "d", 1.0), registry, false); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(frozen, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(raw)
	for _, c := range []struct{ name, plan, want string }{
		{"a plan", whole, "cpu"},
		{"of another backend", strings.Replace(whole, `"backend": "cpu"`, `"backend": "cuda"`, 1), "cuda"},
		{"members in another order", `{"trials": [{"backend": "cuda"}], "title": "backend", "backend": "cpu"}`, "cpu"},
		{"torn behind the backend", whole[:strings.Index(whole, `"dtype"`)], "cpu"},
		{"torn before the backend", whole[:strings.Index(whole, `"backend"`)], ""},
		{"no backend", `{"schema": 1}`, ""},
		{"not a text", `{"backend": 7}`, ""},
		{"not an object", `["backend", "cpu"]`, ""},
		{"not JSON", "backend: cpu\n", ""},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "plan.json"), []byte(c.plan), 0o666); err != nil {
				t.Fatal(err)
			}
			if got := store.FrozenBackend(disk.System, dir); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("no plan", func(t *testing.T) {
		if got := store.FrozenBackend(disk.System, t.TempDir()); got != "" {
			t.Errorf("got %q", got)
		}
	})
}
