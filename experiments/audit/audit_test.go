package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/tests/tier"
)

// Fixed seeds: a run is the same every time. The confidence keeps the
// honest ones from failing when something that they draw changes.
var options = Options{Draws: DefaultDraws, Confidence: 0.999, Seed: 1}

func audit(t *testing.T, s Subject, o Options) *Assessment {
	t.Helper()
	r, err := Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// long skips tests that draw releases for seconds and minutes of processor time.
func long(t *testing.T) {
	t.Helper()
	tier.Night(t, "it draws releases for minutes")
}

// seeds is how many seeds a test of power takes: all of them by night,
// otherwise a fifth.
func seeds(all uint64) uint64 {
	return uint64(tier.Size(int(all/5), int(all)))
}

// No mechanism of the project is seen to spend more than it claims. The bound is near the
// claim where the mechanism is tight, so that the audit looks in the right place. Of slow
// mechanisms fewer releases are drawn than by run audit.
func TestHonestMechanisms(t *testing.T) {
	// Mechanisms alone; the others compute a release for each draw.
	short := []string{"analytic", "laplace", "entry-noise", "exponential"}
	atLeast := map[string]float64{
		"analytic": 2.5, "laplace": 0.8, "entry-noise": 0.9, "exponential": 0.7, "coinpress": 0.6, "selection": 0.5,
		"cloaking-regression": 0.7, "cloaking-classification": 0.5, "cloaking-selection": 0.4, "sparse-gp-classes": 0.7,
		"kahm": 0.9, "kahm-release": 0.8, "sparse-gp-choice": 0.3, "statistics": 1.2, "statistics-person": 1,
	}
	// Of Gaussian noise, the part of the claimed μ that is found.
	mu := map[string]float64{"analytic": 0.95, "cloaking-regression": 0.9, "cloaking-classification": 0.85,
		"sparse-gp": 0.85, "sparse-gp-classes": 0.9}
	draws := map[string]int{
		"hall": 100_000, "classical": 100_000, "analytic": 100_000, "laplace": 100_000, "exponential": 100_000,
		"cloaking": 60_000, "cloaking-regression": 100_000, "cloaking-classification": 30_000, "cloaking-newton": 5000,
		"cloaking-person": 30_000, "cloaking-class-person": 12_000,
		"cloaking-selection": 60_000, "sparse-gp": 30_000,
		"kahm-release": 60_000, "sparse-gp-inputs": 8000, "sparse-gp-classifier": 8000, "sparse-gp-choice": 8000,
		"sparse-gp-person": 8000, "sparse-gp-class-person": 8000,
		"statistics": 30_000, "statistics-person": 20_000,
	}
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			if !slices.Contains(short, e.Name) {
				long(t)
			}
			s, err := e.New(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			o := options
			if n := draws[e.Name]; n > 0 {
				o.Draws = n
			}
			r := audit(t, s, o)
			t.Logf("claim %v, found epsilon >= %.3f; %+v", s.Claim, r.EpsilonAtLeast, r.Event)
			if r.Violation {
				t.Errorf("a violation: %+v", r)
			}
			if !(r.EpsilonAtLeast >= atLeast[e.Name]) {
				t.Errorf("only epsilon >= %.3f was found, expected at least %g", r.EpsilonAtLeast, atLeast[e.Name])
			}
			if least := mu[e.Name]; least > 0 && !(r.Gaussian.MuAtLeast >= least/s.Sigma) {
				t.Errorf("only mu >= %.3f was found, expected %g of %.3f", r.Gaussian.MuAtLeast, least, 1/s.Sigma)
			}
			if r.ExactDelta != nil && !(*r.ExactDelta <= s.Claim.Delta*(1+1e-9)) {
				t.Errorf("the exact delta is %g", *r.ExactDelta)
			}
		})
	}
}

// neverStops makes all draws that the budget allows, without a coin.
func neverStops(b mechanism.SelectionBudget, candidates int, rule mechanism.SelectionRule,
	evaluate mechanism.Evaluator[struct{}], rng *rand.Rand) (mechanism.Selected[struct{}], error) {
	b.Gamma = math.SmallestNonzeroFloat64
	return mechanism.Select(b, candidates, rule, evaluate, rng)
}

