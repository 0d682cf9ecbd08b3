package privacygp

import (
	"context"
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

// TestInnerProducts compares the quadrature with the geometric series of
// R̃_K/(1 − R̃_H/R̃_K), whose terms are Gaussians:
// G(r) = Σ_k ρ^k √(τ_k/θ₀) exp(−τ_k r²), 1/τ_k = 1/θ₀ + k(1/θ − 1/θ₀), ρ = c√(θ₀/θ).
func TestInnerProducts(t *testing.T) {
	distances := []float64{0, .1, .35, .8, 2}
	for _, r := range []region{
		{c: .5, theta: 5, theta0: 10, d: 1},
		{c: .5, theta: 2.6, theta0: 10, d: 1}, // near the boundary
		{c: .9, theta: 10, theta0: 10, d: 1},  // H = cK: G = K/(1 − c)
		{c: .05, theta: .1, theta0: 3, d: 1},
		{c: 0, theta: 1, theta0: 10, d: 1}, // H = 0: G = K
	} {
		q, err := r.innerProducts(context.Background(), distances)
		if err != nil {
			t.Fatal(err)
		}
		rho := r.c * math.Sqrt(r.theta0/r.theta)
		for i, d := range distances {
			want := 0.0
			for k := range 20000 {
				tau := 1 / (1/r.theta0 + float64(k)*(1/r.theta-1/r.theta0))
				want += math.Pow(rho, float64(k)) * math.Sqrt(tau/r.theta0) * math.Exp(-tau*d*d)
			}
			if math.Abs(q.values[i]-want) > 1e-11*q.values[0] {
				t.Errorf("%+v: G(%g) = %.15g, want %.15g", r, d, q.values[i], want)
			}
		}
	}
}
