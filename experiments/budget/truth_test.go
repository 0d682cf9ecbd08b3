package budget

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"privkern/experiments/mechanism"
	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
	"privkern/tests/tier"
)

// grid is the spacing of privacy losses in the tests below. Those of choices lie on it, those of
// Laplace noise are rounded down, so that δ is never too large.
const grid = 1.0 / 64

// losses are the probabilities of privacy losses: that of grid·(i+low) is at i.
type losses struct {
	low int
	p   []float64
}

// add returns the losses of two independent mechanisms together.
func (a losses) add(b losses) losses {
	out := losses{a.low + b.low, make([]float64, len(a.p)+len(b.p)-1)}
	for i, p := range a.p {
		for j, q := range b.p {
			out.p[i+j] += p * q
		}
	}
	return out
}

// laplaceLosses are those of one coordinate of Laplace noise; ε = grid·k.
func laplaceLosses(k int) losses {
	out := losses{-k, make([]float64, 2*k+1)}
	tail := func(i int) float64 { // the probability of at least grid·i
		if i > k {
			return 0
		}
		return 1 - math.Exp(-float64(k-i)*grid/2)/2
	}
	for i := -k; i <= k; i++ {
		out.p[i+k] = tail(i) - tail(i+1)
	}
	out.p[0] = 1 - tail(-k+1)
	return out
}

// choiceLosses are those of a choice between two candidates by the exponential mechanism: grid·t or
// grid·(t−k), with ε = grid·k.
func choiceLosses(t, k int) losses {
	out := losses{t - k, make([]float64, k+1)}
	e := float64(k) * grid
	out.p[k] = -math.Expm1(float64(t)*grid-e) / -math.Expm1(-e)
	out.p[0] = 1 - out.p[k]
	return out
}

// delta returns the δ at ε of these losses together with Gaussian noise of a μ.
func (a losses) delta(epsilon, mu float64) float64 {
	upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	sum := 0.0
	for i, p := range a.p {
		y := epsilon - grid*float64(i+a.low)
		if mu == 0 {
			sum += p * max(0, -math.Expm1(y))
			continue
		}
		b := upper(mu/2 + y/mu)
		if b > 0 {
			b *= math.Exp(y)
		}
		sum += p * max(0, upper(y/mu-mu/2)-b)
	}
	return sum
}

// account is a random account with the privacy losses of its releases, on both of two neighbouring data.
type account struct {
	*Account
	mu2    float64
	losses [2]losses
}

// release asks for a random release.
func (a *account) release(t *testing.T, rng *rand.Rand) (admitted bool) {
	t.Helper()
	var s experiment.Spending
	var mu float64
	var drawn [2]losses
	k := 1 + rng.IntN(int(64*min(4, a.Limit.Epsilon)/float64(1+rng.IntN(20)))+1)
	epsilon := grid * float64(k)
	switch kind := rng.IntN(3); kind {
	case 0:
		m, err := mechanism.GDPFor(a.Limit.Epsilon, a.Limit.Delta)
		if err != nil {
			t.Fatal(err)
		}
		parts := 1 + rng.IntN(12)
		mu = float64(m) / math.Sqrt(float64(parts))
		s.Epsilon, s.Delta = a.Limit.Epsilon, a.Limit.Delta
		if parts > 1 {
			s.Delta = math.Pow(10, -4-4*rng.Float64())
			if s.Epsilon, err = mechanism.GDP(mu).Epsilon(s.Delta); err != nil {
				t.Fatal(err)
			}
		}
		s.Losses = []experiment.Loss{{Law: "gaussian", Size: mu, Times: 1}}
	case 1:
		times := 1 + rng.IntN(3)
		s.Epsilon = epsilon * float64(times)
		s.Losses = []experiment.Loss{{Law: "laplace", Size: epsilon, Times: times}}
		one := laplaceLosses(k)
		drawn[0] = one
		for range times - 1 {
			drawn[0] = drawn[0].add(one)
		}
		drawn[1] = drawn[0]
	default:
		s.Epsilon = epsilon
		s.Losses = []experiment.Loss{{Law: "exponential mechanism", Size: epsilon, Times: 1}}
		at := rng.IntN(k + 1)
		drawn = [2]losses{choiceLosses(at, k), choiceLosses(k-at, k)}
	}
	e, err := a.entry(s)
	if err != nil {
		t.Fatal(err)
	}
	if a.admit(e) != nil {
		return false
	}
	a.mu2 += mu * mu
	for i, d := range drawn {
		if d.p != nil {
			a.losses[i] = a.losses[i].add(d)
		}
	}
	return true
}

