package budget

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privkern/experiments/mechanism"
	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
)

// data returns the digest of the i-th set of data.
func data(i byte) string { return strings.Repeat(hex.EncodeToString([]byte{0xa0 + i}), 32) }

// spend is a release of 1000 rows of data(0), at the unit of an output: of Gaussian noise with a μ, or a
// choice of pure ε where there is no μ.
func spend(epsilon, delta, mu float64) experiment.Spending {
	loss := experiment.Loss{Law: "gaussian", Size: mu, Times: 1}
	if mu == 0 {
		loss = experiment.Loss{Law: "exponential mechanism", Size: epsilon, Times: 1}
	}
	return experiment.Spending{Experiment: "test/release", Data: data(0), Units: []string{experiment.UnitOutput},
		Rows: 1000, Epsilon: epsilon, Delta: delta, Losses: []experiment.Loss{loss}}
}

// noisy is a release of Gaussian noise calibrated to (ε, δ).
func noisy(t *testing.T, epsilon, delta float64) experiment.Spending {
	t.Helper()
	mu, err := mechanism.GDPFor(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return spend(epsilon, delta, float64(mu))
}

// book books a release of data that are known by their place alone, under a name; "" for none.
func (l *Ledger) book(s experiment.Spending, as string) error {
	_, err := l.Book(s, Data{place: s.Data}, Request{Account: as})
	return err
}

func open(t *testing.T) *Ledger {
	t.Helper()
	l, err := Open(filepath.Join(t.TempDir(), "conf", "budget.json"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// limited returns a ledger in which new accounts have a limit of ε at δ = 1e-3.
func limited(t *testing.T, epsilon float64) *Ledger {
	t.Helper()
	l, delta := open(t), 1e-3
	if _, err := l.SetDefault(&epsilon, &delta); err != nil {
		t.Fatal(err)
	}
	return l
}

func book(t *testing.T, l *Ledger, releases ...experiment.Spending) {
	t.Helper()
	for i, s := range releases {
		if err := l.book(s, ""); err != nil {
			t.Fatalf("release %d: %v", i+1, err)
		}
	}
}

// report returns that of the first account.
func report(t *testing.T, l *Ledger) *Report {
	t.Helper()
	s, err := l.Read()
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Accounts[0].Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g within %g", what, got, want, tolerance)
	}
}

func refused(t *testing.T, err error) LimitError {
	t.Helper()
	var limit *LimitError
	if !errors.As(err, &limit) {
		t.Fatalf("the release was not refused by the limit: %v", err)
	}
	return *limit
}

// Of each filter the ε of the sum at its own part of δ, by 60 digits (mpmath 1.3).
func TestTotals(t *testing.T) {
	entries := func(n int, b loss.Booked) []Entry {
		out := make([]Entry, n)
		for i := range out {
			out[i] = Entry{Epsilon: 1, Delta: 1e-5, Booked: b}
		}
		return out
	}
	for _, c := range []struct {
		name    string
		entries []Entry
		filter  string
		epsilon float64 // at δ = 1e-3
	}{
		// The root of Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = 0.8 δ.
		{"one", entries(1, loss.Booked{Mu: 0.25, Rho: 0.03125}), gaussianFilter, 0.61127948904756674433},
		{"n of mu are mu sqrt(n)", entries(25, loss.Booked{Mu: 0.1}), gaussianFilter, 1.3887604227174156439},
		{"3 and 4 are 5", append(entries(1, loss.Booked{Mu: 0.3}), entries(1, loss.Booked{Mu: 0.4, MuDelta: 5e-6})...),
			gaussianFilter, 1.3887604227174156439},
		{"one by its own guarantee", entries(1, loss.Booked{Mu: 0.5}), "", 1},
		{"pure", entries(3, loss.Booked{Pure: 0.25, Mu: 0.3, Rho: 0.03}), pureFilter, 0.75},
		// ρ = 0.125 at 0.15 δ, by Rényi differential privacy of all orders.
		{"rho", entries(100, loss.Booked{Pure: 0.1, Mu: 0.1, Rho: 0.00125}), zcdpFilter,
			1.8253645079661597609},
		{"too much outside", entries(100, loss.Booked{Pure: 0.1, Mu: 0.01, MuDelta: 1e-6, Rho: 0.00125}), zcdpFilter,
			1.8253645079661597609},
		// 2 and the root for μ = 0.5.
		{"a pure one first", append(entries(1, loss.Booked{Pure: 2, Mu: 2.4, Rho: 1.5}),
			entries(4, loss.Booked{Mu: 0.25})...), gaussianFilter, 3.3887604227174156439},
		{"a pure one later", append(entries(1, loss.Booked{Mu: 0.25}), entries(1, loss.Booked{Pure: 2, Mu: 2.4})...),
			gaussianFilter, 9.8920442443867476320},
		{"nothing", entries(2, loss.Booked{Mu: 0.01, MuDelta: 1e-4}), "", math.Inf(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Account{source: new(Source), Limit: Limit{5, 1e-3}, Entries: c.entries}
			r, err := a.Report()
			if err != nil {
				t.Fatal(err)
			}
			if r.Filter != c.filter || r.Releases != len(c.entries) || r.Over != (c.epsilon > 5) || r.Spent.Delta != 1e-3 {
				t.Errorf("%+v", r)
			}
			if r.Spent.Epsilon != c.epsilon {
				near(t, "epsilon", r.Spent.Epsilon, c.epsilon, 1e-11)
			}
		})
	}
}

func repeat(s experiment.Spending, n int) []experiment.Spending {
	out := make([]experiment.Spending, n)
	for i := range out {
		out[i] = s
	}
	return out
}

// sum returns the largest sum of a filter at a limit of (1, 1e-3).
func sum(t *testing.T, name string) float64 {
	t.Helper()
	for _, f := range filters() {
		if f.name == name {
			most, err := f.ceiling(Limit{1, 1e-3})
			if err != nil {
				t.Fatal(err)
			}
			return floor(most)
		}
	}
	t.Fatalf("there is no filter %q", name)
	return 0
}

// Releases that just fit, and that just do not, into an account with a limit (1, 1e-3).
func TestBoundary(t *testing.T) {
	m := math.Sqrt(sum(t, gaussianFilter)) * (1 - 1e-15)
	// 64 choices fill the sum of μ², which is wider than that of ρ here.
	choice, above := 0.0, 1.0
	for range 60 {
		middle := (choice + above) / 2
		b, err := loss.Book(spend(middle, 0, 0).Losses, 0)
		if err != nil {
			t.Fatal(err)
		}
		if b.Mu <= m/8 {
			choice = middle
		} else {
			above = middle
		}
	}
	limit := noisy(t, 1, 1e-3)
	for _, c := range []struct {
		name string
		fit  []experiment.Spending
		not  experiment.Spending
	}{
		{"the limit itself, and nothing after", []experiment.Spending{limit}, spend(1e-9, 1e-9, 1e-9)},
		{"the limit itself, and nothing pure", []experiment.Spending{limit}, spend(1e-9, 0, 0)},
		{"a larger epsilon", nil, noisy(t, 1+1e-8, 1e-3)},
		{"another delta of less mu", []experiment.Spending{noisy(t, 1, 1e-5)}, limit},
		{"an epsilon that its mu does not hold", nil, spend(1, 1e-3, 2*m)},
		{"a larger delta", nil, noisy(t, 1, 1e-3+1e-10)},
		{"four halves of M", repeat(spend(0.4, 1e-3, m/2), 4), spend(0.1, 1e-3, 1e-3)},
		{"sixteen quarters of M", repeat(spend(0.2, 1e-3, m/4), 16), spend(0.1, 1e-3, 1e-3)},
		{"64 choices by mu", repeat(spend(choice*(1-1e-11), 0, 0), 64), spend(1e-3, 0, 0)},
		{"64 choices and noise", repeat(spend(choice*(1-1e-11), 0, 0), 64), spend(0.1, 1e-3, 1e-3)},
		{"ten times 0.1", repeat(spend(0.1, 0, 0), 10), spend(1, 0, 0)},
		{"one whole", []experiment.Spending{spend(1, 0, 0)}, spend(1e-15, 0, 0)},
		{"0.1 and 0.2 and 0.7", []experiment.Spending{spend(0.1, 0, 0), spend(0.2, 0, 0), spend(0.7, 0, 0)},
			spend(0.7, 0, 0)},
		{"next float", nil, spend(math.Nextafter(1, 2), 0, 0)},
		{"next delta", nil, noisy(t, 1, math.Nextafter(1e-3, 1))},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limited(t, 1)
			book(t, l, c.fit...)
			before, err := os.ReadFile(l.Path())
			if err != nil {
				t.Fatal(err)
			}
			e := refused(t, l.book(c.not, ""))
			if e.Releases != len(c.fit) || e.Asked.Epsilon != c.not.Epsilon || e.Limit != (Limit{1, 1e-3}) {
				t.Errorf("%+v", e)
			}
			if after, err := os.ReadFile(l.Path()); err != nil || string(after) != string(before) {
				t.Errorf("a refused release changed the ledger: %v", err)
			}
		})
	}
}

// Ten releases of 0.1 fill a limit of 1 where nothing else than their sum counts.
func TestSumIsExact(t *testing.T) {
	l := Limit{1, 1e-3}
	f := filter{name: pureFilter}
	entries := make([]Entry, 10)
	for i := range entries {
		entries[i].Pure = 0.1
	}
	if rest, err := f.rest(entries, l); err != nil || rest.Sign() != 0 {
		t.Errorf("ten times 0.1 leave %v of 1, %v", rest, err)
	}
	if rest, err := f.rest(append(entries, Entry{Booked: loss.Booked{Pure: 5e-324}}), l); err != nil || rest.Sign() >= 0 {
		t.Errorf("ten times 0.1 and a little leave %v of 1, %v", rest, err)
	}
}

// The rest that an error or a report states does fit, and a little more does not.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name  string
		first []experiment.Spending
	}{
		{"of noise", []experiment.Spending{spend(0.7, 1e-4, 0.15)}},
		{"of a choice", []experiment.Spending{spend(0.7, 0, 0)}},
		{"of choices", repeat(spend(0.05, 0, 0), 40)},
		{"of both", []experiment.Spending{spend(0.3, 0, 0), spend(0.7, 1e-4, 0.15)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limited(t, 1)
			book(t, l, c.first...)
			e := refused(t, l.book(noisy(t, 5, 1e-3), ""))
			r := report(t, l)
			if !(e.Left.Epsilon > 0 && e.Left.Mu > 0 && e.Left.Delta == 1e-3 && e.LeftPure > 0) || e.Left != r.Left ||
				e.LeftPure != r.LeftPure {
				t.Fatalf("%+v, %+v", e, r)
			}
			refused(t, l.book(noisy(t, e.Left.Epsilon*(1+1e-7), 1e-3), ""))
			a := &Account{Limit: Limit{1, 1e-3}, source: new(Source)}
			for _, epsilon := range []float64{e.LeftPure, e.LeftPure * (1 + 1e-7)} {
				s, err := l.Read()
				if err != nil {
					t.Fatal(err)
				}
				pure, err := loss.Stated(epsilon, 0)
				if err != nil {
					t.Fatal(err)
				}
				a.Entries = append(s.Accounts[0].Entries, Entry{Epsilon: epsilon, Booked: pure})
				if fits, err := a.admits(a.Entries); err != nil || fits != (epsilon == e.LeftPure) {
					t.Errorf("a pure %g fits: %v, %v; left is %g", epsilon, fits, err, e.LeftPure)
				}
			}
			book(t, l, noisy(t, e.Left.Epsilon, 1e-3))
			if r := report(t, l); r.Over || r.Spent.Epsilon > 1+1e-8 || r.Left.Mu > 1e-3 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// The sums of all admitted releases are within a filter, in exact arithmetic.
func TestNoRoundingOverspends(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	most := map[string]float64{}
	for _, name := range []string{pureFilter, gaussianFilter, zcdpFilter} {
		most[name] = sum(t, name)
	}
	for trial := range 24 {
		a := &Account{source: &Source{Names: []string{"x"}}, Unit: "row", Limit: Limit{1, 1e-3}}
		admitted := 0
		for range 40 {
			k := float64(1 + rng.IntN(40))
			e := Entry{Epsilon: 2, Booked: loss.Booked{Rho: most[zcdpFilter] / k}}
			switch trial % 3 {
			case 0:
				e.Booked = loss.Booked{Mu: math.Sqrt(most[gaussianFilter] / k), MuDelta: 5e-5 / k}
			case 1:
				e.Booked = loss.Booked{Pure: 1 / k}
			}
			if a.admit(e) == nil {
				admitted++
			}
		}
		pure, mu2, rho, outside := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
		for _, e := range a.Entries {
			x, _ := new(big.Rat).SetString(number(e.Pure))
			pure.Add(pure, x)
			z := new(big.Rat).SetFloat64(e.Mu)
			mu2.Add(mu2, z.Mul(z, z))
			rho.Add(rho, new(big.Rat).SetFloat64(e.Rho))
			outside.Add(outside, new(big.Rat).SetFloat64(e.MuDelta))
		}
		over := func(sum *big.Rat, name string) bool { return sum.Cmp(new(big.Rat).SetFloat64(most[name])) > 0 }
		if over(pure, pureFilter) || over(mu2, gaussianFilter) || over(rho, zcdpFilter) ||
			outside.Cmp(big.NewRat(5, 1e5)) > 0 || admitted == 0 || admitted == 40 {
			t.Errorf("trial %d: of 40 releases %d were admitted: %v %v %v outside %v", trial, admitted, pure, mu2, rho,
				outside)
		}
	}
}

// Sums are rounded down below the exact ones at the parts of δ (mpmath 1.3, 60 digits).
func TestCeilingIsBelow(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, mu, rho float64 }{
		{1, 1e-5, 0.26451290005319179258, 0.025266301030260625648},
		{10, 1e-3, 2.4326382764665899202, 2.189489529659399626},
		{10, 1e-6, 1.8351106347606966482, 1.383396946476287098},
		{1e-6, 1e-50, 7.3415497282837616406e-8, 2.5788868955184437185e-15},
	} {
		t.Run(fmt.Sprintf("epsilon %g, delta %g", c.epsilon, c.delta), func(t *testing.T) {
			for _, f := range filters()[1:] {
				want := c.rho
				if f.name == gaussianFilter {
					want = c.mu * c.mu
				}
				most, err := f.ceiling(Limit{c.epsilon, c.delta})
				if err != nil || !(floor(most) < want) {
					t.Errorf("%s: %v is not below %g, %v", f.name, most, want, err)
					continue
				}
				near(t, f.name, floor(most), want, 3e-9)
			}
		})
	}
}

// One part of δ is for the δ₀ of the Gaussian filter: where it is spent, the filter admits nothing.
func TestOutside(t *testing.T) {
	for _, c := range []struct {
		name       string
		out, first float64 // δ₀, at δ = 1e-3, and ρ of the first release
		mu, rho    float64 // of the second
		fits       bool
	}{
		{"both", 4.9e-5, 0.005, 0.1, 0.005, true},
		{"rho alone", 5.1e-5, 0.005, 0.1, 0.005, true},
		{"mu alone", 4.9e-5, 0, 0.1, 0.005, true},
		{"neither", 5.1e-5, 0, 0.1, 0.005, false},
		{"rho, but too much", 5.1e-5, 0.005, 0.1, 5, false},
		{"mu, but too much", 0, 0, 10, 0.005, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Account{source: new(Source), Limit: Limit{1, 1e-3}}
			first := Entry{Epsilon: 0.5, Delta: 1e-3,
				Booked: loss.Booked{Mu: 0.1, MuDelta: c.out, Rho: c.first}}
			second := Entry{Epsilon: 0.5, Delta: 1e-3, Booked: loss.Booked{Mu: c.mu, Rho: c.rho}}
			if err := a.admit(first); err != nil {
				t.Fatal(err)
			}
			if err := a.admit(second); (err == nil) != c.fits {
				t.Errorf("fits: %v, %v", c.fits, err)
			}
		})
	}
}

// Any kind of release may be first, and does not decide about those after it.
func TestMixture(t *testing.T) {
	for _, first := range []experiment.Spending{spend(1, 0, 0), noisy(t, 1, 1e-6)} {
		l := limited(t, 10)
		book(t, l, first, spend(1, 0, 0), noisy(t, 3, 1e-6), spend(0.5, 0, 0))
		if r := report(t, l); r.Releases != 4 || r.Over {
			t.Errorf("%+v", r)
		}
	}
}

func TestUnitsAreBookedTogether(t *testing.T) {
	l := limited(t, 1)
	row := spend(0.6, 0, 0)
	row.Units = []string{experiment.UnitRow, experiment.UnitOutput}
	book(t, l, spend(0.5, 0, 0)) // of outputs alone
	e := refused(t, l.book(row, ""))
	if e.Unit != experiment.UnitOutput {
		t.Errorf("unit %s refuses", e.Unit)
	}
	if s, err := l.Read(); err != nil || len(s.Accounts) != 1 || len(s.Accounts[0].Entries) != 1 {
		t.Errorf("a release that one unit refuses is booked in another: %+v, %v", s, err)
	}
	row.Epsilon, row.Losses = 0.5, spend(0.5, 0, 0).Losses
	book(t, l, row)
	s, err := l.Read()
	if err != nil || len(s.Accounts) != 2 || len(s.Accounts[0].Entries) != 2 || len(s.Accounts[1].Entries) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if s.Accounts[1].Unit != experiment.UnitRow || s.Accounts[0].Entries[1].Note != "protects unit row" {
		t.Errorf("%+v", s.Accounts)
	}
	other := spend(1, 0, 0)
	other.Data = data(1)
	book(t, l, other) // other data have another account
}

func TestDefaultLimit(t *testing.T) {
	l := open(t)
	book(t, l, spend(3, 1e-5, 0.5))
	if r := report(t, l); r.Limit.Epsilon != 10 || r.Limit.Delta != 1e-6 {
		t.Errorf("%+v", r)
	}
	many := spend(3, 0, 0)
	many.Data, many.Rows = data(1), 100000
	book(t, l, many)
	s, err := l.Read()
	if err != nil || s.Accounts[1].Limit.Delta != 0.01/100000 {
		t.Errorf("%+v, %v", s.Accounts[1], err)
	}
	many.Rows = 2 // the δ stays when data grow or shrink
	book(t, l, many)
	if s, err := l.Read(); err != nil || s.Accounts[1].Limit.Delta != 0.01/100000 || s.Accounts[1].Rows != 2 {
		t.Errorf("%+v, %v", s.Accounts[1], err)
	}
}

// Others may read the output of a release.
func TestErrorsHoldNoDigest(t *testing.T) {
	l := limited(t, 1)
	book(t, l, spend(0.3, 1e-5, 0.1))
	again := spend(5, 1e-4, 2)
	fresh := again
	fresh.Data = data(3)
	for _, c := range []struct {
		name     string
		err      error
		contains []string
	}{
		{"more", l.book(again, ""), []string{"account 1, unit output", "limit is (1, 0.001)", "spent (",
			"asks for (5, 0.0001), which is (", "at the account's delta", "run budget show 1", "run budget set 1 --epsilon"}},
		{"new", l.book(fresh, ""), []string{"the account of these data", "run budget set default", "--account NAME"}},
		{"named", l.book(fresh, "study"), []string{"(study)", "run budget set study --unit output"}},
		{"no digest", l.book(experiment.Spending{Data: data(0) + "x", Units: []string{"row"}, Rows: 5, Epsilon: 1},
			""), []string{"no SHA-256"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.err == nil {
				t.Fatal("no error")
			}
			text := c.err.Error()
			for _, want := range c.contains {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in: %s", want, text)
				}
			}
			if strings.Contains(text, data(0)[:6]) || strings.Contains(text, data(3)[:6]) {
				t.Errorf("a digest of data: %s", text)
			}
		})
	}
}

