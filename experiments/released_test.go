package experiments

import (
	"testing"

	"privkern/runner/experiment"
)

// Whatever writes a file says in which form, so that a name of another is warned of.
func TestReleasesSayTheirForm(t *testing.T) {
	known := map[experiment.Form]bool{experiment.FormTable: true, experiment.FormModel: true}
	some := false
	for _, p := range Papers() {
		for _, e := range p.Experiments {
			if e.Export == nil && (e.Release == nil || e.Forms != nil) {
				continue
			}
			if some = true; !known[e.Written] {
				t.Errorf("%s writes files of the form %q", e.Name, e.Written)
			}
		}
	}
	if !some {
		t.Error("there is none")
	}
}
