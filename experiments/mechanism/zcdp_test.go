package mechanism

import (
	"errors"
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
		rho, err := ZCDPFor(c.epsilon, c.delta)
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
	}
}

// Conversions there and back, over the range of use; and of Gaussian noise
// Eq. (19) never says less than the exact conversion.
func TestConversions(t *testing.T) {
	for _, epsilon := range []float64{1e-4, 0.03, 1, 30, 1000} {
		for _, delta := range []float64{0.5, 1e-2, 1e-6, 1e-15} {
			rho, err := ZCDPFor(epsilon, delta)
			if err != nil {
				t.Fatal(err)
			}
			e, errE := rho.Epsilon(delta)
			d, errD := rho.Delta(epsilon)
			exact, errX := rho.GDP().Epsilon(delta)
			exactDelta, errY := rho.GDP().Delta(epsilon)
			if err := errors.Join(errE, errD, errX, errY); err != nil {
				t.Fatal(err)
			}
			near(t, "epsilon", e, epsilon, 1e-13)
			near(t, "delta", d, delta, 1e-11)
			if !(exact < epsilon && exactDelta < delta) {
				t.Errorf("(%g, %g): exactly the Gaussian is (%g, %g)", epsilon, delta, exact, exactDelta)
			}
			mu, err := GDPFor(epsilon, delta)
			if err != nil {
				t.Fatal(err)
			}
			back, err := mu.Epsilon(delta)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "epsilon of mu", back, epsilon, 1e-9)
			if !(mu.ZCDP() > rho) {
				t.Errorf("(%g, %g): exactly a Gaussian may have rho %g, by Eq. 19 %g", epsilon, delta, mu.ZCDP(), rho)
			}
		}
	}
}

// More budget means more ε and more δ, in both accounts.
func TestConversionsAreMonotone(t *testing.T) {
	type account interface {
		Epsilon(delta float64) (float64, error)
		Delta(epsilon float64) (float64, error)
	}
	for _, of := range []func(float64) account{
		func(v float64) account { return ZCDP(v) },
		func(v float64) account { return GDP(v) },
	} {
		lastE, lastD := -1.0, -1.0
		for v := 0.0; v < 3; v += 0.01 {
			e, errE := of(v).Epsilon(1e-5)
			d, errD := of(v).Delta(1)
			if err := errors.Join(errE, errD); err != nil {
				t.Fatal(err)
			}
			// Below 0.02 the exact δ underflows to 0, twice the same.
			if !(e > lastE && d >= lastD && d <= 1) {
				t.Fatalf("%T(%g): (%g, 1e-5) and (1, %g) after %g and %g", of(v), v, e, d, lastE, lastD)
			}
			lastE, lastD = e, d
		}
	}
}

// k releases with noise σ tell what one with noise σ/√k tells.
func TestCompositionOfGaussians(t *testing.T) {
	const sigma, k = 4.0, 9
	rho, errR := GaussianZCDP(sigma)
	mu, errM := GaussianGDP(sigma)
	if err := errors.Join(errR, errM); err != nil || rho != 1.0/32 || mu != 0.25 {
		t.Fatalf("sigma 4 has rho %g and mu %g, %v; want 1/32 and 1/4", rho, mu, err)
	}
	rhos, mus := make([]ZCDP, k), make([]GDP, k)
	for i := range k {
		rhos[i], mus[i] = rho, mu
	}
	total, errR := ComposeZCDP(rhos...)
	all, errM := ComposeGDP(mus...)
	if err := errors.Join(errR, errM); err != nil {
		t.Fatal(err)
	}
	near(t, "nine times rho", float64(total), 9.0/32, 1e-15)
	near(t, "nine mu", float64(all), 0.75, 1e-15)
	got, err := all.Delta(1)
	want, errW := GaussianDelta(1, sigma/3)
	if err := errors.Join(err, errW); err != nil {
		t.Fatal(err)
	}
	near(t, "delta of nine", got, want, 1e-12)

	g, err := Compose(Guarantee{0.5, 1e-3}, Guarantee{0.25, 0}, Guarantee{0, 2e-3})
	if err != nil || g != (Guarantee{0.75, 3e-3}) {
		t.Errorf("basic composition gives %v, %v", g, err)
	}
	if g, err := Compose(); err != nil || g != (Guarantee{}) {
		t.Errorf("no releases cost %v, %v", g, err)
	}
}

func TestAccountRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	only := func(_ any, err error) error { return err }
	for what, err := range map[string]error{
		"epsilon of rho NaN":   only(ZCDP(nan).Epsilon(0.1)),
		"epsilon of rho -1":    only(ZCDP(-1).Epsilon(0.1)),
		"delta of rho inf":     only(ZCDP(inf).Delta(1)),
		"delta 0":              only(ZCDP(1).Epsilon(0)),
		"delta 1":              only(ZCDP(1).Epsilon(1)),
		"delta at epsilon -1":  only(ZCDP(1).Delta(-1)),
		"delta at NaN":         only(ZCDP(1).Delta(nan)),
		"mu NaN":               only(GDP(nan).Epsilon(0.1)),
		"mu inf":               only(GDP(inf).Delta(1)),
		"mu 0, delta 0":        only(GDP(0).Epsilon(0)),
		"mu 0, epsilon -1":     only(GDP(0).Delta(-1)),
		"rho for epsilon 0":    only(ZCDPFor(0, 0.1)),
		"rho for epsilon inf":  only(ZCDPFor(inf, 0.1)),
		"rho for delta 0":      only(ZCDPFor(1, 0)),
		"mu for delta 1":       only(GDPFor(1, 1)),
		"rho of sigma 0":       only(GaussianZCDP(0)),
		"rho of sigma inf":     only(GaussianZCDP(inf)),
		"mu of sigma NaN":      only(GaussianGDP(nan)),
		"sum with rho -1":      only(ComposeZCDP(1, -1)),
		"sum with mu inf":      only(ComposeGDP(1, GDP(inf))),
		"sum with epsilon NaN": only(Compose(Guarantee{nan, 0})),
		"sum with delta -1":    only(Compose(Guarantee{1, -1})),
		"sum of delta 1":       only(Compose(Guarantee{1, 0.5}, Guarantee{1, 0.5})),
	} {
		var refused *Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v; want a refusal", what, err)
		}
	}
}