// brokenMechanisms spend more than they claim. The exact δ, which follows from stated noise,
// is left out.
func brokenMechanisms(t *testing.T) map[string]Subject {
	t.Helper()
	claim := mechanism.Guarantee{Epsilon: 1, Delta: 0.01}
	must := func(s Subject, err error) Subject {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		s.Sigma = 0
		return s
	}
	sigma := func(of func(epsilon, delta float64) (float64, error)) float64 {
		t.Helper()
		v, err := of(claim.Epsilon, claim.Delta)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	entry := mechanism.EntryNoise{Epsilon: 1, Delta: 0.01, D: 1}
	half, often := entry, entry
	half.D, often.Delta = 0.5, 0.05
	return map[string]Subject{
		"hall with half the noise":                must(gaussian(claim, sigma(mechanism.HallFactor)/2)),
		"analytic with 85 % of the noise":         must(gaussian(claim, 0.85*sigma(mechanism.AnalyticGaussian))),
		"analytic with the variance as deviation": must(gaussian(claim, math.Sqrt(sigma(mechanism.AnalyticGaussian)))),
		"laplace with twice epsilon":              must(laplace(mechanism.Guarantee{Epsilon: 1}, 2)),
		"entry noise for half the change":         must(entryNoise(claim, half), nil),
		"entry noise with an atom of 5 %":         must(entryNoise(claim, often), nil),
		"exponential with twice epsilon": must(exponential(mechanism.Guarantee{Epsilon: 1},
			release.Choice{Epsilon: 2, Change: 1}), nil),
		"exponential with half the sensitivity": must(exponential(mechanism.Guarantee{Epsilon: 1},
			release.Choice{Epsilon: 1, Change: 0.5}), nil),
		"coinpress with twice epsilon": must(coinPress(claim, mechanism.Guarantee{Epsilon: 2, Delta: 0.01})),
		"selection without a coin":     must(withoutCoin()),
		"selection that releases the raw score": must(selection(mechanism.Guarantee{Epsilon: 1, Delta: 1e-4},
			mechanism.Select[struct{}], 0)),
		"selection whose candidates spend everything": must(spendsEverything()),
		"samples with noise for twice epsilon": must(kahmSamples(t.Context(), claim,
			mechanism.Guarantee{Epsilon: 2, Delta: 0.01})),
		"classes, calibrated to twice epsilon": must(twiceClasses(t.Context())),
	}
}

// A broken mechanism is found by its outputs alone.
func TestBrokenMechanisms(t *testing.T) {
	long(t)
	for name, s := range brokenMechanisms(t) {
		t.Run(name, func(t *testing.T) {
			s.Name = name
			r := audit(t, s, Options{Draws: 200_000, Confidence: 0.999, Seed: 1})
			t.Logf("claim %v, found epsilon >= %.3f; %+v", s.Claim, r.EpsilonAtLeast, r.Event)
			if !r.Found(BlackBox) {
				t.Errorf("the draws show nothing: %+v", r)
			}
		})
	}
}

// Statistics with noise for twice the ε that they claim are found.
func TestBrokenStatistics(t *testing.T) {
	long(t)
	s, err := columnStatistics(t.Context(), 6)
	if err != nil {
		t.Fatal(err)
	}
	s.Name, s.Claim.Epsilon = "statistics with twice epsilon", 3
	r := audit(t, s, Options{Draws: 30_000, Confidence: 0.999, Seed: 1})
	if t.Logf("found epsilon >= %.3f; %+v", r.EpsilonAtLeast, r.Event); !r.Found(BlackBox) {
		t.Errorf("the draws show nothing: %+v", r)
	}
}

// spendsEverything gives each evaluation the budget of the whole selection.
func spendsEverything() (Subject, error) {
	s, err := selection(mechanism.Guarantee{Epsilon: 3, Delta: 1e-4}, mechanism.Select[struct{}], 1)
	s.Claim.Epsilon = 1
	return s, err
}

// withoutCoin is tried on the rare outcome alone, which is made for it: 235 draws
// each time are slow.
func withoutCoin() (Subject, error) {
	s, err := selection(mechanism.Guarantee{Epsilon: 1, Delta: 1e-4}, neverStops, 1)
	if err == nil {
		s.Pairs = s.Pairs[1:2]
	}
	return s, err
}

// twiceClasses claims half of the ε that the noise is calibrated to.
func twiceClasses(ctx context.Context) (Subject, error) {
	s, err := sparseClasses(ctx, mechanism.Guarantee{Epsilon: 2, Delta: 0.01})
	s.Claim.Epsilon = 1
	return s, err
}

// Where the law is Gaussian, the bound on a million draws has to come near ε
// itself, and never above: the mechanism is exactly as private as it claims.
func TestBoundComesNearTheTruth(t *testing.T) {
	claim := mechanism.Guarantee{Epsilon: 1, Delta: 0.1}
	s := Subject{Name: "near", Claim: claim, Law: Gaussian}
	sigma, err := mechanism.AnalyticGaussian(claim.Epsilon, claim.Delta)
	if err != nil {
		t.Fatal(err)
	}
	s.Pairs = []Pair{scalar("0 and 1", func(second bool, rng *rand.Rand) (float64, error) {
		return indicator(second) + sigma*rng.NormFloat64(), nil
	})}
	for seed := range uint64(3) {
		r := audit(t, s, Options{Draws: 1_000_000, Confidence: 0.999, Seed: seed})
		if !(r.EpsilonAtLeast > 0.93 && r.EpsilonAtLeast <= 1) {
			t.Errorf("seed %d: epsilon >= %g was found of exactly 1", seed, r.EpsilonAtLeast)
		}
	}
}

// The confidence is kept: of many audits of a law whose ε is the claim exactly,
// no larger share reports a violation than it leaves.
func TestConfidenceIsKept(t *testing.T) {
	// Randomised response, likelier by e under the second data set.
	p := 1 / (1 + math.E)
	s := Subject{Name: "response", Claim: mechanism.Guarantee{Epsilon: 1}, Pairs: []Pair{scalar("0 and 1",
		func(second bool, rng *rand.Rand) (float64, error) {
			return indicator(rng.Float64() < p != second), nil
		})}}
	const audits, confidence = 400, 0.8
	wrong := 0
	for seed := range uint64(audits) {
		if audit(t, s, Options{Draws: 1000, Confidence: confidence, Seed: seed}).Violation {
			wrong++
		}
	}
	// 20 % would be 80; the two bounds together leave much less.
	if wrong > audits/5 || wrong == 0 {
		t.Errorf("%d of %d audits at confidence %g are wrong", wrong, audits, confidence)
	}
}

// Clopper and Pearson's bounds, as quantiles of beta laws: at 0.025 of (k, n-k+1)
// and at 0.975 of (k+1, n-k); a bisection with 30 digits (mpmath 1.3, betainc).
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{
		{0, 20, 0.0, 0.168433470983085},
		{1, 20, 0.0012650894979498, 0.248732762772028},
		{10, 20, 0.271957849560792, 0.728042150439208},
		{20, 20, 0.831566529016915, 1.0},
		{3, 50, 0.0125485878353341, 0.165481946603773},
		{40, 1000, 0.0287276252858908, 0.0540726968193685},
		{999, 1000, 0.994441075720173, 0.999974682512509},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.hits, c.n), func(t *testing.T) {
			low, high := atLeast(c.hits, c.n, 0.025), atMost(c.hits, c.n, 0.025)
			if math.Abs(low-c.low) > 1e-9*c.low || math.Abs(high-c.high) > 1e-9*c.high {
				t.Errorf("%d of %d: [%.15g, %.15g], want [%.15g, %.15g]", c.hits, c.n, low, high, c.low, c.high)
			}
		})
	}
}

