package privacygp

import (
	"fmt"
	"math"
	"testing"

	"privkern/runner/experiment"
)

func TestKernelCondition(t *testing.T) {
	tests := []struct {
		c, theta, theta0 float64
		d                int
		published        float64 // Example 3's region
		corrected        float64 // erratum 6
		negative         bool    // K − H has a negative eigenvalue on the grid
	}{
		{.5, 5, 10, 1, 1, 1, false},
		{.5, 10, 10, 1, 1, 1, false},
		{.5, 2.5, 10, 1, 1, 0, false}, // the boundary c²θ₀
		{.5, 5, 10, 2, 1, 0, false},   // the boundary cθ₀
		{.5, 10 * math.Pow(.5, 2./3), 10, 3, 1, 1, false},
		{.5, 2.4, 10, 1, 0, 0, true},
		{.5, 12, 10, 1, 0, 0, true},
		{.9, 9, 10, 1, 1, 1, false},
		{.9, 8, 10, 1, 0, 0, true},
		{0, 0, 10, 1, 1, 1, false},
		{1, 10, 10, 1, 0, 0, false}, // K − H = 0
		{.5, 0, 10, 1, 0, 0, true},
		{.3, 6, 10, 2, 1, 1, false},
		{.8, 6, 10, 3, 0, 0, true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("c = %g, θ = %g, d = %d", tt.c, tt.theta, tt.d), func(t *testing.T) {
			for _, v := range []struct {
				variant    variant
				admissible float64
			}{{corrected, tt.corrected}, {asPublished, tt.published}} {
				m := compute(t, kernelCondition(), func(s *kernelSettings) {
					s.C, s.Theta, s.Theta0, s.D, s.Variant = tt.c, tt.theta, tt.theta0, tt.d, v.variant
				}).Metrics
				if m.Admissible != v.admissible {
					t.Errorf("%s: admissible = %v, want %v", experiment.NameOf(v.variant), m.Admissible, v.admissible)
				}
				if negative := m.MinEigenvalue < -1e-9; negative != tt.negative {
					t.Errorf("smallest eigenvalue %g", m.MinEigenvalue)
				}
			}
		})
	}
}
