package audit

import (
	"testing"
)

// The results of draws and of calculations stay apart: noise that is just
// too little is a violation that no draws can see.
func TestText(t *testing.T) {
	exact := 0.0102
	results := []*Assessment{
		{Mechanism: "one", Unit: "a number", Epsilon: 1, Delta: 0.01, Confidence: 0.99, EpsilonAtLeast: 0.875,
			ExactDelta: &exact, Violation: true,
			Event: Event{Pair: "0 and 1", Statistic: "coordinate", Outputs: "below -1", Likely: 2, Hits: 40, OtherHits: 4,
				Tested: 100}},
		{Mechanism: "three", Unit: "a row", Epsilon: 1, Delta: 0.01, Confidence: 0.99, EpsilonAtLeast: 0.5, Violation: true,
			Made:     []Test{Noise, BlackBox, Mu, Support, Files},
			Noise:    []NoiseReport{{Releases: 2000, Coordinates: 2, Tests: 18, Rejected: make([]NoiseTest, 1)}},
			Gaussian: &GaussianBound{MuAtLeast: 0.3, Delta: 0.004},
			Findings: []Finding{{Noise, "chi-squared, all coordinates: 0.9 (p = 1e-20)"}},
			Event: Event{Pair: "a and b", Statistic: "linear discriminant", Outputs: "from 3 up", Likely: 2, Hits: 50,
				OtherHits: 5, Tested: 100}},
		{Mechanism: "two", Unit: "a choice", Epsilon: 0.5, Confidence: 0.99, EpsilonAtLeast: 0.75, Violation: true,
			Event: Event{Pair: "a and b", Statistic: "coordinate", Outputs: "from 3 up", Likely: 1, Hits: 50, OtherHits: 5,
				Tested: 100}},
	}
	want := `one
  claim       (1, 0.01)-DP for a number
  neighbours  0 and 1
  exact       delta = 0.0102 at epsilon = 1: violation: above the claim
  event       outputs below -1: 4 of 100 draws from the first, 40 from the second
  violation: exact delta = 0.0102 at epsilon = 1, claimed 0.01

three
  claim       (1, 0.01)-DP for a row
  neighbours  a and b
  noise       2000 releases of each data set, 2 coordinates, 18 tests: not as stated
  event       outputs from 3 up, by the linear discriminant: 5 of 100 draws from the first, 50 from the second
  gaussian    mu >= 0.3, delta >= 0.004 at epsilon = 1
  support     on the stated grid
  whole       nothing differs but the digits of noisy numbers
  found       noise: chi-squared, all coordinates: 0.9 (p = 1e-20)
  violation: noise: chi-squared, all coordinates: 0.9 (p = 1e-20)

two
  claim       (0.5, 0)-DP for a choice
  neighbours  a and b
  event       outputs from 3 up: 50 of 100 draws from the first, 5 from the second
  violation: epsilon >= 0.750 at confidence 0.99, claimed 0.5
`
	if got := Text(results); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
