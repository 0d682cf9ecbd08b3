package budget

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"gonum.org/v1/gonum/mathext"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// Amount is privacy that is spent, asked for or left.
type Amount struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Mu      float64 `json:"mu,omitempty"` // 0 where it has none
}

// muSlack is the part by which the M of a limit is rounded down. Within the
// bounds of limits it is computed to 2e-10.
const muSlack = 1e-9

// PureGDP returns a μ such that every ε-differentially private mechanism is μ-
// Gaussian differentially private:
//
//	μ = −2 Φ⁻¹(α), α = 1/(1+e^ε),
//
// rounded up. The trade-off function of ε-DP is piecewise linear through (0, 1),
// (α, α) and (1, 0) (Dong, Roth and Su 2022, Eq. 5 of arXiv:1905.02383: the
// larger of 1 − e^ε x and e^−ε (1 − x)). G_μ passes through the same points for
// this μ, and is convex, so it is nowhere above the chords between them. No
// smaller μ will do: its curve is above the kink.
func PureGDP(epsilon float64) (mechanism.GDP, error) {
	if err := checkAmount(epsilon, 0, 0); err != nil {
		return 0, err
	}
	var x float64 // −Φ⁻¹(α)
	switch {
	case epsilon < 2: // α is near 1/2: 1 − 2α = tanh(ε/2)
		x = math.Sqrt2 * math.Erfinv(math.Tanh(epsilon/2))
	case epsilon < 700:
		x = -mathext.NormalQuantile(1 / (1 + math.Exp(epsilon)))
	default:
		// α = e^−ε underflows. With Mills' ratio R, log α = −x²/2 − log √(2π) +
		// log R(x), a fixed point whose error shrinks by 1/x² a step.
		x = math.Sqrt(2) * math.Sqrt(epsilon)
		for range 6 {
			x = math.Sqrt(2) * math.Sqrt(epsilon-math.Log(2*math.Pi)/2+math.Log(mills(x)))
		}
	}
	return mechanism.GDP(2 * x * (1 + 1e-12)), nil
}

// mills returns Mills' ratio (1 − Φ(x))/φ(x) for x > 30 by Laplace's continued
// fraction.
func mills(x float64) float64 {
	t := x
	for k := 20; k >= 1; k-- {
		t = x + float64(k)/t
	}
	return 1 / t
}

// The sums below use rational numbers. Floating-point sums would need slack, and
// slack refuses the last of ten releases of 0.1 within 1. The cost, microseconds an
// entry, is far below that of the noise.

// ceiling returns M, the largest μ that a limit allows, and M rounded down.
func ceiling(l Limit) (m, down float64, err error) {
	mu, err := mechanism.GDPFor(l.Epsilon, l.Delta)
	return float64(mu), float64(mu) * (1 - muSlack), err
}

// decimal returns the number that the shortest decimal form of x shows, which a person
// wrote and the ledger holds. It differs from x by at most half a
// unit in the last place. A guarantee is stated in this form, and so are
// the sums.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		panic("budget: " + number(x) + " is not finite") // checkAmount refuses it
	}
	return r
}

// square returns x², of the binary number: a μ is computed, and nobody writes it.
func square(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	return r.Mul(r, r)
}

// sums returns Σε, Σδ and Σμ² of the entries, exactly. They are taken anew from the
// entries each time: a running total in the file could disagree with them.
func (a *Account) sums() (epsilon, delta, mu2 *big.Rat) {
	epsilon, delta, mu2 = new(big.Rat), new(big.Rat), new(big.Rat)
	for _, e := range a.Entries {
		epsilon.Add(epsilon, decimal(e.Epsilon))
		delta.Add(delta, decimal(e.Delta))
		mu2.Add(mu2, square(e.Mu))
	}
	return epsilon, delta, mu2
}

// floor returns the largest float64 whose decimal form is not above r ≥ 0.
func floor(r *big.Rat) float64 {
	x, _ := r.Float64()
	for x = math.Min(x, math.MaxFloat64); x > 0 && decimal(x).Cmp(r) > 0; {
		x = math.Nextafter(x, 0)
	}
	return x
}

