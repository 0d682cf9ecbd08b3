package budget

import (
	"math"
	"math/big"

	"privkern/experiments/mechanism"
	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
)

// filter adds up one number of every entry, and admits releases while the sum is within a limit.
// The package comment has its proof.
type filter struct {
	name string
	// share and outside are parts, of [parts], of the δ of the limit: for the conversion to
	// (ε, δ), and for the sum of the δ₀ of the entries. One without the latter adds up numbers that
	// have none.
	share, outside int64
}

// The names of the filters.
const (
	pureFilter     = "pure"     // Σε
	gaussianFilter = "gaussian" // Σμ²
	zcdpFilter     = "zcdp"     // Σρ
)

// parts divide the δ of a limit among the filters. Most of it goes to the Gaussian one, because
// most releases are Gaussian: with its 16 parts a limit of (10, 1e-6) admits 1.4 % less μ² than
// with all of δ. With 3 parts the zCDP filter admits 82 % of that ρ = μ²/2, and mechanisms that
// are booked one by one need only 64 % of it.
const parts = 20

func filters() []filter {
	return []filter{{pureFilter, 0, 0}, {gaussianFilter, 16, 1}, {zcdpFilter, 3, 0}}
}

// part returns n parts of the δ of a limit.
func part(l Limit, n int64) *big.Rat {
	return new(big.Rat).Mul(loss.Decimal(l.Delta), big.NewRat(n, parts))
}

// muSlack is the part by which the M of a limit is rounded down. Within the
// bounds of limits it is computed to 2e-10.
const muSlack = 1e-9

// total is a sum over entries: of their ε, μ² or ρ, and of the δ₀ outside of it.
type total struct {
	amount, outside *big.Rat
	unbounded       bool // an entry has no such number
}

// total adds up entries, exactly. Sums are taken anew from the entries each time: a running total
// in the file could disagree with them.
func (f filter) total(entries []Entry) total {
	t := total{amount: new(big.Rat), outside: new(big.Rat)}
	for _, e := range entries {
		switch {
		case f.name == pureFilter && e.Pure > 0:
			t.amount.Add(t.amount, loss.Decimal(e.Pure))
		case f.name == gaussianFilter && e.Mu > 0:
			t.amount.Add(t.amount, square(e.Mu))
			t.outside.Add(t.outside, binary(e.MuDelta))
		case f.name == zcdpFilter && e.Rho > 0:
			t.amount.Add(t.amount, binary(e.Rho))
		default:
			t.unbounded = true
		}
	}
	return t
}

// counts reports whether the filter may add up a sum: each entry has its number, and the δ₀
// are within their part of the limit's δ.
func (f filter) counts(t total, l Limit) bool {
	return !t.unbounded && t.outside.Cmp(part(l, f.outside)) <= 0
}

// ceiling returns the largest sum that a limit allows, rounded down.
func (f filter) ceiling(l Limit) (*big.Rat, error) {
	switch delta := floor(part(l, f.share)); f.name {
	case gaussianFilter:
		mu, err := mechanism.GDPFor(l.Epsilon, delta)
		return square(float64(mu) * (1 - muSlack)), err
	case zcdpFilter:
		rho, err := mechanism.ZCDPFor(l.Epsilon, delta)
		return binary(float64(rho)), err
	}
	return loss.Decimal(l.Epsilon), nil
}

// rest returns how much of a limit the entries leave: negative where they exceed it, nil where the
// filter does not count them. A first release that is pure counts by its number or, where that
// leaves more, by its ε, which the limit is smaller by.
func (f filter) rest(entries []Entry, l Limit) (*big.Rat, error) {
	t := f.total(entries)
	if !f.counts(t, l) {
		return nil, nil //nolint:nilnil // no rest is no error
	}
	most, err := f.ceiling(l)
	if err != nil {
		return nil, err
	}
	rest := most.Sub(most, t.amount)
	if first, others := f.first(entries); others != nil {
		l.Epsilon = floor(first.Sub(loss.Decimal(l.Epsilon), first))
		if l.Epsilon >= minEpsilon {
			most, err := f.ceiling(l)
			if err != nil {
				return nil, err
			}
			if most.Sub(most, others).Cmp(rest) > 0 {
				rest = most
			}
		}
	}
	return rest, nil
}

// first returns the ε of a first release that is pure, and the sum over the others; nil where it is
// not pure, or where the filter adds up ε itself.
func (f filter) first(entries []Entry) (epsilon, others *big.Rat) {
	if f.name == pureFilter || len(entries) == 0 || entries[0].Pure == 0 {
		return nil, nil
	}
	return loss.Decimal(entries[0].Pure), f.total(entries[1:]).amount
}

