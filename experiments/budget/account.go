package budget

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"privkern/experiments/budget/sketch"
	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
)

// Limit is the (ε, δ) that all releases of an account stay within together. It is
// a person's choice and may be changed at any time: totals are kept, and the rest
// follows from both.
type Limit struct {
	Epsilon float64 `json:"epsilon"`
	// Delta of the default limit may be 0: then that of an account is [AutoDelta].
	Delta float64 `json:"delta,omitempty"`
}

// DefaultEpsilon is the limit of a new account where the ledger has no other: the
// weaker end of the formal guarantees (Ponomareva et al., "How to
// DP-fy ML: a practical guide to machine learning with differential privacy", JAIR
// 77, 2023, Section 5.2, tier 2).
const DefaultEpsilon = 10

// AutoDelta returns the δ of the limit of a new account of n rows or persons: min(1e-6, 0.01/n).
// With a δ of 1/n, publishing one of them that is drawn at random would satisfy the guarantee;
// this allows it with a chance of a hundredth, and with one in a million for few.
func AutoDelta(n int) float64 { return min(1e-6, 0.01/float64(n)) }

// Bounds of limits: within them M is computed to 2e-10 (compared with 400 digits),
// which [muSlack] covers.
const (
	minEpsilon, maxEpsilon = 1e-6, 1e6
	minDelta, maxDelta     = 1e-100, 0.99
)

// CheckEpsilon refuses numbers that are no ε of a limit.
func CheckEpsilon(epsilon float64) error {
	if !(epsilon >= minEpsilon && epsilon <= maxEpsilon) {
		return fmt.Errorf("a number from %v to %v is required", minEpsilon, maxEpsilon)
	}
	return nil
}

// CheckDelta refuses numbers that are no δ of a limit.
func CheckDelta(delta float64) error {
	if !(delta >= minDelta && delta <= maxDelta) {
		return fmt.Errorf("a number from %g to %g is required", minDelta, maxDelta)
	}
	return nil
}

func (l Limit) check() error {
	if err := CheckEpsilon(l.Epsilon); err != nil {
		return fmt.Errorf("the epsilon %s of a limit: %w", number(l.Epsilon), err)
	}
	if err := CheckDelta(l.Delta); err != nil {
		return fmt.Errorf("the delta %s of a limit: %w", number(l.Delta), err)
	}
	return nil
}

// Entry is one booking.
type Entry struct {
	Time       string `json:"time"` // by the clock of the machine, for people
	Experiment string `json:"experiment"`
	// Epsilon and Delta are the guarantee that the release states.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	loss.Booked
	// Found is how the data were recognised: "path", "persons", "sketch", "bytes" or "name"; or
	// "opened" where they were not.
	Found string `json:"found,omitempty"`
	Note  string `json:"note,omitempty"`
}

// Account holds the releases of some data at one unit of protection. No two accounts of a source have
// the same unit. Entries are only ever added.
type Account struct {
	Number  int     `json:"number"` // from 1, by which people name it
	Source  int     `json:"source"` // the ID of the people behind it
	Unit    string  `json:"unit"`
	Rows    int     `json:"n,omitempty"` // of the last booking; 0 before the first
	Limit   Limit   `json:"limit"`
	Entries []Entry `json:"entries"`
	// Published are the releases after which a part of what the account protects is public: they
	// have spent without bound.
	Published []Publication `json:"published,omitempty"`

	source *Source
}

// Publication is a release that publishes the inputs or the outputs of all rows as they are.
type Publication struct {
	Time       string `json:"time"`
	Experiment string `json:"experiment"`
	Part       string `json:"part"` // [experiment.UnitInputs] or [experiment.UnitOutput]
}

// describe names the account without a word that depends on the data.
func describe(a *Account) string {
	text := "the account of these data"
	if a.Number > 0 {
		text = fmt.Sprintf("account %d", a.Number)
	}
	if len(a.source.Names) > 0 {
		text += fmt.Sprintf(" (%s)", a.source.Names[0])
	}
	return text + ", unit " + a.Unit
}

