package claims

import (
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// Trials that differ in their guarantee alone are told of in one line.
func TestPrivacyNotes(t *testing.T) {
	block := func(guarantee, unit, note string) experiment.Privacy {
		return experiment.Privacy{Guarantee: guarantee, Unit: unit, Mechanism: "noise", RNG: "seeded", Notes: []string{note}}
	}
	e := &Evaluated{Privacy: []experiment.Privacy{
		block("(1, 0)-DP", "one pixel", "a"), block("(2, 0)-DP", "one pixel", "a"), block("(1, 0)-DP", "one pixel", "b"), block("(1, 0)-DP", "one label", "a"),
	}}
	got := e.privacyNotes()
	want := []string{
		"Privacy: (1, 0)-DP, (2, 0)-DP; protects one pixel; noise. Seeded noise reproduces the paper and protects nobody.",
		"Privacy: (1, 0)-DP; protects one label; noise. Seeded noise reproduces the paper and protects nobody.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
