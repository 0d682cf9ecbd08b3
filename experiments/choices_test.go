package experiments

import (
	"maps"
	"testing"

	"privkern/runner/experiment"
)

// A choice of settings is released, and for an experiment whose releases name it.
func TestChoices(t *testing.T) {
	r := experiment.RegistryOf(Papers())
	want := map[string]string{"cloaking/selection": "cloaking/regression", "dpgp/hyperparameters": "dpgp/regression"}
	if !maps.Equal(r.Choices(), want) {
		t.Errorf("%v, want %v", r.Choices(), want)
	}
	for by, of := range r.Choices() {
		for _, name := range []string{by, of} {
			if e, err := r.Lookup(name); err != nil || e.Release == nil {
				t.Errorf("%s has no release: %v", name, err)
			}
		}
	}
}