// check refuses an account that no version of the program writes. The digest of
// the file recognises accidents; this guards the arithmetic against everything
// else, since a NaN or a negative entry would give budget back.
func (a *Account) check() error {
	switch {
	case a.Number < 1:
		return fmt.Errorf("its number is %d", a.Number)
	case !slices.Contains(experiment.Units(), a.Unit):
		return fmt.Errorf("its unit is %q", a.Unit)
	case a.Rows < 0 || a.Rows == 0 && len(a.Entries) > 0:
		return fmt.Errorf("its n is %d", a.Rows)
	}
	if err := a.Limit.check(); err != nil {
		return err
	}
	for i, e := range a.Entries {
		if err := e.check(); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	for i, p := range a.Published {
		if !slices.Contains(rowParts, p.Part) || !printable(p.Time) || !printable(p.Experiment) {
			return fmt.Errorf("publication %d is of %q", i+1, p.Part)
		}
	}
	return nil
}

func (e Entry) check() error {
	if err := checkGuarantee(e.Epsilon, e.Delta); err != nil {
		return err
	}
	for _, amount := range []struct {
		name         string
		value, delta float64
	}{{"pure", e.Pure, 0}, {"mu", e.Mu, e.MuDelta}, {"rho", e.Rho, 0}} {
		if !(amount.value >= 0 && amount.value <= maxAmount) {
			return fmt.Errorf("%s is %s; a number from 0 to %g is required", amount.name, number(amount.value), maxAmount)
		}
		if !(amount.delta >= 0 && amount.delta < 1) {
			return fmt.Errorf("%s_delta is %s; a number from 0 and below 1 is required", amount.name, number(amount.delta))
		}
	}
	for _, text := range []string{e.Time, e.Experiment, e.Found, e.Note} {
		if !printable(text) {
			return fmt.Errorf("%q is not printable", text)
		}
	}
	return nil
}

// maxAmount bounds ε, μ and ρ of a release: larger ones protect nothing, and sums
// stay finite.
const maxAmount = 1e100

// checkGuarantee refuses numbers that are no guarantee. NaN fails every comparison.
func checkGuarantee(epsilon, delta float64) error {
	switch {
	case !(epsilon > 0 && epsilon <= maxAmount):
		return fmt.Errorf("epsilon is %s; a positive number up to %g is required", number(epsilon), maxAmount)
	case !(delta >= 0 && delta < 1):
		return fmt.Errorf("delta is %s; a number from 0 and below 1 is required", number(delta))
	}
	return nil
}

// Bounds of names. They leave no word that could mean two things to [State.Find].
const (
	maxName = 100 // bytes
	// defaultName stands for the limit of new accounts.
	defaultName = "default"
)

func isDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// CheckName refuses a name of an account that shells, people or [State.Find] could take
// for something else.
func CheckName(name string) error {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+:@/", r)
	}
	switch {
	case name == "":
		return fmt.Errorf("the name of an account must not be empty")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd):
		return fmt.Errorf("the name %q has other characters than letters, digits and . _ - + : @ /", name)
	}
	return checkWord("name", name)
}

// CheckLabel refuses a label that could be taken for something else. Unlike a
// name it may have spaces and signs.
func CheckLabel(label string) error {
	if strings.TrimSpace(label) != label || label == "" || !printable(label) {
		return fmt.Errorf("the label %q is empty, begins or ends with a space, or is not printable", label)
	}
	return checkWord("label", label)
}

