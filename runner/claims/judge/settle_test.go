package judge

import (
	"testing"

	"privkern/runner/claims/ledger"
)

// More trials settle a wide value unless the draws behind the print alone make its band wider
// than the tolerance: 1.96 times their standard deviation, plus rounding.
func TestSettles(t *testing.T) {
	half, two := 0.5, 2.
	for _, c := range []struct {
		name                           string
		deviation, draws, tolerance, h float64
		uncertainty                    *float64
		of                             string
		want                           bool
	}{
		{"below the tolerance", 0.5, 1, 1, 0, nil, "", true},
		{"above it", 0.52, 1, 1, 0, nil, "", false},
		{"above it, and the print is a mean of ten", 1.6, 10, 1, 0, nil, "", true},
		{"above it, and ours are means", 0.06, 0.01, 1, 0, nil, "", false},
		{"above it with the rounding", 0.5, 1, 1, 0.3, nil, "", false},
		{"a tolerance below the rounding", 0.1, 1, 0.1, 0.5, nil, "", false},
		{"a tolerance below the rounding, without chance", 0, 1, 0.1, 0.5, nil, "", true},
		{"repetitions in the print", 9, 1, 1, 0, &half, string(ledger.Repetitions), true},
		{"many of them", 0.1, 1, 1, 0, &two, string(ledger.Repetitions), false},
		{"folds in the print", 0.5, 1, 1, 0, &two, "14 folds", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Comparison{Headline: true, Primary: true, Verdict: Wide, Draws: c.draws, Tolerance: &c.tolerance,
				Band:      &Band{Deviation: c.deviation},
				Published: &Print{Rounding: c.h, Uncertainty: c.uncertainty, UncertaintyOf: c.of}}
			tally := TallyOf(&Evaluation{Cells: []Comparison{*r}})
			if tally.Wide != 1 || (tally.Settle == 1) != c.want {
				t.Errorf("%+v", tally)
			}
			tally.Add(tally)
			if tally.Wide != 2 || (tally.Settle == 2) != c.want {
				t.Errorf("twice: %+v", tally)
			}
			r.Verdict = Match
			if tally := TallyOf(&Evaluation{Cells: []Comparison{*r}}); tally.Settle != 0 {
				t.Errorf("of a match: %+v", tally)
			}
		})
	}
}