// above returns a float64 that is at least r ≥ 0, and +Inf beyond the range.
func above(r *big.Rat) float64 {
	x, _ := r.Float64()
	for !math.IsInf(x, 1) && decimal(x).Cmp(r) < 0 {
		x = math.Nextafter(x, math.Inf(1))
	}
	return x
}

// rootFloor returns the largest float64 whose square is not above r ≥ 0.
func rootFloor(r *big.Rat) float64 {
	y, _ := r.Float64()
	x := math.Sqrt(math.Min(y, math.MaxFloat64))
	for x > 0 && square(x).Cmp(r) > 0 {
		x = math.Nextafter(x, 0)
	}
	return x
}

// admit is the filter: it appends an entry to the account, or returns a
// *[LimitError] or *[RuleError] and leaves it as it is. The decision uses the
// release's budget and the entries so far, and nothing else: not the outputs of releases,
// so that a refusal depends on nothing that is private.
func (a *Account) admit(s experiment.Spending, e Entry) error {
	rule := a.Rule
	if rule == "" {
		rule = Basic
		if s.Mu > 0 {
			rule = GDP
		}
	}
	if rule == GDP && s.Mu == 0 {
		// Only a pure guarantee has a μ of its own; see the package comment.
		if s.Delta > 0 {
			return &RuleError{Account: describe(a)}
		}
		mu, err := PureGDP(s.Epsilon)
		if err != nil {
			return err
		}
		e.Mu = float64(mu)
		e.Note = join(e.Note, "pure: mu of epsilon")
	}
	fits, err := a.fits(rule, e)
	if err != nil {
		return err
	}
	if !fits {
		return a.refuse(rule, e)
	}
	a.Rule = rule
	if a.Rows == 0 {
		a.Rows = s.Rows
	}
	a.Entries = append(a.Entries, e)
	return nil
}

// join adds to a note.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// fits reports whether an entry is within the rest of the account. It may be equal to it: an
// account may be spent to the last digit.
func (a *Account) fits(rule Rule, e Entry) (bool, error) {
	epsilon, delta, mu2 := a.sums()
	if rule == Basic {
		// Both at once: neither ε nor δ that is left over stands in for the other.
		epsilon.Add(epsilon, decimal(e.Epsilon))
		delta.Add(delta, decimal(e.Delta))
		return epsilon.Cmp(decimal(a.Limit.Epsilon)) <= 0 && delta.Cmp(decimal(a.Limit.Delta)) <= 0, nil
	}
	m, down, err := ceiling(a.Limit)
	if err != nil {
		return false, err
	}
	// A first release of the very (ε, δ) of the limit is within it by its own
	// guarantee, even where M is rounded down. It leaves nothing for others.
	if len(a.Entries) == 0 && e.Mu <= m && e.Delta > 0 && e.Epsilon <= a.Limit.Epsilon && e.Delta <= a.Limit.Delta {
		return true, nil
	}
	return mu2.Add(mu2, square(e.Mu)).Cmp(square(down)) <= 0, nil
}

// left returns the largest Gaussian release that still fits, at a delta; 0 stands
// for that of the limit. Of sums, ε and δ are the rest of both, δ no more
// than the given one.
func (a *Account) left(rule Rule, delta float64) (Amount, error) {
	epsilons, deltas, mu2 := a.sums()
	if rule == Basic {
		out := Amount{Epsilon: max(0, floor(epsilons.Sub(decimal(a.Limit.Epsilon), epsilons))),
			Delta: max(0, floor(deltas.Sub(decimal(a.Limit.Delta), deltas)))}
		if delta > 0 {
			out.Delta = min(out.Delta, delta)
		}
		if out.Epsilon == 0 || out.Delta == 0 {
			return out, nil
		}
		mu, err := mechanism.GDPFor(out.Epsilon, out.Delta)
		out.Mu = float64(mu)
		return out, err
	}
	if delta == 0 {
		delta = a.Limit.Delta
	}
	m, down, err := ceiling(a.Limit)
	if err != nil {
		return Amount{}, err
	}
	if len(a.Entries) == 0 && delta == a.Limit.Delta {
		return Amount{a.Limit.Epsilon, delta, m}, nil
	}
	rest := square(down)
	if rest.Sub(rest, mu2).Sign() <= 0 {
		return Amount{Delta: delta}, nil
	}
	out := Amount{Delta: delta, Mu: rootFloor(rest)}
	// Down by more than the conversion's error, so that a release calibrated to it
	// does fit.
	epsilon, err := mechanism.GDP(out.Mu).Epsilon(delta)
	out.Epsilon = epsilon * (1 - muSlack)
	return out, err
}

