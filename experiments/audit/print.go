package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Text returns the results for people.
func Text(results []*Assessment) string {
	var b strings.Builder
	for i, r := range results {
		if i > 0 {
			b.WriteByte('\n')
		}
		r.text(&b)
	}
	return b.String()
}

func (r *Assessment) text(b *strings.Builder) {
	first, second := r.Event.Hits, r.Event.OtherHits
	if r.Event.Likely == 2 {
		first, second = second, first
	}
	fmt.Fprintf(b, "%s\n", r.Mechanism)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("claim", "(%g, %g)-DP for %s", r.Epsilon, r.Delta, r.Unit)
	line("neighbours", "%s", r.Event.Pair)
	if r.ExactDelta != nil {
		verdict := "within the claim"
		if exceeds(*r.ExactDelta, r.Delta) {
			verdict = "violation: above the claim"
		}
		line(string(Exact), "delta = %.6g at epsilon = %g: %s", *r.ExactDelta, r.Epsilon, verdict)
	}
	for _, n := range r.Noise {
		coordinates := "1 coordinate"
		if n.Coordinates != 1 {
			coordinates = fmt.Sprintf("%d coordinates", n.Coordinates)
		}
		verdict := "as stated"
		if len(n.Rejected) > 0 {
			verdict = "not as stated"
		}
		line(string(Noise), "%d releases of each data set, %s, %d tests: %s",
			n.Releases, coordinates, n.Tests, verdict)
	}
	outputs := r.Event.Outputs
	if r.Event.Statistic != "coordinate" {
		outputs += ", by the " + r.Event.Statistic
	}
	line(string(BlackBox), "outputs %s: %d of %d draws from the first, %d from the second",
		outputs, first, r.Event.Tested, second)
	if r.Gaussian != nil {
		line(string(Mu), "mu >= %.4g, delta >= %.3g at epsilon = %g", r.Gaussian.MuAtLeast, r.Gaussian.Delta, r.Epsilon)
	}
	if slices.Contains(r.Made, Support) && !r.Found(Support) {
		line(string(Support), "on the stated grid")
	}
	if slices.Contains(r.Made, Rest) && !r.Found(Rest) {
		line(string(Rest), "equal noisy numbers give equal releases")
	}
	if slices.Contains(r.Made, Files) && !r.Found(Files) {
		line(string(Files), "nothing differs but the digits of noisy numbers")
	}
	for _, f := range r.Findings {
		line("found", "%s: %s", f.Test, f.Text)
	}
	fmt.Fprintf(b, "  %s\n", r.Verdict())
}

// Verdict returns the result in a line, which is never that a claim holds.
func (r *Assessment) Verdict() string {
	if r.EpsilonAtLeast > r.Epsilon {
		return fmt.Sprintf("violation: epsilon >= %.3f at confidence %g, claimed %g",
			r.EpsilonAtLeast, r.Confidence, r.Epsilon)
	}
	if r.ExactDelta != nil && exceeds(*r.ExactDelta, r.Delta) {
		return fmt.Sprintf("violation: exact delta = %.6g at epsilon = %g, claimed %g", *r.ExactDelta, r.Epsilon, r.Delta)
	}
	if len(r.Findings) > 0 {
		return fmt.Sprintf("violation: %s: %s", r.Findings[0].Test, r.Findings[0].Text)
	}
	return fmt.Sprintf("no violation found at confidence %g: epsilon >= %.3f, claimed %g",
		r.Confidence, r.EpsilonAtLeast, r.Epsilon)
}

// JSON writes the results as one JSON object.
func JSON(w io.Writer, results []*Assessment) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"schema": 1, "audits": results})
}
