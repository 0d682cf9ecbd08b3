package mechanism

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// Roots of Balle and Wang's Theorem 8, from a bisection with 60 digits
// (mpmath 1.3, erfc), rounded to 17 digits.
var analyticReference = []struct{ epsilon, delta, sigma float64 }{
	{1e-4, 0.9, 0.30397393639573629},
	{1e-4, 0.5, 0.74125788102747034},
	{1e-4, 0.01, 39.696987455875267},
	{1e-4, 1e-4, 2760.3972361232944},
	{1e-4, 1e-10, 41225.357419057642},
	{1e-4, 1e-15, 61463.604299027266},
	{1e-3, 0.9, 0.30393363089464775},
	{0.1, 0.9, 0.29961238122606453},
	{0.5, 0.9, 0.28412015528947714},
	{1, 0.9, 0.26817245989265037},
	{3, 0.9, 0.22553850361280357},
	{10, 0.9, 0.16218610785406474},
	{100, 0.9, 0.064288755145790543},
	{1000, 0.9, 0.021718390037342625},
	{1000, 0.5, 0.022349509669530742},
	{1000, 0.01, 0.023542036270761089},
	{1000, 1e-4, 0.024284789549724815},
	{1000, 1e-10, 0.025752834505378035},
	{1000, 1e-15, 0.02666695712793103},
	{0.001, 0.5, 0.74086918519562636},
	{0.001, 0.01, 38.039005484469237},
	{0.001, 1e-4, 937.53909602039217},
	{0.001, 1e-10, 4584.2182271742571},
	{0.001, 1e-15, 6486.4906383204432},
	{0.1, 0.5, 0.70167458062070282},
	{0.1, 0.01, 9.5418230888288551},
	{0.1, 1e-4, 24.508105599145264},
	{0.1, 1e-10, 54.206295836901269},
	{0.1, 1e-15, 71.300595076365015},
	{0.5, 0.5, 0.59091759925878091},
	{0.5, 0.01, 3.1469130986066803},
	{0.5, 1e-4, 5.8937877906624936},
	{0.5, 1e-10, 11.436239995092029},
	{0.5, 1e-15, 14.733143032999685},
	{1, 0.5, 0.50706503147633136},
	{1, 0.01, 1.877875560907386},
	{1, 1e-4, 3.1857029899606701},
	{1, 1e-10, 5.8677777496305264},
	{1, 1e-15, 7.4870094679865955},
	{3, 0.5, 0.35499420929612442},
	{3, 0.01, 0.82599213806560771},
	{3, 1e-4, 1.2231572615610201},
	{3, 1e-10, 2.0622531789074064},
	{3, 1e-15, 2.5824563458774431},
	{10, 0.5, 0.21333239257353},
	{10, 0.01, 0.35009668624823209},
	{10, 1e-4, 0.45526513054676528},
	{10, 1e-10, 0.68304396722748118},
	{10, 1e-15, 0.8289598747219692},
	{100, 0.5, 0.070360321490837157},
	{100, 0.01, 0.082854058758514712},
	{100, 1e-4, 0.091219007162087689},
	{100, 1e-10, 0.10876042602012664},
	{100, 1e-15, 0.12017617914823962},
}

func TestAnalyticGaussianAgainstHighPrecision(t *testing.T) {
	for _, c := range analyticReference {
		got, err := AnalyticGaussian(c.epsilon, c.delta)
		if err != nil {
			t.Fatalf("AnalyticGaussian(%g, %g): %v", c.epsilon, c.delta, err)
		}
		// Measured: 1.6e-12 at (1e-4, 1e-10), below 1e-12 elsewhere.
		if e := math.Abs(got/c.sigma - 1); !(e < 5e-12) {
			t.Errorf("AnalyticGaussian(%g, %g) = %.17g, want %.17g (relative error %.1e)", c.epsilon, c.delta, got, c.sigma, e)
		}
	}
}

