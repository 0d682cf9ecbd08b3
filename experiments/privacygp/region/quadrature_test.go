package region

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestInnerProducts compares with mpmath's quadrature of Proposition 2's
// integral with 40 digits, from far inside Example 3's region to a hair from its
// boundary θ = c²θ₀. Values below G(0) are held to its scale.
func TestInnerProducts(t *testing.T) {
	tests := []struct {
		r    Region
		at   float64
		want float64
	}{
		{Region{C: .5, Theta: 5, Theta0: 10}, 0, 2.2922618573733502322},
		{Region{C: .5, Theta: 2.501, Theta0: 10}, 0, 72.322902081308164687},
		{Region{C: .5, Theta: 2.501, Theta0: 10}, .9, 69.103027819085572726},
		{Region{C: .5, Theta: 2.5001, Theta0: 10}, 0, 228.76450772053694354},
		{Region{C: .5, Theta: 2.5000000001, Theta0: 10}, 0, 228822.73058397525831},
		{Region{C: .5, Theta: 2.5000000001, Theta0: 10}, .5, 228820.92329469332681},
		{Region{C: .3, Theta: .9000001, Theta0: 10}, 0, 2365.3961548227239202},
		{Region{C: .9, Theta: 8.2, Theta0: 10}, 0, 40.894605304411347743},
		{Region{C: .5, Theta: 10, Theta0: 10}, 0, 2}, // H = K/2
		{Region{C: 0, Theta: 1, Theta0: 10}, 0, 1},   // H = 0
		{Region{C: .5, Theta: 500, Theta0: 1000}, .5, 3.5006976332987876455e-8},
		{Region{C: .5, Theta: 250.001, Theta0: 1000}, .01, 723.40070181702005791},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%+v at %g", tt.r, tt.at), func(t *testing.T) {
			q, err := tt.r.InnerProducts(context.Background(), []float64{0, tt.at})
			if err != nil {
				t.Fatal(err)
			}
			scale := q.Values[0]
			if got := q.Values[1]; math.Abs(got-tt.want) > 2e-13*scale {
				t.Errorf("G = %.17g, want %.17g", got, tt.want)
			}
			if q.Change > 1e-13*scale {
				t.Errorf("quadrature error %g of %g", q.Change, scale)
			}
			if q.Nodes > 2048 {
				t.Errorf("%d nodes", q.Nodes)
			}
		})
	}
}

// TestInnerProductsSeries compares the quadrature with the geometric series of
// R̃_K/(1 − R̃_H/R̃_K), whose terms are Gaussians:
// G(r) = Σ_k ρ^k √(τ_k/θ₀) exp(−τ_k r²), 1/τ_k = 1/θ₀ + k(1/θ − 1/θ₀), ρ = c√(θ₀/θ).
func TestInnerProductsSeries(t *testing.T) {
	distances := []float64{0, .1, .35, .8, 2}
	for _, r := range []Region{
		{C: .5, Theta: 5, Theta0: 10, D: 1},
		{C: .5, Theta: 2.6, Theta0: 10, D: 1}, // near the boundary
		{C: .9, Theta: 10, Theta0: 10, D: 1},  // H = cK: G = K/(1 − c)
		{C: .05, Theta: .1, Theta0: 3, D: 1},
		{C: 0, Theta: 1, Theta0: 10, D: 1}, // H = 0: G = K
	} {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			q, err := r.InnerProducts(context.Background(), distances)
			if err != nil {
				t.Fatal(err)
			}
			rho := r.C * math.Sqrt(r.Theta0/r.Theta)
			for i, d := range distances {
				want := 0.0
				for k := range 20000 {
					tau := 1 / (1/r.Theta0 + float64(k)*(1/r.Theta-1/r.Theta0))
					want += math.Pow(rho, float64(k)) * math.Sqrt(tau/r.Theta0) * math.Exp(-tau*d*d)
				}
				if math.Abs(q.Values[i]-want) > 1e-11*q.Values[0] {
					t.Errorf("G(%g) = %.15g, want %.15g", d, q.Values[i], want)
				}
			}
		})
	}
}

func TestInnerProductsStop(t *testing.T) {
	r := Region{C: .5, Theta: 5e13, Theta0: 1e14} // some 10 million oscillations
	_, err := r.InnerProducts(context.Background(), []float64{0, 1})
	if err == nil || !strings.Contains(err.Error(), "smaller theta0") {
		t.Errorf("error = %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Region{C: .5, Theta: 5, Theta0: 10}.InnerProducts(ctx, []float64{0})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}