func TestEpsilonAtLeast(t *testing.T) {
	// Everything against nothing, at 95 %: the bounds are 0.025^(1/n) and its rest.
	p := math.Pow(0.025, 1.0/1000)
	if got, want := EpsilonAtLeast(1000, 0, 1000, 0.01, 0.95), math.Log((p-0.01)/(1-p)); math.Abs(got-want) > 1e-9 {
		t.Errorf("all against none gives %g, want %g", got, want)
	}
	for _, c := range [][2]int{{0, 0}, {0, 1000}, {500, 500}, {10, 0}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := EpsilonAtLeast(c[0], c[1], 1000, 0.5, 0.95); got != 0 {
				t.Errorf("%d against %d at delta 0.5 give %g, want 0", c[0], c[1], got)
			}
		})
	}
	// More confidence, more δ: less is said.
	a, b := EpsilonAtLeast(500, 100, 1000, 0, 0.9), EpsilonAtLeast(500, 100, 1000, 0, 0.99)
	if c := EpsilonAtLeast(500, 100, 1000, 0.1, 0.99); !(a > b && b > c && c > 0) {
		t.Errorf("bounds %g, %g and %g do not fall", a, b, c)
	}
}

// Equal seeds give equal results on any number of cores, other seeds others.
func TestAuditIsDeterministic(t *testing.T) {
	s, err := All()[0].New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Draws: 5500, Confidence: 0.99, Seed: 3}
	one := audit(t, s, o)
	cores := runtime.GOMAXPROCS(1)
	a, errA := sample(t.Context(), s, 0, o)
	runtime.GOMAXPROCS(4)
	b, errB := sample(t.Context(), s, 0, o)
	runtime.GOMAXPROCS(cores)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for side := range 2 {
		if !slices.Equal(a.values[0][side], b.values[0][side]) || !slices.Equal(a.noise[side], b.noise[side]) {
			t.Error("one core and four draw different numbers")
		}
	}
	if two := audit(t, s, o); one.Event != two.Event || one.EpsilonAtLeast != two.EpsilonAtLeast {
		t.Errorf("equal seeds give %+v and %+v", one, two)
	}
	o.Seed++
	if other := audit(t, s, o); other.Event == one.Event {
		t.Errorf("another seed gives the same %+v", other)
	}
}

