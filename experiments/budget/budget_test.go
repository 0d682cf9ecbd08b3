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
	"privkern/runner/experiment"
)

// data returns the digest of the i-th set of data.
func data(i byte) string { return strings.Repeat(hex.EncodeToString([]byte{0xa0 + i}), 32) }

// spend is a release of 1000 rows of data(0), at the unit of an output.
func spend(epsilon, delta, mu float64) experiment.Spending {
	return experiment.Spending{Experiment: "test/release", Data: data(0), Units: []string{experiment.UnitOutput},
		Rows: 1000, Epsilon: epsilon, Delta: delta, Mu: mu}
}

// gaussian is a release calibrated to (ε, δ).
func gaussian(t *testing.T, epsilon, delta float64) experiment.Spending {
	t.Helper()
	mu, err := mechanism.GDPFor(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return spend(epsilon, delta, float64(mu))
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
		if err := l.Book(s, ""); err != nil {
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

// 2 Φ⁻¹(e^ε/(1 + e^ε)) with 50 digits (mpmath 1.3), rounded up by a little.
func TestPureGDP(t *testing.T) {
	for _, c := range []struct{ epsilon, mu float64 }{
		{1e-10, 1.2533141373155002512e-10},
		{0.01, 0.012533118959649838644},
		{1, 1.2320353853449009729},
		{5, 4.9466784455956585928},
		{20, 11.758418713653101291},
		{100, 27.776952066007772635},
		{500, 62.968599551257659836},
		{1000, 89.231495463938806041},
		{1e6, 2828.4155659820346539},
	} {
		t.Run(fmt.Sprint(c.epsilon), func(t *testing.T) {
			mu, err := PureGDP(c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mu", float64(mu), c.mu, 2e-12)
			if float64(mu) < c.mu {
				t.Errorf("mu = %.17g is below %.17g", mu, c.mu)
			}
		})
	}
	for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			if mu, err := PureGDP(epsilon); err == nil {
				t.Errorf("epsilon %g gives mu %g", epsilon, mu)
			}
		})
	}
}

// The trade-off curve of ε-DP is nowhere below that of its μ, and a μ less by a
// thousandth is above it at the kink.
func TestPureCurveIsAboveItsGaussian(t *testing.T) {
	q := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 } // 1 − Φ
	for _, epsilon := range []float64{0.1, 1, 3, 10} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			mu, err := PureGDP(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			for z := -6.0; z <= 6; z += 1.0 / 64 {
				x := q(z)
				pure := max(1-math.Exp(epsilon)*x, math.Exp(-epsilon)*(1-x))
				if g := q(float64(mu) - z); g > pure+1e-15 {
					t.Errorf("epsilon %g: at %g G is %g, above %g", epsilon, x, g, pure)
				}
			}
			if kink := float64(mu) / 2; q(0.999*float64(mu)-kink) <= q(kink) {
				t.Errorf("epsilon %g: a smaller mu would do", epsilon)
			}
		})
	}
}

