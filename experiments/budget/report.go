package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/mechanism"
)

// Amount is privacy that is spent, asked for or left. An ε of +Inf is bounded by no filter.
type Amount struct {
	Epsilon float64
	Delta   float64
	Mu      float64 // 0 where it has none
}

// MarshalJSON writes an ε of +Inf as null, because JSON has no infinity.
func (a Amount) MarshalJSON() ([]byte, error) {
	out := struct {
		Epsilon *float64 `json:"epsilon"`
		Delta   float64  `json:"delta"`
		Mu      float64  `json:"mu,omitempty"`
	}{&a.Epsilon, a.Delta, a.Mu}
	if math.IsInf(a.Epsilon, 1) {
		out.Epsilon = nil
	}
	return json.Marshal(out)
}

// spent returns the smallest ε, at the δ of the limit, of a limit that admits the entries, and the
// name of the filter that does, "" for the guarantee of a single release.
func (a *Account) spent(entries []Entry) (Amount, string) {
	out, name := Amount{Epsilon: math.Inf(1), Delta: a.Limit.Delta}, ""
	if len(entries) == 1 && entries[0].Delta <= a.Limit.Delta {
		out.Epsilon = entries[0].Epsilon
	}
	for _, f := range filters() {
		if epsilon := f.epsilon(entries, a.Limit); epsilon < out.Epsilon {
			out.Epsilon, name = epsilon, f.name
		}
	}
	return out, name
}

// left returns the largest Gaussian release that is admitted, at the δ of the limit, and the
// largest ε of a pure one.
func (a *Account) left() (gaussian Amount, pure float64, err error) {
	gaussian.Delta = a.Limit.Delta
	if len(a.Entries) == 0 { // a release of the limit itself
		mu, err := mechanism.GDPFor(a.Limit.Epsilon, a.Limit.Delta)
		return Amount{a.Limit.Epsilon, a.Limit.Delta, float64(mu)}, a.Limit.Epsilon, err
	}
	for _, f := range filters() {
		m, p, err := f.left(a.Entries, a.Limit)
		if err != nil {
			return gaussian, 0, err
		}
		gaussian.Mu, pure = max(gaussian.Mu, m), max(pure, p)
	}
	if gaussian.Mu > 0 {
		gaussian.Epsilon, err = mechanism.GDP(gaussian.Mu).Epsilon(gaussian.Delta)
		// Down by more than the conversion's error, so that a release calibrated to it fits.
		gaussian.Epsilon *= 1 - muSlack
	}
	return gaussian, pure, err
}

// refuse returns the error of an entry that does not fit.
func (a *Account) refuse(e Entry) error {
	left, pure, err := a.left()
	if err != nil {
		return err
	}
	spent, _ := a.spent(a.Entries)
	alone, _ := a.spent([]Entry{e})
	return &LimitError{
		Account:  describe(a),
		Number:   a.Number,
		Name:     strings.Join(a.source.Names[:min(1, len(a.source.Names))], ""),
		Unit:     a.Unit,
		Releases: len(a.Entries),
		Limit:    a.Limit,
		Spent:    spent,
		Asked:    Amount{Epsilon: e.Epsilon, Delta: e.Delta},
		Alone:    alone,
		Left:     left,
		LeftPure: pure,
	}
}

// Report is an account for people: its spending, its limit and its rest, all at the δ of the
// limit. Numbers are rounded to the nearest, the rest down.
type Report struct {
	Number   int     `json:"number"`
	Account  string  `json:"account"` // its name, or data-N
	Label    string  `json:"label,omitempty"`
	Unit     string  `json:"unit"`
	Rows     int     `json:"n,omitempty"`
	Releases int     `json:"releases"`
	Spent    Amount  `json:"spent"`
	Filter   string  `json:"filter,omitempty"` // that shows what is spent
	Limit    Amount  `json:"limit"`
	Left     Amount  `json:"left"`      // the largest Gaussian release
	LeftPure float64 `json:"left_pure"` // the largest pure ε
	Over     bool    `json:"over"`      // more is spent than the limit allows
	// Published are the parts that releases have published as they were: what the account protects
	// of them is spent without bound.
	Published []string `json:"published,omitempty"`
	// Known and Entries are in the report of [Account.Details] alone.
	Known   *Known  `json:"known,omitempty"`
	Entries []Entry `json:"entries,omitempty"`
}

// Report describes the account, without its entries.
func (a *Account) Report() (*Report, error) {
	left, pure, err := a.left()
	if err != nil {
		return nil, err
	}
	within := len(a.Entries) == 0
	if !within {
		if within, err = a.admits(a.Entries); err != nil {
			return nil, err
		}
	}
	r := &Report{Number: a.Number, Account: a.source.String(), Label: a.source.Label, Unit: a.Unit, Rows: a.Rows,
		Releases: len(a.Entries), Limit: Amount{Epsilon: a.Limit.Epsilon, Delta: a.Limit.Delta},
		Left: left, LeftPure: pure, Over: !within}
	if len(a.Entries) > 0 {
		r.Spent, r.Filter = a.spent(a.Entries)
	} else {
		r.Spent.Delta = a.Limit.Delta
	}
	for _, p := range a.Published {
		if !slices.Contains(r.Published, p.Part) {
			r.Published = append(r.Published, p.Part)
		}
	}
	if a.exhausted() {
		r.Spent, r.Filter = Amount{Epsilon: math.Inf(1), Delta: a.Limit.Delta}, ""
		r.Left, r.LeftPure = Amount{Delta: a.Limit.Delta}, 0
	}
	return r, nil
}

// Known counts the forms in which the ledger has met the data of an account.
type Known struct {
	Places    int           `json:"places"`   // paths of files, and names of data sets
	Sketches  int           `json:"sketches"` // of rows and columns that are kept
	Persons   int           `json:"persons"`
	Bytes     int           `json:"bytes"` // digests of columns that were used
	Exports   int           `json:"exports"`
	Apart     []Apart       `json:"apart,omitempty"` // what --new-people declared
	Published []Publication `json:"published,omitempty"`
}

func (k *Known) String() string {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{{k.Places, "path", "paths"}, {k.Sketches, "sketch", "sketches"}, {k.Persons, "person", "persons"},
		{k.Bytes, "digest", "digests"}, {k.Exports, "export", "exports"}} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.one)
		case c.n > 1:
			parts = append(parts, fmt.Sprint(c.n, " ", c.many))
		}
	}
	if len(parts) == 0 {
		return "its name alone"
	}
	return strings.Join(parts, ", ")
}

// Details describes the account with its entries.
func (a *Account) Details() (*Report, error) {
	r, err := a.Report()
	if err == nil {
		s := a.source
		r.Entries, r.Known = a.Entries, &Known{Places: len(s.Places), Sketches: len(s.Sketches), Persons: len(s.Persons),
			Bytes: len(s.Bytes), Exports: len(s.Exports), Apart: s.Apart, Published: a.Published}
	}
	return r, err
}

// Shown writes x with up to 4 digits.
func Shown(x float64) string {
	if math.IsInf(x, 1) {
		return "unbounded"
	}
	return fmt.Sprintf("%.4g", x)
}

// ShownDown is Shown for the rest of an account: never more than x.
func ShownDown(x float64) string {
	text := Shown(x)
	if y, err := strconv.ParseFloat(text, 64); err != nil || y <= x || x <= 0 {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-3) // of the fourth digit
	return Shown(math.Floor(x/unit) * unit)
}
