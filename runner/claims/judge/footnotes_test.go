package judge

import (
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// Trials that differ in their guarantee alone share a line, and so do those that
// have none for the same reason.
func TestPrivacyNotes(t *testing.T) {
	block := func(guarantee, unit, note string) experiment.Privacy {
		return experiment.Privacy{Guarantee: guarantee, Unit: unit, Mechanism: "noise", RNG: "seeded", Notes: []string{note}}
	}
	e := &Evaluation{Privacy: []experiment.Privacy{
		block("(1, 0)-DP", "one pixel", "a"), block("(2, 0)-DP", "one pixel", "a"), block("(1, 0)-DP", "one pixel", "b"),
		block("(1, 0)-DP", "one label", "a"),
		block("", "one pixel", "no guarantee: the radius is private"), block("", "one label",
			"no guarantee: the radius is private"),
		block("", "one pixel", "a"),
	}}
	got := e.privacyNotes()
	want := []string{
		"Privacy: (1, 0)-DP, (2, 0)-DP; protects one pixel; noise. Seeded noise reproduces the paper and protects nobody.",
		"Privacy: (1, 0)-DP; protects one label; noise. Seeded noise reproduces the paper and protects nobody.",
		"Privacy: no guarantee: the radius is private; noise.",
		"Privacy: no guarantee; noise.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
