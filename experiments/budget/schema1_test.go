package budget

import (
	"strings"
	"testing"
)

// ledger1 returns a ledger of the first schema with one account.
func ledger1(rule, entries string) []byte {
	return seal([]byte(`{"schema":1,"sha256":"` + zeros + `","default":{"epsilon":3},"accounts":[{"data":"` + data(0) +
		`","label":"old","unit":"output","n":50,"rule":"` + rule + `","limit":{"epsilon":10,"delta":0.002},"entries":[` +
		entries + `]}]}`))
}

// Entries of the first schema book what they had: μ of noise, a pure ε, or (ε, δ) alone (mpmath 1.3).
func TestFirstSchema(t *testing.T) {
	entry := func(numbers string) string {
		return `{"time":"2026-01-02T03:04:05Z","experiment":"dpgp/regression",` + numbers + `}`
	}
	noise := entry(`"epsilon":1,"delta":0.001,"mu":0.4`)
	choice := entry(`"epsilon":0.5,"delta":0,"mu":0`)
	stated := entry(`"epsilon":0.5,"delta":0.00009,"mu":0`)
	for _, c := range []struct {
		name, rule, entries string
		filter              string
		epsilon             float64
	}{
		{"noise", "gdp", noise + "," + noise, gaussianFilter, 1.4791763009303514},
		{"pure of a sum of mu", "gdp", entry(`"epsilon":0.5,"delta":0,"mu":0.6236`), "", 0.5},
		{"pure", "basic", choice + "," + choice, pureFilter, 1},
		{"a choice and noise", "basic", choice + "," + noise, gaussianFilter, 1.4710412451363023},
		{"no mu", "basic", stated + "," + choice, gaussianFilter, 2.5550423841279117},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t)
			place(t, l, ledger1(c.rule, c.entries))
			r := report(t, l)
			if r.Filter != c.filter || r.Over || r.Limit.Delta != 0.002 || r.Rows != 50 || r.Label != "old" {
				t.Errorf("%+v", r)
			}
			near(t, "epsilon", r.Spent.Epsilon, c.epsilon, 1e-9)
			s := spend(0.1, 0, 0)
			s.Rows = 50
			book(t, l, s)
			if after := report(t, l); after.Releases != r.Releases+1 || after.Spent.Epsilon <= r.Spent.Epsilon {
				t.Errorf("%+v", after)
			}
			state, err := l.Read()
			if err != nil || state.NewLimit() != (Limit{3, 0}) {
				t.Errorf("%+v, %v", state, err)
			}
		})
	}
	for _, c := range []struct{ name, entry, want string }{
		{"negative mu", entry(`"epsilon":1,"delta":0.001,"mu":-0.4`), "account 1: entry 1: mu is -0.4"},
		{"no epsilon", entry(`"epsilon":0,"delta":0.001,"mu":0.4`), "account 1: entry 1: epsilon is 0"},
		{"delta 1", entry(`"epsilon":1,"delta":1,"mu":0`), "account 1: entry 1: delta is 1"},
		{"a member of the second", entry(`"epsilon":1,"delta":0.001,"rho":1`), "unknown field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parse(ledger1("gdp", c.entry)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}