// A release of which only the guarantee is known books what that bounds.
func TestStatedSpending(t *testing.T) {
	l := limited(t, 10)
	s := spend(1, 1e-6, 0)
	s.Losses = nil
	book(t, l, s, s)
	read, err := l.Read()
	if err != nil {
		t.Fatal(err)
	}
	want, err := loss.Stated(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range read.Accounts[0].Entries {
		if e.Booked != want || e.MuDelta != 1e-6 {
			t.Errorf("%+v, want %+v", e.Booked, want)
		}
	}
	s.Losses = []experiment.Loss{}
	if err := l.book(s, ""); err == nil {
		t.Error("a release without a mechanism is booked")
	}
}

func TestRefusedSpending(t *testing.T) {
	for name, change := range map[string]func(*experiment.Spending){
		"no data":          func(s *experiment.Spending) { s.Data = "" },
		"capital digits":   func(s *experiment.Spending) { s.Data = strings.ToUpper(s.Data) },
		"no unit":          func(s *experiment.Spending) { s.Units = nil },
		"unknown unit":     func(s *experiment.Spending) { s.Units = []string{"column"} },
		"a unit twice":     func(s *experiment.Spending) { s.Units = []string{"row", "row"} },
		"no rows":          func(s *experiment.Spending) { s.Rows = 0 },
		"no epsilon":       func(s *experiment.Spending) { s.Epsilon = 0 },
		"NaN epsilon":      func(s *experiment.Spending) { s.Epsilon = math.NaN() },
		"infinite epsilon": func(s *experiment.Spending) { s.Epsilon = math.Inf(1) },
		"negative delta":   func(s *experiment.Spending) { s.Delta = -1e-9 },
		"delta 1":          func(s *experiment.Spending) { s.Delta = 1 },
		"NaN delta":        func(s *experiment.Spending) { s.Delta = math.NaN() },
		"negative mu":      func(s *experiment.Spending) { s.Losses[0].Size = -1 },
		"infinite mu":      func(s *experiment.Spending) { s.Losses[0].Size = math.Inf(1) },
		"odd name":         func(s *experiment.Spending) { s.Experiment = "a\x1b[2J" },
	} {
		t.Run(name, func(t *testing.T) {
			l, s := open(t), spend(1, 1e-5, 0.1)
			change(&s)
			if err := l.book(s, ""); err == nil {
				t.Error("it is booked")
			}
			if s, err := l.Read(); err == nil && len(s.Accounts) > 0 {
				t.Errorf("an account is opened: %+v", s)
			}
		})
	}
	for _, name := range []string{"-x", "default", "Default", "17", "data-1", "a b", "a\n", "\xff",
		strings.Repeat("x", 101)} {
		t.Run("name "+name, func(t *testing.T) {
			if err := open(t).book(spend(1, 0, 0), name); err == nil {
				t.Error("it is booked")
			}
		})
	}
}

// No clock decides anything: entries stay in the order of their bookings.
func TestClockJumps(t *testing.T) {
	l := limited(t, 40)
	for i, now := range []time.Time{
		time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-50, 1, 1, 0, 0, 0, 0, time.UTC), {},
	} {
		l.now = func() time.Time { return now }
		s := spend(8, 0, 0)
		s.Experiment = fmt.Sprint("test/", i)
		book(t, l, s)
	}
	refused(t, l.book(spend(8, 0, 0), ""))
	s, err := l.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range s.Accounts[0].Entries {
		if e.Experiment != fmt.Sprint("test/", i) {
			t.Errorf("entry %d is %s", i, e.Experiment)
		}
	}
}

func TestNumbersAreReadBackExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	a := &Account{Number: 1, Source: 1, Unit: "row", Rows: math.MaxInt, Limit: Limit{math.Pi, 1.0 / 3}}
	for range 1000 {
		a.Entries = append(a.Entries, Entry{
			Epsilon: math.Ldexp(rng.Float64()+0x1p-60, rng.IntN(200)-100),
			Delta:   math.Ldexp(rng.Float64(), -rng.IntN(1070)),
			Booked: loss.Booked{
				Pure: math.Ldexp(1-rng.Float64(), -rng.IntN(1000)),
				Mu:   math.Ldexp(1-rng.Float64(), -rng.IntN(1000)), MuDelta: math.Ldexp(rng.Float64(), -rng.IntN(1000)),
				Rho: math.Ldexp(1-rng.Float64(), -rng.IntN(1000)),
			},
		})
	}
	raw, err := encode(&State{Sources: []*Source{{ID: 1, Names: []string{"x"}}}, Accounts: []*Account{a}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Accounts[0]
	if b.Rows != a.Rows || b.Limit != a.Limit {
		t.Errorf("%+v", b)
	}
	for i := range a.Entries {
		if a.Entries[i] != b.Entries[i] {
			t.Fatalf("%+v becomes %+v", a.Entries[i], b.Entries[i])
		}
	}
}

func TestShownDown(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.99999: "0.9999", 1.23456: "1.234", 0.000123456: "0.0001234", 10: "10",
		9.99999999: "9.999", 1e-5: "1e-05", 123456: "1.234e+05",
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			if got := ShownDown(x); got != want {
				t.Errorf("%v is shown as %s, not %s", x, got, want)
			}
		})
	}
}
