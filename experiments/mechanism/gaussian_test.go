package mechanism

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// Balle and Wang's Theorem 8 with 60 digits (mpmath 1.3, erfc).
var deltaReference = []struct{ epsilon, sigma, delta float64 }{
	{0, 0.05, 1},
	{0, 0.3, 0.90441929545437058},
	{0, 1, 0.38292492254802621},
	{0, 30, 0.013297460387365108},
	{1e-4, 0.3, 0.90441451632940675},
	{1e-4, 1000, 0.00035095286201566588},
	{0.5, 3, 0.012418249399426047},
	{0.5, 30, 1.0382163282791043e-53},
	{1, 0.3, 0.84723593340521902},
	{1, 1, 0.12693673750664395},
	{1, 30, 8.9675631000110645e-201},
	{10, 0.3, 0.0574969222690497},
	{10, 3, 7.9623493586436542e-198},
	{1000, 0.02, 0.99999968032650774},
}

func TestGaussianDelta(t *testing.T) {
	for _, c := range deltaReference {
		got, err := GaussianDelta(c.epsilon, c.sigma)
		if e := math.Abs(got/c.delta - 1); err != nil || !(e < 1e-12) {
			t.Errorf("GaussianDelta(%g, %g) = %.17g, %v; want %.17g (relative error %.1e)", c.epsilon, c.sigma, got, err,
				c.delta, e)
		}
	}
}

// δ(ε), its inverse in ε and its inverse in σ are one relation.
func TestGaussianInverses(t *testing.T) {
	for _, c := range analyticReference {
		got, err := GaussianEpsilon(c.delta, c.sigma)
		if err != nil || math.Abs(got-c.epsilon) > 1e-9*c.epsilon+1e-12 {
			t.Errorf("GaussianEpsilon(%g, %g) = %.17g, %v; want %g", c.delta, c.sigma, got, err, c.epsilon)
		}
	}
	// With a total variation of 0.0133 every δ above needs no ε.
	if got, err := GaussianEpsilon(0.0133, 30); got != 0 || err != nil {
		t.Errorf("above the total variation epsilon is %g, %v; want 0", got, err)
	}
	if got, err := GaussianEpsilon(0.0132, 30); !(got > 0 && got < 1e-2) || err != nil {
		t.Errorf("just below the total variation epsilon is %g, %v", got, err)
	}
}

// Where it is accepted, the classical noise is enough by the exact δ; without the
// condition it is not.
func TestClassicalGaussian(t *testing.T) {
	for _, epsilon := range []float64{1e-3, 0.1, 0.5, 0.99, 1} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			for _, delta := range []float64{0.99, 0.5, 0.1, 1e-2, 1e-5, 1e-12} {
				sigma, err := ClassicalGaussian(epsilon, delta)
				if err != nil {
					t.Fatal(err)
				}
				if exact, err := GaussianDelta(epsilon, sigma); err != nil || exact > delta {
					t.Errorf("(%g, %g): the classical noise has delta %g, %v", epsilon, delta, exact, err)
				}
			}
		})
	}
	if got, want := ClassicalFormula(0.1, 1e-4), 43.436123038987705; math.Abs(got-want) > 1e-11 { // 10 √(2 log 12500)
		t.Errorf("ClassicalFormula(0.1, 1e-4) = %.16g, want %.16g", got, want)
	}
	if exact, _ := GaussianDelta(10, ClassicalFormula(10, 1e-4)); !(exact > 1e-4) {
		t.Errorf("at (10, 1e-4) the formula's delta is %g; its comment says that it is not enough", exact)
	}
	_, err := ClassicalGaussian(1.01, 1e-4)
	var refused *Error
	if !errors.As(err, &refused) || refused.Parameter != "epsilon" {
		t.Errorf("epsilon above 1: %v; want a refusal", err)
	}
}

func TestGaussianRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ epsilon, delta, sigma float64 }{
		{-1, .5, 1}, {nan, .5, 1}, {inf, .5, 1}, {1, 0, 1}, {1, 1, 1}, {1, nan, 1}, {1, -1, 1},
		{1, .5, 0}, {1, .5, -1}, {1, .5, inf}, {1, .5, nan},
	} {
		t.Run(fmt.Sprintf("epsilon %g, delta %g, sigma %g", c.epsilon, c.delta, c.sigma), func(t *testing.T) {
			bad := "sigma"
			if c.sigma == 1 {
				bad = "delta"
			}
			if !(c.epsilon >= 0) || c.epsilon == inf {
				bad = "epsilon"
			}
			var refused *Error
			if bad != "delta" {
				if _, err := GaussianDelta(c.epsilon, c.sigma); !errors.As(err, &refused) || refused.Parameter != bad {
					t.Errorf("GaussianDelta(%g, %g): %v; want a refusal of %s", c.epsilon, c.sigma, err, bad)
				}
			}
			if bad != "epsilon" {
				if _, err := GaussianEpsilon(c.delta, c.sigma); !errors.As(err, &refused) || refused.Parameter != bad {
					t.Errorf("GaussianEpsilon(%g, %g): %v; want a refusal of %s", c.delta, c.sigma, err, bad)
				}
			}
			if bad != "sigma" {
				if _, err := ClassicalGaussian(c.epsilon, c.delta); !errors.As(err, &refused) || refused.Parameter != bad {
					t.Errorf("ClassicalGaussian(%g, %g): %v; want a refusal of %s", c.epsilon, c.delta, err, bad)
				}
			}
		})
	}
	if _, err := ClassicalGaussian(0, 0.5); err == nil {
		t.Error("the classical mechanism accepts epsilon 0")
	}
	if e, err := GaussianEpsilon(0.5, 1e-200); err == nil {
		t.Errorf("noise of 1e-200 has epsilon %g; want a refusal", e)
	}
}
