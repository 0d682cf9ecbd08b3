package experiment_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

func TestRefutedClaim(t *testing.T) {
	p := (&experiment.Privacy{Notes: []string{"a"}}).State(1, 0)
	p.Refute("x")
	p.Refute("y")
	want := []string{"no guarantee: x", "no guarantee: y", "a",
		"claimed by the paper: (1, 0)-DP; it does not hold because x"}
	if p.Guarantee != "" || p.Simulated != nil || !slices.Equal(p.Notes, want) {
		t.Errorf("%+v is stated as %+v with notes %q, want nothing with %q", p.Guarantee, p.Simulated, p.Notes, want)
	}
}

// A trial states the simulated guarantee of its mechanism and never a real one; a release, only a real
// one. A record of an early version, with a guarantee in words, is read as a trial's.
func TestGuaranteeOfRecords(t *testing.T) {
	simulated := &experiment.Simulated{Epsilon: 1, Delta: 1e-6, Unit: "one row", Neighbours: "substitute"}
	const ofSeed, bound = "no guarantee: seeded noise protects nobody", "(1, 1e-06)-DP"
	state := func(p *experiment.Privacy) { p.State(1, 1e-6) }
	words := func(s string) func(*experiment.Privacy) {
		return func(p *experiment.Privacy) { p.Guarantee = s }
	}
	for _, c := range []struct {
		name      string
		state     func(*experiment.Privacy)
		secure    bool
		simulated *experiment.Simulated
		note      string // the first
		line      string
	}{
		{"seeded", state, false, simulated, ofSeed, bound + " per row, seeded"},
		{"secure", state, true, simulated, "no guarantee: the noise of a judged trial", bound + " per row, judged"},
		{"withdrawn", func(p *experiment.Privacy) { p.State(1, 1e-6).Withdraw("x") }, false, nil, "no guarantee: x",
			"no guarantee: x"},
		{"nothing stated", func(*experiment.Privacy) {}, false, nil, ofSeed, ofSeed},
		{"no noise", func(p *experiment.Privacy) { p.State(math.Inf(1), 0) }, false, nil,
			"no guarantee: epsilon = inf", "no guarantee: epsilon = inf"},
		{"early", words(bound), false, simulated, ofSeed, bound + " per row, seeded"},
		{"early and secure", words(bound), true, simulated, "no guarantee: the noise of a judged trial",
			bound + " per row, judged"},
		{"early, without noise", words("(inf, 0)-DP"), false, nil, ofSeed, ofSeed},
		{"early, in other words", words("(1, 1e-6)-DP or so"), false, nil, ofSeed, ofSeed},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &experiment.Privacy{Unit: "one row, replaced by any other", Groups: []experiment.Group{{Rows: 2, Epsilon: 2}}}
			c.state(p)
			stated := *p
			got := p.Judged(c.secure)
			if got.Guarantee != "" || got.Groups != nil || !strings.HasPrefix(got.Notes[0], c.note) ||
				!strings.HasPrefix(got.Statement(), c.line) ||
				len(got.Notes) != 1 && c.simulated != nil {
				t.Errorf("the record has %+v, stated as %q", got, got.Statement())
			}
			if want := c.simulated; want != nil {
				want.Unit = p.Unit
			}
			if !reflect.DeepEqual(got.Simulated, c.simulated) || !reflect.DeepEqual(*p, stated) {
				t.Errorf("simulated is %+v, want %+v", got.Simulated, c.simulated)
			}
			if again := got.Judged(false); !c.secure && !reflect.DeepEqual(again, got) {
				t.Errorf("a record that is read becomes %+v", again)
			}
			if p.Publish(); p.Guarantee != stated.Guarantee || p.Simulated != nil || p.RNG != "secure" || p.Notes == nil {
				t.Errorf("a release states %+v", p)
			}
		})
	}
}

// The bound stands with the beginning of its unit.
func TestBoundInALine(t *testing.T) {
	for unit, want := range map[string]string{
		"one output changed by at most 100 cm":                      "(1, 0.5)-DP per output changed by at most 100 cm",
		"one row: all of its inputs (4), replaced by any others":    "(1, 0.5)-DP per row",
		"the outputs of all rows of one person (at most 3 of them)": "(1, 0.5)-DP for the outputs of all rows of one person",
		"": "(1, 0.5)-DP",
	} {
		s := experiment.Simulated{Epsilon: 1, Delta: 0.5, Unit: unit}
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
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