// spent returns the total of the entries: tightly, by the rule of the account, and
// as sums. Of the rule GDP both are guarantees, and with few pure releases the sums
// may be the smaller one; only Σμ² decides.
func (a *Account) spent(rule Rule) (tight, basic Amount, err error) {
	epsilon, delta, mu2 := a.sums()
	basic = Amount{Epsilon: above(epsilon), Delta: above(delta)}
	if rule != GDP || len(a.Entries) == 0 {
		return basic, basic, nil
	}
	mu, _ := mu2.Float64()
	mu = math.Sqrt(mu)
	total, err := mechanism.GDP(mu).Epsilon(a.Limit.Delta)
	return Amount{total, a.Limit.Delta, mu}, basic, err
}

// refuse returns the error of an entry that does not fit.
func (a *Account) refuse(rule Rule, e Entry) error {
	spent, basic, err := a.spent(rule)
	if err != nil {
		return err
	}
	left, err := a.left(rule, e.Delta)
	if err != nil {
		return err
	}
	return &LimitError{
		Account:  describe(a),
		Number:   a.number,
		Name:     a.Name,
		Unit:     a.Unit,
		Rule:     rule,
		Releases: len(a.Entries),
		Limit:    a.Limit,
		Spent:    spent,
		Basic:    basic,
		Asked:    Amount{e.Epsilon, e.Delta, e.Mu},
		Left:     left,
	}
}

// Report is an account for people: its spending, its limit and its rest. Numbers are rounded
// to the nearest, the rest down.
type Report struct {
	Number   int     `json:"number"`
	Account  string  `json:"account"` // SHA-256 of the data, or the budget id
	Label    string  `json:"label,omitempty"`
	Unit     string  `json:"unit"`
	Rows     int     `json:"n,omitempty"`
	Rule     Rule    `json:"rule,omitempty"`
	Releases int     `json:"releases"`
	Spent    Amount  `json:"spent"` // tightly, at the limit's delta
	Basic    Amount  `json:"basic"` // Σε, Σδ
	Limit    Amount  `json:"limit"`
	Left     Amount  `json:"left"` // the largest Gaussian release
	Over     bool    `json:"over"` // more is spent than the limit allows
	Entries  []Entry `json:"entries,omitempty"`
}

// Report describes the account, without its entries.
func (a *Account) Report() (*Report, error) {
	rule := a.Rule
	if rule == "" {
		rule = GDP // nothing is spent, and the limit is left by either rule
	}
	spent, basic, err := a.spent(rule)
	if err != nil {
		return nil, err
	}
	left, err := a.left(rule, 0)
	if err != nil {
		return nil, err
	}
	m, _, err := ceiling(a.Limit)
	if err != nil {
		return nil, err
	}
	r := &Report{Number: a.number, Account: a.id(), Label: a.Label, Unit: a.Unit, Rows: a.Rows, Rule: a.Rule,
		Releases: len(a.Entries), Spent: spent, Basic: basic, Limit: Amount{a.Limit.Epsilon, a.Limit.Delta, 0},
		Left: left}
	if a.Rule == Basic {
		r.Over = spent.Epsilon > a.Limit.Epsilon || spent.Delta > a.Limit.Delta
	} else {
		r.Limit.Mu = m
		r.Over = spent.Mu > m
	}
	return r, nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Shown writes x with up to 4 digits.
func Shown(x float64) string { return fmt.Sprintf("%.4g", x) }

// ShownDown is Shown for the rest of an account: never more than x.
func ShownDown(x float64) string {
	text := Shown(x)
	if y, err := strconv.ParseFloat(text, 64); err != nil || y <= x || x <= 0 {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-3) // of the fourth digit
	return Shown(math.Floor(x/unit) * unit)
}
