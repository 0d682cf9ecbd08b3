package privacygp

import (
	"math"
	"testing"
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
		params := map[string]any{"c": tt.c, "theta": tt.theta, "theta0": tt.theta0, "d": tt.d}
		m := run(t, "kernel-condition", params).Metrics
		if m["admissible"] != tt.corrected {
			t.Errorf("%v: admissible = %v, want %v", params, m["admissible"], tt.corrected)
		}
		if negative := m["min_eigenvalue"] < -1e-9; negative != tt.negative {
			t.Errorf("%v: smallest eigenvalue %g", params, m["min_eigenvalue"])
		}
		params["variant"] = asPublished
		if m := run(t, "kernel-condition", params).Metrics; m["admissible"] != tt.published {
			t.Errorf("%v: admissible = %v, want %v", params, m["admissible"], tt.published)
		}
	}
}
