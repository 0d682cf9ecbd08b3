package experiment_test

import (
	"slices"
	"testing"

	"privkern/runner/experiment"
)

func TestRefutedClaim(t *testing.T) {
	p := experiment.Privacy{Guarantee: "(1, 0)-DP", Notes: []string{"a"}}
	p.Refute("x")
	p.Refute("y")
	want := []string{"no guarantee: x", "no guarantee: y", "a",
		"claimed by the paper: (1, 0)-DP; it does not hold because x"}
	if p.Guarantee != "" || !slices.Equal(p.Notes, want) {
		t.Errorf("the guarantee is %q with notes %q, want none with %q", p.Guarantee, p.Notes, want)
	}
}

func TestStatementOfPrivacy(t *testing.T) {
	for _, c := range []struct {
		name      string
		guarantee string
		notes     []string
		withdrawn []string
		want      string
		left      []string
	}{
		{"guarantee", "(1, 0)-DP", []string{"a"}, nil, "(1, 0)-DP", []string{"a"}},
		{"withdrawn", "(1, 0)-DP", []string{"a"}, []string{"x"}, "no guarantee: x", []string{"no guarantee: x", "a"}},
		{"withdrawn twice", "(1, 0)-DP", []string{"a"}, []string{"x", "y"}, "no guarantee: x",
			[]string{"no guarantee: x", "no guarantee: y", "a"}},
		{"without notes", "(1, 0)-DP", nil, []string{"x"}, "no guarantee: x", []string{"no guarantee: x"}},
		{"a reason among other notes", "", []string{"a", "no guarantee: x"}, nil, "no guarantee: x", []string{"a",
			"no guarantee: x"}},
		{"empty for no reason", "", []string{"a"}, nil, "no guarantee", []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			shared := append(make([]string, 0, 8), c.notes...) // room that an append could write to
			p := experiment.Privacy{Guarantee: c.guarantee, Notes: shared}
			for _, reason := range c.withdrawn {
				p.Withdraw(reason)
			}
			if got := p.Statement(); got != c.want {
				t.Errorf("the statement is %q, want %q", got, c.want)
			}
			if !slices.Equal(p.Notes, c.left) || (len(c.withdrawn) > 0) != (p.Guarantee != c.guarantee) {
				t.Errorf("the guarantee is %q with notes %q", p.Guarantee, p.Notes)
			}
			if !slices.Equal(shared, c.notes) {
				t.Errorf("the caller's notes became %q", shared)
			}
		})
	}
}
