package experiments

import (
	"testing"

	"privkern/runner/experiment"
)

// A trial on a set that is not the paper's says so, whatever its experiment declares.
func TestTrialsOnStandInsSaySo(t *testing.T) {
	registry := experiment.RegistryOf(Papers())
	for _, c := range []struct {
		name, dataset, want string
	}{
		{"multikernel/har", "har", ""},
		{"multikernel/har", "har-reconstructed", "har-reconstructed in the place of the published features"},
		{"multikernel/har", "har-surrogate", "har-surrogate, simulated windows, in the place of the published features"},
		{"multikernel/mhealth", "mhealth", ""},
		{"multikernel/mhealth", "mhealth-6ch", "mhealth-6ch in the place of all 23 channels, as they were recorded"},
		{"kahm/stress", "", "stress in the place of the paper's private R-R intervals"},
		{"kahm/classifier", "mnist", ""},
		{"cloaking/regression", "", ""},
		{"privacygp/example1", "", ""},
	} {
		e, err := registry.Lookup(c.name)
		if err != nil {
			t.Fatal(err)
		}
		given := map[string]any{}
		if c.dataset != "" {
			given["dataset"] = c.dataset
		}
		p, err := e.Resolve(given)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.StandIn(p); got != c.want {
			t.Errorf("%s on %q computes on %q, not %q", c.name, c.dataset, got, c.want)
		}
	}
}