// The releases that an account admits are together within its limit, and within the ε that it shows as
// spent, at its δ: by composition of privacy losses on a grid, and of Gaussian noise exactly.
func TestTruth(t *testing.T) {
	tier.Sequential(t)
	accounts, rng := tier.Random(t, 40, 300)
	filters, tight := map[string]int{}, 0.0
	for trial := range accounts {
		limit := Limit{[]float64{0.5, 1, 3, 10}[rng.IntN(4)], AutoDelta(1 << rng.IntN(21))}
		a := &account{Account: &Account{source: new(Source), Limit: limit}}
		a.losses = [2]losses{{0, []float64{1}}, {0, []float64{1}}}
		for refused := 0; refused < 6 && len(a.Entries) < 40; {
			if !a.release(t, rng) {
				refused++
			}
		}
		if len(a.Entries) == 0 {
			continue
		}
		spent, name := a.spent(a.Entries)
		filters[name]++
		for i, l := range a.losses {
			for _, epsilon := range []float64{limit.Epsilon, spent.Epsilon} {
				delta := l.delta(epsilon, math.Sqrt(a.mu2))
				if delta > limit.Delta*(1+1e-9) {
					t.Errorf("trial %d, data %d: the limit is %v, and %d releases are (%g, %g): %+v", trial, i, limit,
						len(a.Entries), epsilon, delta, a.Entries)
				}
				if len(a.Entries) > 1 {
					tight = max(tight, delta/limit.Delta)
				}
			}
		}
	}
	for _, name := range []string{pureFilter, gaussianFilter} { // the others are rare
		if filters[name] == 0 {
			t.Errorf("no account is within its limit by the filter %q: %v", name, filters)
		}
	}
	if tight < 0.3 {
		t.Errorf("the largest delta of an account is %g of its limit: nothing is tested", tight)
	}
	t.Logf("filters %v; the largest delta is %.3f of the limit", filters, tight)
}

// policy chooses releases after the outputs of those before it: each that is (ε, δ₀)-private reveals
// all with δ₀, and else answers at random with ε.
type policy struct {
	*rand.Rand
	limit Limit
	depth int
}

// delta returns P(E) − e^ε P'(E) of the set E of transcripts, from this one on, that makes it largest. p and q are
// the probabilities of the transcript so far on both data.
func (s *policy) delta(t *testing.T, a *Account, p, q float64) float64 {
	t.Helper()
	var chosen *Entry
	for range 4 {
		// Sizes that fill a filter in a few steps.
		e := Entry{Epsilon: s.limit.Epsilon / float64(1+s.IntN(6))}
		if s.IntN(2) == 0 {
			e.Delta = s.limit.Delta / float64(20+s.IntN(60))
		}
		var err error
		if e.Booked, err = loss.Stated(e.Epsilon, e.Delta); err != nil {
			t.Fatal(err)
		}
		if a.admit(e) == nil {
			chosen = &e
			break
		}
	}
	if chosen == nil || len(a.Entries) > s.depth {
		return max(0, p-math.Exp(s.limit.Epsilon)*q)
	}
	right, out := 1/(1+math.Exp(-chosen.Epsilon)), chosen.Delta*p
	for _, r := range [][2]float64{{right, 1 - right}, {1 - right, right}} {
		next := &Account{source: new(Source), Limit: a.Limit, Entries: slices.Clone(a.Entries)}
		out += s.delta(t, next, p*(1-chosen.Delta)*r[0], q*(1-chosen.Delta)*r[1])
	}
	return out
}

// Releases that are chosen after looking at outputs are together within the limit.
func TestTruthOfChosenReleases(t *testing.T) {
	tier.Sequential(t)
	tight := 0.0
	for trial := range 60 {
		s := &policy{rand.New(rand.NewPCG(7, uint64(trial))), Limit{[]float64{0.5, 1, 2}[trial%3], 0.1}, 6}
		t.Run(fmt.Sprint(trial), func(t *testing.T) {
			delta := s.delta(t, &Account{source: new(Source), Limit: s.limit}, 1, 1)
			if tight = max(tight, delta); delta > s.limit.Delta*(1+1e-12) {
				t.Errorf("the limit is %v, and the releases have delta %g", s.limit, delta)
			}
		})
	}
	if tight < 0.01 {
		t.Errorf("the largest delta is %g of 0.1: nothing is tested", tight)
	}
	t.Logf("the largest delta is %.3f of 0.1", tight)
}
