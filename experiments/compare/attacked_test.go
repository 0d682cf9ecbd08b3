package compare

import (
	"slices"
	"testing"
)

// A method of which all fits failed has no bound, and methods with another one are below their own.
func TestAllowed(t *testing.T) {
	area := .6
	outcome := func(allowed float64) []Attacked { return []Attacked{{AUC: &area, Low: .5, High: .7, Allowed: allowed}} }
	r := &Results{Blocks: []*Block{{Rows: []*Row{{Method: "failed", Attacked: []Attacked{{Allowed: 1}}},
		{Method: "a", Attacked: outcome(.731)}, {Method: "b", Attacked: outcome(.731)}, {Method: "c"},
		{Method: "d", Attacked: outcome(1)}}}}}
	const allowed, cell = "allowed by the guarantee", "0.600 [0.500, 0.700]"
	want := [][]string{{"failed", "-", ""}, {allowed, "0.731", ""}, {"a", cell, ""}, {"b", cell, ""},
		{allowed, "1.000", ""}, {"d", cell, ""}}
	if got := r.attacks(); !slices.EqualFunc(got[1:], want, slices.Equal[[]string]) {
		t.Errorf("%q", got)
	}
}
