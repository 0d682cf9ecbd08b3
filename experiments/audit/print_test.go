package audit

import (
	"strings"
	"testing"
)

// What the draws show and what is calculated are told apart: noise that is just
// too little is a violation that no draws can see.
func TestText(t *testing.T) {
	exact := 0.0102
	results := []*Result{
		{Mechanism: "one", Unit: "a number", Epsilon: 1, Delta: 0.01, Confidence: 0.99, EpsilonAtLeast: 0.875, ExactDelta: &exact, Violation: true,
			Event: Event{Pair: "0 and 1", Outputs: "below -1", Likely: 2, Hits: 40, OtherHits: 4, Tested: 100}},
		{Mechanism: "two", Unit: "a choice", Epsilon: 0.5, Confidence: 0.99, EpsilonAtLeast: 0.75, Violation: true,
			Event: Event{Pair: "a and b", Outputs: "from 3 up", Likely: 1, Hits: 50, OtherHits: 5, Tested: 100}},
	}
	want := `one
  claim       (1, 0.01)-DP for a number
  neighbours  0 and 1
  event       outputs below -1: 4 of 100 draws from the first, 40 from the second
  exact       delta = 0.0102 at epsilon = 1: violation: above the claim
  violation: exact delta = 0.0102 at epsilon = 1, claimed 0.01

two
  claim       (0.5, 0)-DP for a choice
  neighbours  a and b
  event       outputs from 3 up: 50 of 100 draws from the first, 5 from the second
  violation: epsilon >= 0.750 at confidence 0.99, claimed 0.5
`
	var out strings.Builder
	if err := Text(&out, results); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}