func checkWord(what, word string) error {
	switch {
	case len(word) > maxName:
		return fmt.Errorf("the %s is longer than %d bytes", what, maxName)
	case strings.HasPrefix(word, "-"):
		return fmt.Errorf("the %s %q begins with a -, as flags do", what, word)
	case strings.EqualFold(word, defaultName):
		return fmt.Errorf("the %s %q stands for the limit of new accounts; choose another", what, word)
	case strings.Trim(word, "0123456789") == "":
		return fmt.Errorf("the %s %q could be the number of an account; add a letter", what, word)
	case strings.HasPrefix(word, dataPrefix):
		return fmt.Errorf("the %s %q could stand for data without a name; choose another", what, word)
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// State is the content of a ledger at one moment. It is a copy: changing it changes
// nothing in the file.
type State struct {
	Key      sketch.Key // of all HMACs; zero before the first booking
	Default  *Limit     // of new accounts; nil for DefaultEpsilon and AutoDelta
	Sources  []*Source
	Accounts []*Account // in the order in which they were opened
}

// check refuses a state that no version of the program writes, and joins accounts and sources.
func (s *State) check() error {
	if s.Default != nil {
		d := *s.Default
		if d.Delta == 0 {
			d.Delta = maxDelta
		}
		if err := d.check(); err != nil {
			return err
		}
	}
	sources := map[int]*Source{}
	for i, source := range s.Sources {
		if source == nil {
			return fmt.Errorf("source %d is null", i+1)
		}
		if err := source.check(); err != nil {
			return fmt.Errorf("source %d: %w", i+1, err)
		}
		if sources[source.ID] != nil {
			return fmt.Errorf("source %d is there twice", source.ID)
		}
		sources[source.ID] = source
		for _, other := range s.Sources[:i] {
			if word := source.clash(other); word != "" {
				return fmt.Errorf("two sources have the name or label %q", word)
			}
		}
	}
	for i, a := range s.Accounts {
		if a == nil {
			return fmt.Errorf("account %d is null", i+1)
		}
		if err := a.check(); err != nil {
			return fmt.Errorf("account %d: %w", i+1, err)
		}
		if a.source = sources[a.Source]; a.source == nil {
			return fmt.Errorf("account %d is of source %d, which is not there", i+1, a.Source)
		}
		for _, b := range s.Accounts[:i] {
			if a.Number == b.Number || a.source == b.source && a.Unit == b.Unit {
				return fmt.Errorf("account %d is there twice", a.Number)
			}
		}
	}
	return nil
}

// clash returns a word that names both sources; "" for none.
func (s *Source) clash(other *Source) string {
	for _, word := range append(s.Names, s.Label) {
		if word != "" && (slices.Contains(other.Names, word) || other.Label == word) {
			return word
		}
	}
	return ""
}

// account returns the account of a source and a unit, or nil.
func (s *State) account(source *Source, unit string) *Account {
	for _, a := range s.Accounts {
		if a.source == source && a.Unit == unit {
			return a
		}
	}
	return nil
}

// add opens an account of a source. Numbers are never given twice, as long as the last is there.
func (s *State) add(a *Account, source *Source) *Account {
	a.source, a.Source = source, source.ID
	for _, b := range s.Accounts {
		a.Number = max(a.Number, b.Number)
	}
	a.Number++
	s.Accounts = append(s.Accounts, a)
	return a
}

// limit returns that of a new account of n rows or persons.
func (s *State) limit(n int) Limit {
	l := s.NewLimit()
	if l.Delta == 0 {
		l.Delta = AutoDelta(n)
	}
	return l
}

// NewLimit returns the limit of new accounts; its Delta is 0 for [AutoDelta].
func (s *State) NewLimit() Limit {
	if s.Default != nil {
		return *s.Default
	}
	return Limit{Epsilon: DefaultEpsilon}
}

// Find returns the accounts, one for each unit, that a word names: a number of an
// account, which names it alone, a name, data-N for data without one, or a label. An error is an
// *[experiment.UnknownError].
func (s *State) Find(word string) ([]*Account, error) {
	// In this order, so that no name that somebody chose hides a number.
	for _, fits := range []func(*Account) bool{
		func(a *Account) bool { return fmt.Sprint(a.Number) == word },
		func(a *Account) bool { return word != "" && a.source.is(word) },
	} {
		var found []*Account
		for _, a := range s.Accounts {
			if fits(a) {
				found = append(found, a)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, experiment.Unknown("account", word, s.Words())
}

// Choose returns the accounts that a word names as [State.Find] does, or with a unit the
// one of that unit. Where there is none of it the error is an *[ArgumentError].
func (s *State) Choose(word, unit string) ([]*Account, error) {
	found, err := s.Find(word)
	if err != nil || unit == "" {
		return found, err
	}
	for _, a := range found {
		if a.Unit == unit {
			return []*Account{a}, nil
		}
	}
	return nil, mistake("%q has no account of unit %s, only of %s", word, unit, unitsOf(found))
}

// Words returns the words that name accounts: numbers, names and labels.
func (s *State) Words() []string {
	var words []string
	for _, a := range s.Accounts {
		words = append(words, fmt.Sprint(a.Number))
	}
	for _, source := range s.Sources {
		words = append(words, source.String())
		if source.Label != "" {
			words = append(words, source.Label)
		}
	}
	return words
}
