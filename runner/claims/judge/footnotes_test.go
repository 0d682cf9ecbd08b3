package judge

import (
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// Trials that differ in their bound alone share a line, and so do those that have none for
// the same reason.
func TestPrivacyNotes(t *testing.T) {
	block := func(epsilon float64, unit, note string) experiment.Privacy {
		out := experiment.Privacy{Unit: unit, Mechanism: "noise", Notes: []string{note}}
		if epsilon > 0 {
			out.State(epsilon, 0)
		}
		return *out.Judged(false)
	}
	e := &Evaluation{Privacy: []experiment.Privacy{
		block(1, "one pixel", "a"), block(2, "one pixel", "a"), block(1, "one pixel", "b"),
		block(1, "one label", "a"),
		block(0, "one pixel", "no guarantee: the radius is private"), block(0, "one label",
			"no guarantee: the radius is private"),
		block(0, "one pixel", "a"),
		{Unit: "one pixel"}, // of a trial without noise
	}}
	got := e.privacyNotes(true)
	want := []string{
		"Mechanism: (1, 0)-DP, (2, 0)-DP for one pixel; noise. Seeded noise reproduces the paper and protects nobody.",
		"Mechanism: (1, 0)-DP for one label; noise. Seeded noise reproduces the paper and protects nobody.",
		"Privacy: no guarantee: the radius is private; noise.",
		"Privacy: no guarantee: seeded noise protects nobody; noise.",
		"Privacy: no guarantee.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
