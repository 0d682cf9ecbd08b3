package privacygp

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// TestInnerProducts compares with mpmath's quadrature of Proposition 2's
// integral with 40 digits, from far inside Example 3's region to a hair from its
// boundary θ = c²θ₀. Values below G(0) are held to its scale.
func TestInnerProducts(t *testing.T) {
	tests := []struct {
		r    region
		at   float64
		want float64
	}{
		{region{c: .5, theta: 5, theta0: 10}, 0, 2.2922618573733502322},
		{region{c: .5, theta: 2.501, theta0: 10}, 0, 72.322902081308164687},
		{region{c: .5, theta: 2.501, theta0: 10}, .9, 69.103027819085572726},
		{region{c: .5, theta: 2.5001, theta0: 10}, 0, 228.76450772053694354},
		{region{c: .5, theta: 2.5000000001, theta0: 10}, 0, 228822.73058397525831},
		{region{c: .5, theta: 2.5000000001, theta0: 10}, .5, 228820.92329469332681},
		{region{c: .3, theta: .9000001, theta0: 10}, 0, 2365.3961548227239202},
		{region{c: .9, theta: 8.2, theta0: 10}, 0, 40.894605304411347743},
		{region{c: .5, theta: 10, theta0: 10}, 0, 2}, // H = K/2
		{region{c: 0, theta: 1, theta0: 10}, 0, 1},   // H = 0
		{region{c: .5, theta: 500, theta0: 1000}, .5, 3.5006976332987876455e-8},
		{region{c: .5, theta: 250.001, theta0: 1000}, .01, 723.40070181702005791},
	}
	for _, tt := range tests {
		q, err := tt.r.innerProducts(context.Background(), []float64{0, tt.at})
		if err != nil {
			t.Errorf("%+v: %v", tt.r, err)
			continue
		}
		scale := q.values[0]
		if got := q.values[1]; math.Abs(got-tt.want) > 2e-13*scale {
			t.Errorf("%+v: G(%g) = %.17g, want %.17g", tt.r, tt.at, got, tt.want)
		}
		if q.change > 1e-13*scale {
			t.Errorf("%+v: quadrature error %g of %g", tt.r, q.change, scale)
		}
		if q.nodes > 2048 {
			t.Errorf("%+v: %d nodes", tt.r, q.nodes)
		}
	}
}

// TestInnerProductsSeries compares the quadrature with the geometric series of
// R̃_K/(1 − R̃_H/R̃_K), whose terms are Gaussians:
// G(r) = Σ_k ρ^k √(τ_k/θ₀) exp(−τ_k r²), 1/τ_k = 1/θ₀ + k(1/θ − 1/θ₀), ρ = c√(θ₀/θ).
func TestInnerProductsSeries(t *testing.T) {
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

func TestInnerProductsStop(t *testing.T) {
	r := region{c: .5, theta: 5e13, theta0: 1e14} // some 10 million oscillations
	if _, err := r.innerProducts(context.Background(), []float64{0, 1}); err == nil || !strings.Contains(err.Error(), "smaller theta0") {
		t.Errorf("error = %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (region{c: .5, theta: 5, theta0: 10}).innerProducts(ctx, []float64{0}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}