// By the computed δ the result is on the safe side, and a smaller number is not.
func TestAnalyticGaussianIsTight(t *testing.T) {
	for _, c := range analyticReference {
		sigma, err := AnalyticGaussian(c.epsilon, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		at, below := math.Exp(logDelta(c.epsilon, sigma)), math.Exp(logDelta(c.epsilon, sigma*(1-1e-9)))
		if at > c.delta*(1+1e-12) || below <= c.delta {
			t.Errorf("(%g, %g): delta is %.17g at the answer and %.17g just below", c.epsilon, c.delta, at, below)
		}
	}
}

// Roots as above, with 60 digits, at the ends of the range of SafeFactor and where
// AnalyticGaussian was found to be furthest off: the fifth and the eighth are too
// small by more than 1e-12.
var safeReference = []struct{ epsilon, delta, sigma float64 }{
	{1e-08, 1e-295, 3603241379.5278210615},
	{1e-08, 1e-10, 172409436.33293212633},
	{1e-08, 0.999, 0.1519513562983736576},
	{1e-06, 1e-06, 276029.9039992015081},
	{2.814847190307384e-05, 2.1138131084799274e-238, 1151643.3088330924249},
	{0.0001, 1e-10, 41225.357419057640117},
	{0.0001, 0.9, 0.30397393639573626576},
	{0.00010164978910798386, 8.024505625286816e-14, 53634.554682866355177},
	{0.001, 1e-15, 6486.4906383204430839},
	{0.01, 1e-300, 3672.7201034055684521},
	{0.31622776601683794, 3.1622776601683795e-10, 17.198790609870105055},
	{0.5, 1e-05, 7.0318266755824914044},
	{1, 1e-15, 7.4870094679865954536},
	{1, 1e-05, 3.7306316348159418139},
	{1, 0.01, 1.8778755609073860187},
	{1, 0.9, 0.26817245989265035314},
	{3, 1e-09, 1.9437242635119693061},
	{10, 1e-06, 0.54108683181836598221},
	{100, 0.3, 0.073011264845728060256},
	{1000, 1e-15, 0.026666957127931029635},
	{1000, 0.9, 0.021718390037342625392},
	{1000000.0, 1e-300, 0.00072587254398209585956},
	{1000000.0, 0.999, 0.00070556300077201581843},
}

func TestSafeFactor(t *testing.T) {
	for _, c := range safeReference {
		t.Run(fmt.Sprintf("epsilon %g, delta %g", c.epsilon, c.delta), func(t *testing.T) {
			got, err := SafeFactor(Analytic, c.epsilon, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := AnalyticGaussian(c.epsilon, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			share := 0x1p-35 * max(1, 1e-4/c.epsilon)
			if e := math.Abs(plain/c.sigma - 1); !(8*e < share) {
				t.Errorf("the calibration is off by %.2g, more than an eighth of the share %.2g that is added", e,
					share)
			}
			if !(got > c.sigma && got < c.sigma*(1+1.2*share)) {
				t.Errorf("the factor is %.17g, want %.17g and a share of %.2g more", got, c.sigma, share)
			}
		})
	}
	for _, c := range []struct {
		calibration    Calibration
		epsilon, delta float64
		parameter      string
	}{
		{Analytic, 0.9e-8, 0.1, "epsilon"}, {Analytic, 1.1e6, 0.1, "epsilon"}, {Analytic, math.NaN(), 0.1, "epsilon"},
		{Analytic, 1, 0.9e-300, "delta"}, {Analytic, 1, 0.9991, "delta"}, {Hall, 1.1, 0.1, "epsilon"}, {Hall, 1e-9,
			0.1, "epsilon"},
	} {
		t.Run(fmt.Sprintf("%s refuses (%g, %g)", c.calibration, c.epsilon, c.delta), func(t *testing.T) {
			var refused *Error
			if _, err := SafeFactor(c.calibration, c.epsilon, c.delta); !errors.As(err, &refused) ||
				refused.Parameter != c.parameter {
				t.Errorf("%v; want a refusal of %s", err, c.parameter)
			}
		})
	}
	hall, err := SafeFactor(Hall, 0.5, 0.01)
	if want := math.Sqrt(2*math.Log(200)) / 0.5; err != nil || !(hall > want && hall < want*(1+1e-10)) {
		t.Errorf("of Hall's calibration it is %.17g, %v; want a little more than %.17g", hall, err, want)
	}
}

// At ε → 0 the mechanism's δ is the total variation 2Φ(1/(2σ)) − 1.
func TestDeltaNearZeroEpsilon(t *testing.T) {
	for _, sigma := range []float64{0.3, 1, 10, 1e4, 1e8} {
		got, want := math.Exp(logDelta(1e-200, sigma)), math.Erf(1/(2*math.Sqrt2*sigma))
		if !(math.Abs(got/want-1) <= 1e-12) {
			t.Errorf("delta at sigma %g is %g, want %g", sigma, got, want)
		}
	}
}

func TestDeltaFallsWithSigma(t *testing.T) {
	// Across all branches of the evaluation: direct tail, difference of Mills'
	// ratios, integral.
	for _, epsilon := range []float64{1e-6, 0.01, 1, 30} {
		last := math.Inf(1)
		for e := -3.0; e < 4; e += 0.01 {
			d := math.Exp(logDelta(epsilon, math.Pow(10, e)))
			if !(d <= last) || d < 0 || d > 1 {
				t.Fatalf("epsilon %g, sigma 1e%.2f: delta %g after %g", epsilon, e, d, last)
			}
			last = d
		}
	}
}

func TestHallFactor(t *testing.T) {
	got, err := HallFactor(1, 0.01)
	if want := 3.2552472614; err != nil || math.Abs(got-want) > 1e-9 { // √(2 log 200)
		t.Errorf("HallFactor(1, 0.01) = %.10f, %v; want %.10f", got, err, want)
	}
	if half, _ := HallFactor(0.5, 0.01); half != 2*got {
		t.Errorf("half the epsilon must double the factor: %g and %g", half, got)
	}
	_, err = HallFactor(1.0000001, 0.01)
	var refused *Error
	if !errors.As(err, &refused) || refused.Parameter != "epsilon" ||
		!strings.Contains(err.Error(), "calibration=analytic") {
		t.Errorf("epsilon above 1: %v; want a refusal that names the alternative", err)
	}
}

// Where Hall's formula is proved, it is more noise than is needed; where it is
// refused, it can be less.
func TestHallAgainstAnalytic(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.1, 1} {
		for _, delta := range []float64{0.1, 0.01, 1e-10} {
			h, _ := HallFactor(epsilon, delta)
			a, _ := AnalyticGaussian(epsilon, delta)
			if !(a < h) {
				t.Errorf("(%g, %g): analytic %g is not below Hall's %g", epsilon, delta, a, h)
			}
		}
	}
	a, _ := AnalyticGaussian(10, 0.01)
	if h := math.Sqrt(2*math.Log(200)) / 10; !(h < a) {
		t.Errorf("at (10, 0.01) Hall's formula gives %g, expected below the necessary %g", h, a)
	}
}

func TestBadParameters(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		epsilon, delta float64
		parameter      string
	}{
		{0, 0.1, "epsilon"}, {-1, 0.1, "epsilon"}, {nan, 0.1, "epsilon"}, {inf, 0.1, "epsilon"},
		{1, 0, "delta"}, {1, 1, "delta"}, {1, -0.1, "delta"}, {1, 2, "delta"}, {1, nan, "delta"},
	} {
		t.Run(fmt.Sprintf("epsilon %g, delta %g", c.epsilon, c.delta), func(t *testing.T) {
			for _, calibration := range []Calibration{Hall, Analytic} {
				_, err := calibration.Factor(c.epsilon, c.delta)
				var refused *Error
				if !errors.As(err, &refused) || refused.Parameter != c.parameter {
					t.Errorf("%s(%g, %g): %v; want a refusal of %s", calibration, c.epsilon, c.delta, err, c.parameter)
				}
			}
		})
	}
}
