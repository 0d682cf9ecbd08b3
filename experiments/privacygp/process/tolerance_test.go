package process

import (
	"math"
	"strings"
	"testing"
)

// TestShortOfToleranceIsNoResult: noise that lets the variance fall below its tolerance is an error
// that contains the variance that was reached.
func TestShortOfToleranceIsNoResult(t *testing.T) {
	for _, tt := range []struct {
		name         string
		epsilon      float64
		variance, xi float64
		met          bool
	}{
		{"met", epsilon64, .5, .5, true},
		{"to rounding", epsilon64, .5 - 1e-8, .5, true},
		{"missed", epsilon64, .5 - 1e-5, .5, false},
		{"to rounding in float32", epsilon32, .5 - 1e-5, .5, true},
		{"missed in float32", epsilon32, .49, .5, false},
		{"not a number", epsilon64, math.NaN(), .5, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &Observations{epsilon: tt.epsilon, Condition: 1e9}
			err := p.CheckMet("the noise", .25, tt.variance, tt.xi)
			if (err == nil) != tt.met || err != nil && !strings.Contains(err.Error(), "at s = 0.25, below the tolerance 0.5") {
				t.Errorf("error %v", err)
			}
		})
	}
}
