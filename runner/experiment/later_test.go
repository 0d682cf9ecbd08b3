package experiment

import "testing"

// A setting that came later, and that a trial leaves out, is not described: it has its default.
func TestDescribeLaterSettings(t *testing.T) {
	x := severalExperiment()
	for given, want := range map[string]string{"": "", "z": "column=z"} {
		p, err := x.Resolve(map[string]any{"column": given})
		if given == "" {
			p, err = x.Resolve(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Describe(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
}