func TestTotals(t *testing.T) {
	for _, c := range []struct {
		name              string
		releases          []experiment.Spending
		rule              Rule
		mu, tight         float64 // at δ = 1e-3
		epsilon, sumDelta float64
	}{
		// ε of μ at δ = 1e-3: the root of Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ (mpmath 1.3).
		{"one", []experiment.Spending{spend(1, 1e-5, 0.25)}, GDP, 0.25, 0.592006718362129134, 1, 1e-5},
		{"n of mu are mu sqrt(n)", repeat(spend(0.5, 1e-5, 0.1), 25), GDP, 0.5, 1.35227624480255417, 12.5, 25e-5},
		{"3 and 4 are 5", []experiment.Spending{spend(1, 1e-5, 0.3), spend(2, 2e-5, 0.4)}, GDP, 0.5,
			1.35227624480255417, 3, 3e-5},
		{"pure among gaussian", []experiment.Spending{spend(1, 1e-5, 0.3), spend(0.01, 0, 0)}, GDP, math.Hypot(0.3,
			0.012533118959649838644), 0, 1.01, 1e-5},
		{"sums", []experiment.Spending{spend(1, 0, 0), spend(2, 1e-4, 0.4), spend(0.5, 1e-5, 0)}, Basic, 0, 3.5,
			3.5, 1.1e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limited(t, 10)
			book(t, l, c.releases...)
			r := report(t, l)
			if r.Rule != c.rule || r.Releases != len(c.releases) || r.Over || r.Rows != 1000 {
				t.Errorf("%+v", r)
			}
			near(t, "mu", r.Spent.Mu, c.mu, 1e-11)
			if c.tight > 0 {
				near(t, "tight epsilon", r.Spent.Epsilon, c.tight, 1e-11)
			}
			near(t, "sum of epsilon", r.Basic.Epsilon, c.epsilon, 1e-15)
			near(t, "sum of delta", r.Basic.Delta, c.sumDelta, 1e-15)
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

// Releases that just fit, and that just do not, into an account with a limit (1, 1e-3).
func TestBoundary(t *testing.T) {
	_, m, err := ceiling(Limit{1, 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	limit := gaussian(t, 1, 1e-3)
	for _, c := range []struct {
		name string
		fit  []experiment.Spending
		not  experiment.Spending
	}{
		{"the limit itself, and nothing after", []experiment.Spending{limit}, spend(1e-9, 1e-9, 1e-9)},
		{"a larger epsilon", nil, gaussian(t, 1+1e-8, 1e-3)},
		{"another delta of less mu", []experiment.Spending{gaussian(t, 1, 1e-5)}, limit},
		{"an epsilon that its mu does not hold", nil, spend(1, 1e-3, 2*m)},
		{"a larger delta", nil, gaussian(t, 1, 1e-3+1e-10)},
		{"four halves of M", repeat(spend(0.4, 1e-3, m/2), 4), spend(1e-9, 1e-9, 1e-9)},
		{"sixteen quarters of M", repeat(spend(0.2, 1e-3, m/4), 16), spend(1e-9, 1e-9, 1e-9)},
		{"ten times 0.1", repeat(spend(0.1, 0, 0), 10), spend(1e-15, 0, 0)},
		{"one whole", []experiment.Spending{spend(1, 0, 0)}, spend(1e-15, 0, 0)},
		{"0.1 and 0.2 and 0.7", []experiment.Spending{spend(0.1, 0, 0), spend(0.2, 0, 0), spend(0.7, 0, 0)},
			spend(5e-324, 0, 0)},
		{"next float", nil, spend(math.Nextafter(1, 2), 0, 0)},
		{"delta alone", repeat(spend(0.01, 1e-4, 0), 10), spend(0.01, 1e-17, 0)},
		{"next delta", nil, spend(0.5, math.Nextafter(1e-3, 1), 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limited(t, 1)
			book(t, l, c.fit...)
			before, err := os.ReadFile(l.Path())
			if err != nil {
				t.Fatal(err)
			}
			e := refused(t, l.Book(c.not, ""))
			if e.Releases != len(c.fit) || e.Asked.Epsilon != c.not.Epsilon || e.Limit != (Limit{1, 1e-3}) {
				t.Errorf("%+v", e)
			}
			if after, err := os.ReadFile(l.Path()); err != nil || string(after) != string(before) {
				t.Errorf("a refused release changed the ledger: %v", err)
			}
		})
	}
}

// The rest that an error or a report states does fit, and a little more does not.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name  string
		first experiment.Spending
		rule  Rule
	}{
		{"gdp", spend(0.7, 1e-4, 0.15), GDP},
		{"basic", spend(0.7, 1e-4, 0), Basic},
	} {
		for _, delta := range []float64{1e-3, 1e-4, 1e-9} {
			t.Run(fmt.Sprint(c.name, delta), func(t *testing.T) {
				l := limited(t, 1)
				book(t, l, c.first)
				e := refused(t, l.Book(gaussian(t, 5, delta), ""))
				if e.Rule != c.rule || !(e.Left.Epsilon > 0 && e.Left.Mu > 0 && e.Left.Delta <= delta) {
					t.Fatalf("%+v", e)
				}
				more := gaussian(t, e.Left.Epsilon*(1+1e-7), e.Left.Delta)
				refused(t, l.Book(more, ""))
				book(t, l, gaussian(t, e.Left.Epsilon, e.Left.Delta))
				if r := report(t, l); r.Over || r.Spent.Epsilon > 1 {
					t.Errorf("%+v", r)
				}
			})
		}
	}
	t.Run("as a report says it", func(t *testing.T) {
		l := limited(t, 1)
		book(t, l, spend(0.3, 1e-5, 0.1))
		left := report(t, l).Left
		book(t, l, spend(left.Epsilon, left.Delta, left.Mu))
		if r := report(t, l); r.Over || r.Left.Mu > 1e-7 {
			t.Errorf("%+v", r)
		}
	})
}

// The sums of all admitted releases are within the limit, in exact arithmetic.
func TestNoRoundingOverspends(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	_, down, err := ceiling(Limit{1, 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	for trial := range 24 {
		a := &Account{Name: "x", Unit: "row", Limit: Limit{1, 1e-3}}
		admitted := 0
		for range 40 {
			s := spend(1/float64(1+rng.IntN(40)), 1e-3/float64(1+rng.IntN(40)), 0)
			if trial%2 == 0 {
				s.Mu = down / math.Sqrt(float64(1+rng.IntN(40)))
			}
			if a.admit(s, Entry{Epsilon: s.Epsilon, Delta: s.Delta, Mu: s.Mu}) == nil {
				admitted++
			}
		}
		epsilon, delta, mu2 := new(big.Rat), new(big.Rat), new(big.Rat)
		for _, e := range a.Entries {
			x, _ := new(big.Rat).SetString(number(e.Epsilon))
			y, _ := new(big.Rat).SetString(number(e.Delta))
			z := new(big.Rat).SetFloat64(e.Mu)
			epsilon.Add(epsilon, x)
			delta.Add(delta, y)
			mu2.Add(mu2, z.Mul(z, z))
		}
		over := epsilon.Cmp(big.NewRat(1, 1)) > 0 || delta.Cmp(big.NewRat(1, 1000)) > 0
		if trial%2 == 0 {
			m := new(big.Rat).SetFloat64(down)
			over = mu2.Cmp(m.Mul(m, m)) > 0
		}
		if over || admitted == 0 || admitted == 40 {
			t.Errorf("trial %d: of 40 releases %d were admitted, epsilon %v delta %v", trial, admitted, epsilon,
				delta)
		}
	}
}

// M is rounded down below the exact one (mpmath 1.3, 120 digits).
func TestCeilingIsBelow(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, mu float64 }{
		{1, 1e-5, 0.268051123211294218}, {10, 1e-3, 2.46269292333848777}, {1e-6, 1e-50, 7.35025569890106133e-8},
	} {
		t.Run(fmt.Sprintf("epsilon %g, delta %g", c.epsilon, c.delta), func(t *testing.T) {
			m, down, err := ceiling(Limit{c.epsilon, c.delta})
			if err != nil || !(down < c.mu) {
				t.Errorf("%+v: M = %.17g, down %.17g, %v", c, m, down, err)
			}
			near(t, "M", m, c.mu, 2e-10)
		})
	}
}

func TestMixture(t *testing.T) {
	l := limited(t, 10)
	book(t, l, spend(1, 1e-5, 0.3), spend(0.1, 0, 0))
	err := l.Book(spend(0.1, 1e-5, 0), "")
	var rule *RuleError
	if !errors.As(err, &rule) || !strings.Contains(err.Error(), "--rule basic") ||
		strings.Contains(err.Error(), data(0)[:6]) {
		t.Fatalf("a release without mu in an account that adds up mu: %v", err)
	}
	// In an account with the rule basic it has a place.
	epsilon, delta := 1.0, 1e-3
	if _, err := l.Set(
		Change{Account: "mixed", Unit: "output", Epsilon: &epsilon, Delta: &delta, Rule: Basic, Create: true},
	); err != nil {
		t.Fatal(err)
	}
	for _, s := range []experiment.Spending{spend(0.2, 1e-5, 0.05), spend(0.1, 1e-5, 0), spend(0.7, 0, 0)} {
		if err := l.Book(s, "mixed"); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, l.Book(spend(0.1, 0, 0), "mixed"))
}

func TestUnitsAreBookedTogether(t *testing.T) {
	l := limited(t, 1)
	row := spend(0.6, 0, 0)
	row.Units = []string{experiment.UnitRow, experiment.UnitOutput}
	book(t, l, spend(0.5, 0, 0)) // of outputs alone
	e := refused(t, l.Book(row, ""))
	if e.Unit != experiment.UnitOutput {
		t.Errorf("unit %s refuses", e.Unit)
	}
	if s, err := l.Read(); err != nil || len(s.Accounts) != 1 || len(s.Accounts[0].Entries) != 1 {
		t.Errorf("a release that one unit refuses is booked in another: %+v, %v", s, err)
	}
	row.Epsilon = 0.5
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
	if r := report(t, l); r.Limit.Epsilon != 10 || r.Limit.Delta != 1e-4 {
		t.Errorf("%+v", r)
	}
	one := spend(3, 0, 0)
	one.Data, one.Rows = data(1), 1
	if err := l.Book(one, ""); err == nil || !strings.Contains(err.Error(), "run budget set default") {
		t.Errorf("one row: %v", err)
	}
	wrong := spend(3, 1e-5, 0.5)
	wrong.Rows = 999
	if err := l.Book(wrong, ""); err == nil || !strings.Contains(err.Error(), "1000 rows") {
		t.Errorf("equal data with other n: %v", err)
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
		{"more", l.Book(again, ""), []string{"account 1, unit output", "limit is (1, 0.001)", "spent (",
			"asks for (5, 0.0001)", "run budget show 1", "run budget set 1 --epsilon"}},
		{"new", l.Book(fresh, ""), []string{"the account of these data", "run budget set default", "--budget-id"}},
		{"named", l.Book(fresh, "study"), []string{"(study)", "run budget set study --unit output"}},
		{"no digest", l.Book(experiment.Spending{Data: data(0) + "x", Units: []string{"row"}, Rows: 5, Epsilon: 1},
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
		"negative mu":      func(s *experiment.Spending) { s.Mu = -1 },
		"infinite mu":      func(s *experiment.Spending) { s.Mu = math.Inf(1) },
		"odd name":         func(s *experiment.Spending) { s.Experiment = "a\x1b[2J" },
	} {
		t.Run(name, func(t *testing.T) {
			l, s := open(t), spend(1, 1e-5, 0.1)
			change(&s)
			if err := l.Book(s, ""); err == nil {
				t.Error("it is booked")
			}
			if _, err := l.Read(); !errors.Is(err, ErrNone) {
				t.Errorf("there is a ledger: %v", err)
			}
		})
	}
	for _, name := range []string{"-x", "default", "Default", "17", "abcdef12", "a b", "a\n", "\xff",
		strings.Repeat("x", 101)} {
		t.Run("budget id "+name, func(t *testing.T) {
			if err := open(t).Book(spend(1, 0, 0), name); err == nil {
				t.Error("it is booked")
			}
		})
	}
}

// No clock decides anything: entries stay in the order of their bookings.
func TestClockJumps(t *testing.T) {
	l := limited(t, 1)
	for i, now := range []time.Time{
		time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-50, 1, 1, 0, 0, 0, 0, time.UTC), {},
	} {
		l.now = func() time.Time { return now }
		s := spend(0.2, 0, 0)
		s.Experiment = fmt.Sprint("test/", i)
		book(t, l, s)
	}
	refused(t, l.Book(spend(0.2, 0, 0), ""))
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
	a := &Account{Name: "x", Unit: "row", Rows: math.MaxInt, Rule: GDP, Limit: Limit{math.Pi, 1.0 / 3}}
	for range 1000 {
		a.Entries = append(a.Entries, Entry{
			Epsilon: math.Ldexp(rng.Float64()+0x1p-60, rng.IntN(200)-100),
			Delta:   math.Ldexp(rng.Float64(), -rng.IntN(1070)),
			Mu:      math.Ldexp(1-rng.Float64(), -rng.IntN(1000)),
		})
	}
	raw, err := encode(&State{Accounts: []*Account{a}})
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
