package compare

import (
	"testing"

	"privkern/experiments/internal/trialtest"
)

// The noise of an entry is the least with which all entries together have (ε, δ): without δ basic composition, with it
// less noise, and a ten-thousandth less noise yet is too little.
func TestEntryEpsilon(t *testing.T) {
	for _, c := range []struct {
		name           string
		epsilon, delta float64
		entries        int
	}{
		{"one entry", 1, 1e-5, 1}, {"an image of 49", 1, 1e-5, 49}, {"an image of 784", 3, 1e-5, 784},
	} {
		t.Run(c.name, func(t *testing.T) {
			basic, err := entryEpsilon(c.epsilon, 0, c.entries)
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "without delta", basic, c.epsilon/float64(c.entries), 2e-9*basic)
			each, err := entryEpsilon(c.epsilon, c.delta, c.entries)
			if err != nil {
				t.Fatal(err)
			}
			if c.entries > 1 && each < 1.5*basic {
				t.Errorf("%g for an entry; basic composition has %g already", each, basic)
			}
			together := func(each float64) float64 {
				epsilon, err := Entries(each, c.delta, c.entries)
				if err != nil {
					t.Fatal(err)
				}
				return epsilon
			}
			if got := together(each); got > c.epsilon {
				t.Errorf("all entries have epsilon %g, above %g", got, c.epsilon)
			}
			if got := together(each * 1.0001); got <= c.epsilon {
				t.Errorf("with a ten-thousandth less noise epsilon is %g, not above %g", got, c.epsilon)
			}
		})
	}
}
