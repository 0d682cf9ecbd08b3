package plan_test

import (
	"testing"

	"privkern/runner/plan"
)

// A hash of the replacements of the files' settings keeps the output folders of other
// plans apart. The hashes are those of the SHA-256 of the settings, separated by
// null bytes. The files' own element type is no part of the name, unless something
// else is replaced.
func TestFolder(t *testing.T) {
	for _, c := range []struct {
		name                         string
		overrides                    []string
		seeds, backend, files, dtype string
		want                         string
	}{
		{"the files' own settings", nil, "", "cpu", "float64", "float64", "mine"},
		{"an override", []string{"x=1"}, "", "cpu", "float64", "float64", "mine-73af80"},
		{"seeds", nil, "0..9", "cpu", "float64", "float64", "mine-6f4e8c"},
		{"a backend", nil, "", "cuda", "float64", "float64", "mine-cuda"},
		{"an element type", nil, "", "cpu", "float64", "float32", "mine-64cca1"},
		{"all but a backend", []string{"x=1", "y=2"}, "0..9", "cpu", "float64", "float32", "mine-a84703"},
		{"all of them", []string{"x=1", "y=2"}, "0..9", "cuda", "float64", "float32", "mine-a84703-cuda"},
		{"the files' own element type", nil, "", "cpu", "float32", "float32", "mine"},
		{"it, on another backend", nil, "", "cuda", "float32", "float32", "mine-cuda"},
		{"float64 instead of it", nil, "", "cpu", "float32", "float64", "mine-df0e74"},
		{"other settings in it", []string{"x=1", "y=2"}, "0..9", "cpu", "float32", "float32", "mine-a84703"},
		{"float64 instead of types that disagree", nil, "", "cpu", "", "float64", "mine-df0e74"},
		{"float32 instead of types that disagree", nil, "", "cpu", "", "float32", "mine-64cca1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &plan.Draft{Name: "mine", FilesDType: c.files}
			d.Overrides, d.DType = c.overrides, c.dtype
			if got := d.Folder(c.seeds, c.backend); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
