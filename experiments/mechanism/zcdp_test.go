package mechanism

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g within %g", what, got, want, tolerance)
	}
}

// The ρ that (ε, δ) allows, with 60 digits (mpmath 1.3): by Eq. (19), and for
// Gaussian noise exactly. The second row is a candidate of a selection at (1, 1e-4).
func TestAllowedRho(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, eq19, gaussian float64 }{
		{1, 1e-4, 0.025762838518421522, 0.049267376667104946},
		{0.3333332549413333, 3.0726e-15, 0.00082714477041062832, 0.0010848094452595763},
		{10, 1e-6, 1.3530146901688731, 1.7077963249967539},
	} {
		t.Run(fmt.Sprintf("epsilon %g, delta %g", c.epsilon, c.delta), func(t *testing.T) {
			rho, err := ClassicZCDPFor(c.epsilon, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "rho by Eq. 19", float64(rho), c.eq19, 1e-14)
			mu, err := GDPFor(c.epsilon, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "rho of a Gaussian", float64(mu.ZCDP()), c.gaussian, 1e-11)
			near(t, "mu from rho and back", float64(mu.ZCDP().GDP()), float64(mu), 1e-15)
			back, err := mu.Epsilon(c.delta)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "epsilon of mu", back, c.epsilon, 1e-9)
		})
	}
}

// ε of ρ and ρ of ε by Rényi differential privacy of all orders with 60 digits (mpmath 1.3: the
// stationary point by bisection of log x), rounded up and down.
func TestTightConversion(t *testing.T) {
	for _, c := range []struct{ rho, delta, epsilon float64 }{
		{1e-12, 1e-100, 2.9172710161859143e-05}, {1e-6, 1e-5, 0.00345666706127566}, {0.025, 1e-5, 0.8966133351628289},
		{0.025, 1e-100, 4.765256656136197}, {0.5, 0.1, 1.6559786584207965}, {0.5, 1e-15, 8.424799161213807},
		{0.5, 1e-300, 37.54455896592212}, {3, 0.9, 0.9878754267554196}, {50, 1e-5, 96.03527067517315},
		{1e6, 1e-100, 1030343.3468684631},
	} {
		t.Run(fmt.Sprintf("rho %g, delta %g", c.rho, c.delta), func(t *testing.T) {
			epsilon, errE := ZCDP(c.rho).Epsilon(c.delta)
			rho, errR := ZCDPFor(c.epsilon, c.delta)
			if err := errors.Join(errE, errR); err != nil {
				t.Fatal(err)
			}
			if !(epsilon >= c.epsilon && epsilon <= c.epsilon*(1+1e-12)) {
				t.Errorf("epsilon = %.17g, want %.17g or a little more", epsilon, c.epsilon)
			}
			if !(float64(rho) <= c.rho && float64(rho) >= c.rho*(1-1e-10)) {
				t.Errorf("rho = %.17g, want %.17g or a little less", rho, c.rho)
			}
			if gauss, err := GDPFor(c.epsilon, c.delta); err != nil || gauss.ZCDP() <= rho {
				t.Errorf("a Gaussian may have rho %g, %v", gauss.ZCDP(), err)
			}
		})
	}
}

// Budgets that no conversion can use are refused.
func TestAccountRefusals(t *testing.T) {
	nan := math.NaN()
	only := func(_ any, err error) error { return err }
	for what, err := range map[string]error{
		"mu NaN":          only(GDP(nan).Epsilon(0.1)),
		"mu 0, delta 0":   only(GDP(0).Epsilon(0)),
		"rho for 0":       only(ClassicZCDPFor(0, 0.1)),
		"rho for delta 1": only(ClassicZCDPFor(1, 1)),
		"mu for delta 1":  only(GDPFor(1, 1)),
		"rho -1":          only(ZCDP(-1).Epsilon(0.1)),
		"rho, delta 0":    only(ZCDP(1).Epsilon(0)),
		"tight rho for 0": only(ZCDPFor(0, 0.1)),
	} {
		t.Run(what, func(t *testing.T) {
			var refused *Error
			if !errors.As(err, &refused) {
				t.Errorf("%v; want a refusal", err)
			}
		})
	}
}
