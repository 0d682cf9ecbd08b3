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
		})
	}
}

// Conversions there and back, over the range of use; and of Gaussian noise
// Eq. (19) never says less than the exact conversion.
func TestConversions(t *testing.T) {
	for _, epsilon := range []float64{1e-4, 0.03, 1, 30, 1000} {
		for _, delta := range []float64{0.5, 1e-2, 1e-6, 1e-15} {
			rho, err := ClassicZCDPFor(epsilon, delta)
			if err != nil {
				t.Fatal(err)
			}
			e, errE := rho.ClassicEpsilon(delta)
			d, errD := rho.ClassicDelta(epsilon)
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

// The conversions by Rényi differential privacy of all orders with 60 digits
// (mpmath 1.3: the stationary point by bisection of log x, 260 steps; the ρ with 45
// digits, by bisection of ε). Each row is ρ, ε and the least δ.
var zcdpDeltas = []struct{ rho, epsilon, delta float64 }{
	{1e-12, 1e-12, 8.577632784304402e-07}, {1e-12, 2.82842812474619e-06, 3.177695771490416e-08}, {1e-12,
		2.82842722474619e-05, 3.5954446527923934e-95},
	{1e-6, 1e-06, 0.0008571577472028291}, {1e-6, 0.00282942712474619, 3.176766274376732e-05}, {1e-6,
		0.0282852712474619, 3.5953179828530385e-92},
	{0.001, 0.001, 0.026530541537346807}, {0.001, 0.09044271909999159, 0.000995661942234484}, {0.001,
		0.8954271909999159, 1.1357130967051499e-90},
	{0.025, 0.025, 0.12187776079596059}, {0.025, 0.47221359549995795, 0.004802888167287279}, {0.025, 4.497135954999579,
		5.653401413980991e-90},
	{0.5, 0.0, 0.5588356393474346}, {0.5, 0.5, 0.3998898490217078}, {0.5, 1.0, 0.2468463307829445},
	{0.5, 2.5, 0.01866882417348926}, {0.5, 6.5, 8.528620879064495e-10}, {0.5, 20.5, 2.4807480258204977e-89},
	{0.5, 36.5, 3.805739631194161e-284}, {3, 3.0, 0.6449011678420613}, {3, 7.898979485566356, 0.03695556843057302},
	{3, 51.98979485566356, 5.872209104521867e-89}, {50, 45.0, 0.9946972435341763}, {50, 55.0, 0.6935843436065555},
	{50, 110.0, 5.259330587811643e-09}, {50, 410.0, 3.396630534718174e-283}, {2000, 2000.0, 0.9932410954082574},
	{2000, 2126.491106406735, 0.11732053064350956}, {2000, 3264.9110640673516, 6.695955568084466e-88}, {1e6, 1000000.0,
		0.9999578582332047},
	{1e6, 1000707.1067811865, 0.8796956859165607}, {1e6, 1002828.4271247461, 0.13389426089429662}, {1e6,
		1008485.2813742385, 1.4817827536756763e-08},
	{1e6, 1028284.2712474619, 1.2845792189231745e-87}, {1e6, 1050911.6882454315, 3.3527205294831178e-282},
}

// ρ, δ and the least ε.
var zcdpEpsilons = []struct{ rho, delta, epsilon float64 }{
	{1e-12, 1e-100, 2.9172710161859143e-05}, {1e-6, 1e-5, 0.00345666706127566}, {1e-6, 1e-100, 0.02964242769837355},
	{0.001, 1e-5, 0.1573353931612155}, {0.001, 1e-100, 0.945666398434263}, {0.025, 1e-5, 0.8966133351628289},
	{0.025, 1e-100, 4.765256656136197}, {0.5, 0.1, 1.6559786584207965}, {0.5, 1e-5, 4.728386984943314},
	{0.5, 1e-15, 8.424799161213807}, {0.5, 1e-100, 21.76861887963011}, {0.5, 1e-300, 37.54455896592212},
	{3, 0.9, 0.9878754267554196}, {3, 1e-5, 13.774455066669608}, {3, 1e-100, 55.19642271813275},
	{50, 0.9, 50.382442043392636}, {50, 1e-5, 96.03527067517315}, {50, 1e-100, 263.67932454604704},
	{2000, 0.9, 2023.0861132015298}, {2000, 1e-5, 2299.868167909322}, {2000, 1e-100, 3354.9937830109934},
	{1e6, 0.9, 1000640.1518207818}, {1e6, 1e-5, 1006779.4526362651}, {1e6, 1e-100, 1030343.3468684631},
}

// ε, δ and the largest ρ.
var zcdpRhos = []struct{ epsilon, delta, rho float64 }{
	{1e-4, 0.9, 2.092949286102098}, {1e-4, 0.1, 0.013668627398260868}, {1e-4, 1e-5, 3.4906073350584606e-09},
	{1e-4, 1e-15, 1.2136937057344896e-10}, {1e-4, 1e-300, 3.712727335822044e-12}, {0.05, 0.9, 2.1386631771131976},
	{0.05, 0.1, 0.02170158405862836}, {0.05, 1e-5, 0.00012105098126892685}, {0.05, 1e-15, 2.3509232120226223e-05},
	{0.05, 1e-300, 9.196724377695673e-07}, {1, 0.9, 3.011159932582853}, {1, 0.1, 0.2683129140135049},
	{1, 1e-5, 0.030556595197639567}, {1, 1e-15, 0.00835107472578728}, {1, 1e-300, 0.00036600255143892077},
	{10, 0.9, 11.404650278811312}, {10, 0.1, 4.954392759303053}, {10, 1e-5, 1.7826956163289516},
	{10, 1e-15, 0.6872575435475369}, {10, 1e-300, 0.036240335545412755}, {300, 0.9, 293.89113874018943},
	{300, 0.1, 254.95094816497544}, {300, 1e-5, 205.31689788780193}, {300, 1e-15, 155.42430836284373},
	{300, 1e-300, 27.066115895622897},
}

// above wants got at want or above it, rounded to float64, by a share of at most
// tolerance.
func above(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(got >= want && got <= want*(1+tolerance)) {
		t.Errorf("%s = %.17g, want %.17g or up to %g more", what, got, want, tolerance)
	}
}

func TestTightConversions(t *testing.T) {
	for _, c := range zcdpDeltas {
		t.Run(fmt.Sprintf("delta of rho %g at epsilon %g", c.rho, c.epsilon), func(t *testing.T) {
			got, err := ZCDP(c.rho).Delta(c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			above(t, "delta", got, c.delta, 1e-11+1e-15*c.epsilon)
		})
	}
	for _, c := range zcdpEpsilons {
		t.Run(fmt.Sprintf("epsilon of rho %g at delta %g", c.rho, c.delta), func(t *testing.T) {
			got, err := ZCDP(c.rho).Epsilon(c.delta)
			if err != nil {
				t.Fatal(err)
			}
			above(t, "epsilon", got, c.epsilon, 1e-12)
		})
	}
	for _, c := range zcdpRhos {
		t.Run(fmt.Sprintf("rho at epsilon %g and delta %g", c.epsilon, c.delta), func(t *testing.T) {
			got, err := ZCDPFor(c.epsilon, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			above(t, "1/rho", 1/float64(got), 1/c.rho, 1e-10)
		})
	}
}

// No (ε, δ) is negative, whatever is asked for, and none is NaN.
func TestTightConversionsAtTheEnds(t *testing.T) {
	extreme := []float64{0, 5e-324, 1e-300, 1e-17, 1, 700, 1e17, 1e300, math.MaxFloat64}
	for _, rho := range extreme {
		for _, epsilon := range extreme {
			delta, err := ZCDP(rho).Delta(epsilon)
			if err != nil || !(delta >= 0 && delta <= 1) || (delta == 0) != (rho == 0) {
				t.Errorf("rho %g has delta %g at epsilon %g, %v", rho, delta, epsilon, err)
			}
		}
		for _, delta := range []float64{5e-324, 1e-300, 1e-17, 0.5, 1 - 0x1p-53} {
			epsilon, err := ZCDP(rho).Epsilon(delta)
			if err != nil || !(epsilon >= 0) || rho == 0 && epsilon != 0 {
				t.Errorf("rho %g has epsilon %g at delta %g, %v", rho, epsilon, delta, err)
			}
		}
	}
	for _, epsilon := range extreme[1:] {
		for _, delta := range []float64{5e-324, 0.5, 1 - 0x1p-53} {
			rho, err := ZCDPFor(epsilon, delta)
			var refused *Error
			if errors.As(err, &refused) {
				continue
			}
			back, err := rho.Epsilon(delta)
			if err != nil || !(rho > 0 && back <= epsilon) {
				t.Errorf("(%g, %g) allows rho %g, which has epsilon %g, %v", epsilon, delta, rho, back, err)
			}
		}
	}
}

// The tight conversion lies between the classic one, which holds for every zCDP
// mechanism, and the exact one of Gaussian noise.
func TestTightConversionIsBetween(t *testing.T) {
	for _, epsilon := range []float64{1e-3, 0.1, 1, 10, 100} {
		for _, delta := range []float64{0.1, 1e-4, 1e-9, 1e-15} {
			classic, errC := ClassicZCDPFor(epsilon, delta)
			tight, errT := ZCDPFor(epsilon, delta)
			gauss, errG := GDPFor(epsilon, delta)
			if err := errors.Join(errC, errT, errG); err != nil {
				t.Fatal(err)
			}
			if !(classic < tight && tight < gauss.ZCDP()) {
				t.Errorf("(%g, %g): rho is %g by the classic conversion, %g tight, %g for a Gaussian", epsilon, delta,
					classic, tight, gauss.ZCDP())
			}
			d, errD := tight.Delta(epsilon)
			e, errE := tight.Epsilon(delta)
			if err := errors.Join(errD, errE); err != nil {
				t.Fatal(err)
			}
			near(t, "delta there and back", d, delta, 1e-9)
			near(t, "epsilon there and back", e, epsilon, 1e-10)
		}
	}
}

// classic has the conversions of Bun and Steinke.
type classic ZCDP

func (c classic) Epsilon(delta float64) (float64, error) { return ZCDP(c).ClassicEpsilon(delta) }
func (c classic) Delta(epsilon float64) (float64, error) { return ZCDP(c).ClassicDelta(epsilon) }

// More budget means more ε and more δ, in every account.
func TestConversionsAreMonotone(t *testing.T) {
	type account interface {
		Epsilon(delta float64) (float64, error)
		Delta(epsilon float64) (float64, error)
	}
	for _, of := range []func(float64) account{
		func(v float64) account { return ZCDP(v) },
		func(v float64) account { return classic(v) },
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

// k releases with noise σ reveal as much as one with noise σ/√k.
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
		"epsilon of rho NaN":      only(ZCDP(nan).Epsilon(0.1)),
		"epsilon of rho -1":       only(ZCDP(-1).Epsilon(0.1)),
		"delta of rho inf":        only(ZCDP(inf).Delta(1)),
		"delta 0":                 only(ZCDP(1).Epsilon(0)),
		"delta 1":                 only(ZCDP(1).Epsilon(1)),
		"delta at epsilon -1":     only(ZCDP(1).Delta(-1)),
		"delta at NaN":            only(ZCDP(1).Delta(nan)),
		"mu NaN":                  only(GDP(nan).Epsilon(0.1)),
		"mu inf":                  only(GDP(inf).Delta(1)),
		"mu 0, delta 0":           only(GDP(0).Epsilon(0)),
		"mu 0, epsilon -1":        only(GDP(0).Delta(-1)),
		"classic epsilon of -1":   only(ZCDP(-1).ClassicEpsilon(0.1)),
		"classic at delta 1":      only(ZCDP(1).ClassicEpsilon(1)),
		"classic delta of NaN":    only(ZCDP(nan).ClassicDelta(1)),
		"classic delta at -1":     only(ZCDP(1).ClassicDelta(-1)),
		"classic rho for 0":       only(ClassicZCDPFor(0, 0.1)),
		"classic rho for delta 1": only(ClassicZCDPFor(1, 1)),
		"CoinPress, epsilon 0":    only(CoinPressBudget(0, 0.1, 12, 0.75)),
		"CoinPress, no steps":     only(CoinPressBudget(1, 0.1, 0, 0.75)),
		"rho for epsilon 0":       only(ZCDPFor(0, 0.1)),
		"rho for epsilon inf":     only(ZCDPFor(inf, 0.1)),
		"rho for delta 0":         only(ZCDPFor(1, 0)),
		"mu for delta 1":          only(GDPFor(1, 1)),
		"rho of sigma 0":          only(GaussianZCDP(0)),
		"rho of sigma inf":        only(GaussianZCDP(inf)),
		"mu of sigma NaN":         only(GaussianGDP(nan)),
		"sum with rho -1":         only(ComposeZCDP(1, -1)),
		"sum with mu inf":         only(ComposeGDP(1, GDP(inf))),
		"sum with epsilon NaN":    only(Compose(Guarantee{nan, 0})),
		"sum with delta -1":       only(Compose(Guarantee{1, -1})),
		"sum of delta 1":          only(Compose(Guarantee{1, 0.5}, Guarantee{1, 0.5})),
	} {
		t.Run(what, func(t *testing.T) {
			var refused *Error
			if !errors.As(err, &refused) {
				t.Errorf("%v; want a refusal", err)
			}
		})
	}
}
