package plan_test

import (
	"testing"

	"privkern/runner/plan"
)

// A hash of what replaces the files' settings keeps the output folders of other
// plans apart. The hashes are those of the SHA-256 of the settings, separated by
// null bytes.
func TestFolder(t *testing.T) {
	for _, c := range []struct {
		name                  string
		overrides             []string
		seeds, backend, dtype string
		want                  string
	}{
		{"the files' own settings", nil, "", "cpu", "float64", "mine"},
		{"an override", []string{"x=1"}, "", "cpu", "float64", "mine-73af80"},
		{"seeds", nil, "0..9", "cpu", "float64", "mine-6f4e8c"},
		{"a backend", nil, "", "cuda", "float64", "mine-cuda"},
		{"an element type", nil, "", "cpu", "float32", "mine-64cca1"},
		{"all but a backend", []string{"x=1", "y=2"}, "0..9", "cpu", "float32", "mine-a84703"},
		{"all of them", []string{"x=1", "y=2"}, "0..9", "cuda", "float32", "mine-a84703-cuda"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &plan.Draft{Name: "mine", Overrides: c.overrides}
			if got := d.Folder(c.seeds, c.backend, c.dtype); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