// epsilon returns the smallest ε of a limit that admits the entries, with the δ of this one: +Inf
// where the filter does not count them.
func (f filter) epsilon(entries []Entry, l Limit) float64 {
	t := f.total(entries)
	if !f.counts(t, l) {
		return math.Inf(1)
	}
	epsilon := f.convert(t.amount, l)
	if first, others := f.first(entries); others != nil {
		epsilon = min(epsilon, loss.Above(first)+f.convert(others, l))
	}
	return epsilon
}

// convert returns the ε of a sum, at the filter's share of the δ of a limit.
func (f filter) convert(sum *big.Rat, l Limit) float64 {
	amount := loss.Above(sum)
	if amount == 0 || f.name == pureFilter {
		return amount
	}
	var epsilon float64
	var err error
	if delta := floor(part(l, f.share)); f.name == gaussianFilter {
		epsilon, err = mechanism.GDP(math.Sqrt(amount)).Epsilon(delta)
	} else {
		epsilon, err = mechanism.ZCDP(amount).Epsilon(delta)
	}
	if err != nil { // beyond double precision, and so beyond every limit
		return math.Inf(1)
	}
	return epsilon
}

// left returns the largest μ of Gaussian noise and the largest ε of a pure release that the filter
// admits after the entries; 0 for none.
func (f filter) left(entries []Entry, l Limit) (mu, pure float64, err error) {
	rest, err := f.rest(entries, l)
	if err != nil || rest == nil || rest.Sign() <= 0 {
		return 0, 0, err
	}
	switch f.name {
	case gaussianFilter:
		mu = rootFloor(rest)
		pure = pureFor(l.Epsilon, func(b loss.Booked) bool { return b.Mu <= mu })
	case zcdpFilter:
		rho := floor(rest) * (1 - 0x1p-50)    // below rest as a binary number, too
		mu = math.Sqrt(2*rho) * (1 - 0x1p-50) // so that μ²/2, rounded up, is not above ρ
		pure = pureFor(l.Epsilon, func(b loss.Booked) bool { return b.Rho <= rho })
	default:
		pure = floor(rest)
	}
	return mu, pure, nil
}

// pureFor returns the largest ε up to most of which fits is true of a release that is known to be
// ε-differentially private and nothing else.
func pureFor(most float64, fits func(loss.Booked) bool) float64 {
	low, high := uint64(0), math.Float64bits(most)+1
	for high-low > 1 {
		mid := low + (high-low)/2
		if b, err := loss.Stated(math.Float64frombits(mid), 0); err == nil && fits(b) {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Float64frombits(low)
}

// outsideShare is the share of what is left of the δ₀ of a filter that one release may book, so
// that it never runs out.
const outsideShare = 0.125

// entry returns the booking of a release in the account.
func (a *Account) entry(s experiment.Spending) (Entry, error) {
	e := Entry{Experiment: s.Experiment, Epsilon: s.Epsilon, Delta: s.Delta}
	room := math.Inf(1)
	for _, f := range filters() {
		if f.outside > 0 {
			rest := part(a.Limit, f.outside)
			rest.Sub(rest, f.total(a.Entries).outside)
			room = min(room, floor(rest))
		}
	}
	var err error
	if s.Losses == nil { // its guarantee is all that is known
		e.Booked, err = loss.Stated(s.Epsilon, s.Delta)
	} else {
		e.Booked, err = loss.Book(s.Losses, outsideShare*max(0, room))
	}
	if err == nil {
		err = e.check()
	}
	return e, err
}

// admit is the rule: it appends an entry to the account, or returns a *[LimitError] and leaves it
// as it is. The decision uses what the entries book, and nothing else: not the outputs of
// releases, so that a refusal depends on nothing that is private.
func (a *Account) admit(e Entry) error {
	entries := append(a.Entries[:len(a.Entries):len(a.Entries)], e)
	fits, err := a.admits(entries)
	if err != nil {
		return err
	}
	if !fits {
		return a.refuse(e)
	}
	a.Entries = entries
	return nil
}

// admits reports whether a sequence of entries is within the limit of the account: a filter admits
// the whole of it, or it is one release whose own guarantee is within the limit.
func (a *Account) admits(entries []Entry) (bool, error) {
	if len(entries) == 1 && entries[0].alone(a.Limit) {
		return true, nil
	}
	for _, f := range filters() {
		if rest, err := f.rest(entries, a.Limit); err != nil || rest != nil && rest.Sign() >= 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// alone reports whether the guarantee of one release is within a limit. That of Gaussian noise must
// be one that its μ has.
func (e Entry) alone(l Limit) bool {
	if e.Epsilon > l.Epsilon || e.Delta > l.Delta {
		return false
	}
	if e.Pure > 0 || e.Mu == 0 || e.MuDelta > 0 {
		return true
	}
	mu, err := mechanism.GDPFor(l.Epsilon, l.Delta)
	return err == nil && e.Mu <= float64(mu)
}