// Atoms are cells of their own, numbers between them in the cells of the line,
// and every number has one.
func TestCells(t *testing.T) {
	var sample []float64
	for i := range 1000 {
		sample = append(sample, float64(i)/1000+0.0001, 0.5)
	}
	c := newCells(sample)
	if len(c.atoms) != 1 || c.atoms[0] != 0.5 || len(c.edges) < 128 {
		t.Fatalf("%d atoms and %d edges", len(c.atoms), len(c.edges))
	}
	last := 0
	for _, v := range []float64{math.Inf(-1), -1, 0.2, 0.4999, 0.5001, 0.9, 7, math.Inf(1)} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			cell := c.of(v)
			if cell <= last-1 || cell >= c.count() || v < c.low(cell) {
				t.Errorf("%g is in cell %d after %d", v, cell, last)
			}
			last = cell
		})
	}
	if c.of(0.5) != 0 {
		t.Error("the atom is not the first cell")
	}
}

// Noise that is just too little for its claim is a violation, although no draws show it.
func TestExactDelta(t *testing.T) {
	claim := mechanism.Guarantee{Epsilon: 1, Delta: 1e-4}
	for sigma, violates := range map[float64]bool{3.1857029899606701: false, 3.18: true} {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			s, err := gaussian(claim, sigma)
			if err != nil {
				t.Fatal(err)
			}
			s.Name = "just enough"
			if r := audit(t, s, Options{Draws: 1000, Confidence: 0.99}); r.Violation != violates ||
				r.Found(Exact) != violates || r.EpsilonAtLeast > 1 || violates != (*r.ExactDelta > 1e-4*(1+1e-9)) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	good, err := gaussian(mechanism.Guarantee{Epsilon: 1, Delta: 0.1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"99 draws are too few":  {Draws: 99, Confidence: 0.9},
		"-1 draws are too few":  {Draws: -1, Confidence: 0.9},
		"too many":              {Draws: maxDraws + 1, Confidence: 0.9},
		"confidence of 0 is":    {Draws: 100},
		"confidence of 1 is":    {Draws: 100, Confidence: 1},
		"confidence of NaN is ": {Draws: 100, Confidence: math.NaN()},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := Run(t.Context(), good, o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v; want an error with %q", o, err, want)
			}
		})
	}
	o := Options{Draws: 2500, Confidence: 0.9}
	if _, err := Run(t.Context(), Subject{Name: "empty"}, o); err == nil {
		t.Error("nothing to draw from is accepted")
	}
	broken := errors.New("broken")
	fails := Subject{Name: "fails", Pairs: []Pair{scalar("a and b", func(bool, *rand.Rand) (float64, error) {
		return 0, broken
	})}}
	if _, err := Run(t.Context(), fails, o); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "audit of fails, a and b") {
		t.Errorf("a failing mechanism: %v", err)
	}
	fails.Pairs[0] = scalar("a and b", func(bool, *rand.Rand) (float64, error) { return math.NaN(), nil })
	if _, err := Run(t.Context(), fails, o); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("an output of NaN: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	var drawn atomic.Int64
	o = Options{Draws: 100_000, Confidence: 0.9, Drawn: func(n int) {
		drawn.Add(int64(n))
		cancel()
	}}
	if _, err := Run(cancelled, good, o); !errors.Is(err, context.Canceled) || drawn.Load() >= 100_000 {
		t.Errorf("cancelled after %d draws: %v", drawn.Load(), err)
	}
}
