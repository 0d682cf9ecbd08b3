package audit

import (
	"encoding/json"
	"fmt"
	"io"
)

// Text writes the results for people.
func Text(w io.Writer, results []*Result) error {
	for i, r := range results {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		first, second := r.Event.Hits, r.Event.OtherHits
		if r.Event.Likely == 2 {
			first, second = second, first
		}
		if _, err := fmt.Fprintf(w, "%s\n  claim       (%g, %g)-DP for %s\n  neighbours  %s\n  event       outputs %s: %d of %d draws from the first, %d from the second\n",
			r.Mechanism, r.Epsilon, r.Delta, r.Unit, r.Event.Pair, r.Event.Outputs, first, r.Event.Tested, second); err != nil {
			return err
		}
		if r.ExactDelta != nil {
			verdict := "within the claim"
			if exceeds(*r.ExactDelta, r.Delta) {
				verdict = "violation: above the claim"
			}
			if _, err := fmt.Fprintf(w, "  exact       delta = %.6g at epsilon = %g: %s\n", *r.ExactDelta, r.Epsilon, verdict); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "  %s\n", r.Verdict()); err != nil {
			return err
		}
	}
	return nil
}

// Verdict says in a line what the draws show, which is never that a claim holds.
func (r *Result) Verdict() string {
	if r.EpsilonAtLeast > r.Epsilon {
		return fmt.Sprintf("violation: epsilon >= %.3f at confidence %g, claimed %g", r.EpsilonAtLeast, r.Confidence, r.Epsilon)
	}
	if r.ExactDelta != nil && exceeds(*r.ExactDelta, r.Delta) {
		return fmt.Sprintf("violation: exact delta = %.6g at epsilon = %g, claimed %g", *r.ExactDelta, r.Epsilon, r.Delta)
	}
	return fmt.Sprintf("no violation found at confidence %g: epsilon >= %.3f, claimed %g", r.Confidence, r.EpsilonAtLeast, r.Epsilon)
}

// JSON writes the results as one JSON object.
func JSON(w io.Writer, results []*Result) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"schema": 1, "audits": results})
}
