package privacygp

import (
	"math"
	"strings"
	"testing"

	"privkern/experiments/privacygp/sdp"
)

// TestWideCertificateIsNoResult: the error contains the gap that was reached.
func TestWideCertificateIsNoResult(t *testing.T) {
	for _, tt := range []struct {
		name     string
		solution sdp.Solution
		wanted   float64
		want     string // "" for none
	}{
		{"closed", sdp.Solution{Trace: 5, Unit: 1, Lower: 5, Upper: 5 + 4e-8}, 1e-8, ""},
		{"open", sdp.Solution{Trace: 5, Unit: 1, Lower: 4, Upper: 5, Iterations: 60}, 1e-8,
			"it stopped after 60 steps at a relative duality gap of 2.0e-01, and at most 1e-08 is wanted: " +
				"the least trace lies between 4 and 5"},
		{"open, of a small trace", sdp.Solution{Trace: 1e-9, Unit: 2, Lower: 0, Upper: 1e-7}, 1e-8, "gap of 5.0e-08"},
		{"no upper bound", sdp.Solution{Trace: 5, Unit: 1, Lower: 4, Upper: math.Inf(1)}, 1e-8, "+Inf"},
		{"not a number", sdp.Solution{Trace: math.NaN(), Unit: 1}, 1e-8, "NaN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := checkGap("it", &tt.solution, tt.wanted)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
