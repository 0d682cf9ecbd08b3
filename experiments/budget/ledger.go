package budget

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privkern/experiments/budget/sketch"
	"privkern/runner/experiment"
	"privkern/runner/store/disk"
)

// Ledger is the file of budgets at a path. It is safe for concurrent use, by
// goroutines and by processes.
type Ledger struct {
	disk   disk.Disk
	path   string
	chosen bool             // the path is not the default one
	now    func() time.Time // for the times of entries only
	wait   time.Duration    // for the lock
}

// DefaultPath returns the path of the ledger in the folder of the user's configuration.
func DefaultPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("the folder of the budget ledger is not known (%w); give a file with --budget-file",
			err)
	}
	return filepath.Join(dir, "privkern", "budget.json"), nil
}

// Open returns the ledger at a path, or at [DefaultPath] for "". It reads and makes
// nothing. A symbolic link is followed once, so that all names of a ledger have one
// lock, and a change replaces the file and not the link.
func Open(path string) (*Ledger, error) {
	l := &Ledger{disk: disk.System, path: path, chosen: path != "", now: time.Now, wait: lockTimeout}
	if path == "" {
		var err error
		if l.path, err = DefaultPath(); err != nil {
			return nil, err
		}
	}
	for _, suffix := range []string{previousSuffix, lockSuffix} {
		if strings.HasSuffix(l.path, suffix) {
			return nil, l.problem("has a name that ends with "+suffix, nil,
				"files beside ledgers have such names; give the ledger itself")
		}
	}
	if info, err := os.Lstat(l.path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return l, nil //nolint:nilerr // reading returns the error, or that there is none
	}
	target, err := filepath.EvalSymlinks(l.path)
	if err != nil {
		return nil, l.problem("is a link that leads nowhere", err,
			"correct the link, or give another file with --budget-file")
	}
	l.path = target
	return l, nil
}

// Path returns where the ledger is, or would be.
func (l *Ledger) Path() string { return l.path }

// Read returns the content of the ledger, or [ErrNone] where there is none yet. It
// takes no lock: the file is replaced as a whole.
func (l *Ledger) Read() (*State, error) {
	s, _, err := l.read()
	return s, err
}

// Check returns the error that [Ledger.Book] would return for every release: of a
// ledger that cannot be locked, read or written. It books nothing.
func (l *Ledger) Check() error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err = l.present(); err != nil {
		return err
	}
	probe, err := disk.CreateTemp(l.disk, l.path)
	if err != nil {
		return l.problem("cannot be written", err,
			"check that its folder can be written, or give another file with --budget-file")
	}
	return errors.Join(probe.Close(), l.disk.Remove(probe.Name()))
}

// update changes the ledger under its lock, which is held from reading to writing:
// of two processes the second sees the bookings of the first. Where change returns an error
// the file stays as it is.
func (l *Ledger) update(change func(*State) error) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, old, err := l.present()
	if err != nil {
		return err
	}
	s.secure()
	if err := change(s); err != nil {
		return err
	}
	return l.write(s, old)
}

// Booking reports a release in one account, for the operator's eyes.
type Booking struct {
	*Report
	Found string // how the data were recognised; "opened" for a new account
}

// Book writes a release of data into the accounts of all its units, durably, or into none: those of
// every source that knows the data, or is named. An account that is not there is opened with the
// default limit. The data are read before the ledger is locked.
//
// An error means that nothing may be released. Where the release does not fit it is a *[LimitError],
// where nothing is left to protect a *[PublishedError], for a new name of data that are known a
// *[KnownError], where the ledger cannot be used a *[FileError]. After nil the release has spent,
// even if it fails later.
func (l *Ledger) Book(s experiment.Spending, d Data, r Request) ([]Booking, error) {
	if err := checkSpending(s); err != nil {
		return nil, fmt.Errorf("this release cannot be booked: %w", err)
	}
	var out []Booking
	err := l.identify(d, func(state *State, d *seen) (err error) {
		out, err = state.book(s, d, r, l.now())
		return err
	})
	var limit *LimitError
	if errors.As(err, &limit) && l.chosen {
		limit.File = l.path
	}
	if err != nil {
		return nil, fmt.Errorf("nothing is released: %w", err)
	}
	return out, nil
}

// identify changes the ledger with data as they look under its key.
func (l *Ledger) identify(d Data, change func(*State, *seen) error) error {
	for {
		key, err := l.key()
		if err != nil {
			return err
		}
		at, err := d.under(key)
		if err != nil {
			return err
		}
		err = l.update(func(s *State) error {
			if s.Key != key {
				return errOtherKey
			}
			return change(s, at)
		})
		if !errors.Is(err, errOtherKey) {
			return err
		}
	}
}

// errOtherKey is the error where a ledger was replaced by another while data were read.
var errOtherKey = errors.New("the ledger has another key")

// key returns the key of the ledger. Without one it makes the ledger, or writes it in the present
// schema.
func (l *Ledger) key() (key sketch.Key, err error) {
	if s, err := l.Read(); err == nil && s.Key != (sketch.Key{}) {
		return s.Key, nil
	}
	err = l.update(func(s *State) error {
		key = s.Key
		return nil
	})
	return key, err
}

// checkSpending refuses values that no release spends. Its errors show no digest.
func checkSpending(s experiment.Spending) error {
	if !isDigest(s.Data) || s.Row != "" && !isDigest(s.Row) {
		return errors.New("its data have no SHA-256") // which is private and not shown
	}
	for _, p := range s.Publishes {
		if !slices.Contains(rowParts, p) || slices.Contains(s.Units, p) {
			return fmt.Errorf("it publishes %q, and protects %s", p, strings.Join(s.Units, ", "))
		}
	}
	if s.Rows < 1 {
		return fmt.Errorf("n is %d; at least one row is required", s.Rows)
	}
	if len(s.Units) == 0 {
		return errors.New("it names no unit of protection")
	}
	for i, u := range s.Units {
		if !slices.Contains(experiment.Units(), u) {
			return experiment.Unknown("unit of protection", u, experiment.Units())
		}
		if slices.Contains(s.Units[:i], u) {
			return fmt.Errorf("it names the unit %s twice", u)
		}
	}
	if !printable(s.Experiment) {
		return fmt.Errorf("the name %q of the experiment is not printable", s.Experiment)
	}
	return checkGuarantee(s.Epsilon, s.Delta)
}

// rowParts are the units of a part of a row that a release may publish as it is.
var rowParts = []string{experiment.UnitInputs, experiment.UnitOutput}

// book adds the release to the state: to the account of the unit that its guarantee
// names, and to those of the finer units that it protects as well, since whoever
// may replace a row may replace its output or its inputs. After an error the state is of no use,
// and is not written.
func (s *State) book(spending experiment.Spending, d *seen, r Request, now time.Time) ([]Booking, error) {
	// A text, since a clock may be in a year that a time in JSON cannot have.
	time := now.UTC().Format(time.RFC3339)
	sources, err := s.find(d, []string{spending.Data, spending.Row}, r, time)
	if err != nil {
		return nil, err
	}
	var out []Booking
	for _, source := range sources {
		if source.learnsWith(sources) {
			source.learn(d)
			source.Bytes = union(source.Bytes, s.digests(spending.Data, spending.Row))
		}
		if err := s.checkPublished(source.Source, spending); err != nil {
			return nil, err
		}
		for i, unit := range spending.Units {
			a := s.accountOf(source.Source, unit, spending.Rows)
			e, err := a.entry(spending)
			if err != nil {
				return nil, err
			}
			e.Time, e.Found = time, source.how
			if a.Number == 0 {
				e.Found = Opened
			}
			if i > 0 {
				e.Note = "protects unit " + spending.Units[0]
			}
			if err := a.admit(e); err != nil {
				return nil, err
			}
			// Data may grow, and rows are no fewer than their persons. The limit, with its δ, stays.
			n := spending.Rows
			if i > 0 && spending.Units[0] == experiment.UnitPerson {
				n = max(n, a.Rows)
			}
			a.Rows = n
			if a.Number == 0 {
				s.add(a, source.Source)
			}
			report, err := a.Report()
			if err != nil {
				return nil, err
			}
			out = append(out, Booking{report, e.Found})
		}
		s.publish(source.Source, spending, time)
	}
	if err := s.publishPoints(spending, d, sources, time); err != nil {
		return nil, err
	}
	return out, s.check()
}

// publishPoints books the inputs of the points of a release as published on every source that knows
// them: points are public by the operator's word, which does not hold for rows that have an account. The release
// itself is booked on the charged sources already.
func (s *State) publishPoints(spending experiment.Spending, d *seen, charged []found, time string) error {
	if d.points == nil {
		return nil
	}
	itself := slices.Contains(spending.Units, experiment.UnitInputs)
	spending.Units, spending.Publishes = nil, []string{experiment.UnitInputs}
	for _, source := range s.Sources {
		if source.knows(d.points, nil) == "" {
			continue
		}
		if err := s.checkPublished(source, spending); err != nil {
			err.Points = true
			if itself && slices.ContainsFunc(charged, func(f found) bool { return f.Source == source }) {
				err.Others--
			}
			return err
		}
		s.publish(source, spending, time)
	}
	return nil
}

// accountOf returns the account of a source and a unit; where there is none, one that is not in the
// state yet. What is public of the data already is so for its new account, too.
func (s *State) accountOf(source *Source, unit string, n int) *Account {
	if a := s.account(source, unit); a != nil {
		return a
	}
	a := &Account{Source: source.ID, source: source, Unit: unit, Limit: s.limit(n), Entries: []Entry{}}
	s.inherit(a)
	return a
}

// inherit adds the publications of parts that the account protects.
func (s *State) inherit(a *Account) {
	for _, part := range rowParts {
		b := s.account(a.source, part)
		if b == nil || !protects(a.Unit, part) {
			continue
		}
		for _, p := range b.Published {
			if !slices.Contains(a.Published, p) {
				a.Published = append(a.Published, p)
			}
		}
	}
}

// protects reports whether accounts of a unit protect a part of a row.
func protects(unit, part string) bool {
	return unit == part || unit == experiment.UnitRow || unit == experiment.UnitPerson
}

// checkPublished refuses a release that publishes what others protect, or protects what is public.
// Whatever protects a part has an entry in the account of the part.
func (s *State) checkPublished(source *Source, spending experiment.Spending) *PublishedError {
	for _, part := range rowParts {
		a := s.account(source, part)
		switch {
		case a == nil:
		case slices.Contains(spending.Units, part) && len(a.Published) > 0:
			return &PublishedError{Account: describe(a), Part: part, Earlier: true}
		case slices.Contains(spending.Publishes, part) && len(a.Entries) > 0:
			return &PublishedError{Account: describe(a), Part: part, Others: len(a.Entries)}
		}
	}
	return nil
}

// publish books what a release publishes as it is, without bound, on the accounts that protect it.
func (s *State) publish(source *Source, spending experiment.Spending, time string) {
	for _, part := range spending.Publishes {
		for _, unit := range experiment.Units() {
			a := s.account(source, unit)
			if !protects(unit, part) || a == nil && unit == experiment.UnitPerson {
				continue // the account of persons gets it when it is opened
			}
			if a == nil {
				a = s.add(s.accountOf(source, unit, spending.Rows), source)
			}
			if !slices.ContainsFunc(a.Published, func(p Publication) bool { return p.Part == part }) {
				a.Published = append(a.Published, Publication{Time: time, Experiment: spending.Experiment, Part: part})
			}
		}
	}
}

// exhausted reports whether nothing is left that the account protects. That of persons goes on for
// the part that is not public.
func (a *Account) exhausted() bool {
	if a.Unit != experiment.UnitPerson {
		return len(a.Published) > 0
	}
	for _, part := range rowParts {
		if !slices.ContainsFunc(a.Published, func(p Publication) bool { return p.Part == part }) {
			return false
		}
	}
	return true
}

// reports describes the accounts of a source.
func (s *State) reports(source *Source) (out []*Report, err error) {
	for _, a := range s.Accounts {
		if a.source != source {
			continue
		}
		r, err := a.Report()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Change is a person's change of an account. Fields that are nil or "" leave it as it is.
type Change struct {
	Account string // as [State.Find] takes it; the name with Create
	Unit    string // "" for the only one, for a label, and with Create for each
	Epsilon *float64
	Delta   *float64
	Label   *string // "" removes it; all units of the data get it
	Create  bool    // open the account
}

// Set changes the limit or the label of an account, or opens those of a
// name before its first release, and returns the reports of the changed accounts. A
// limit may be lowered below the sum of releases: then nothing more is released. A mistake
// is an *[ArgumentError] or an *[experiment.UnknownError].
func (l *Ledger) Set(c Change) ([]*Report, error) {
	var reports []*Report
	err := l.update(func(s *State) error {
		accounts, err := s.choose(c)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			if err := s.change(a, c); err != nil {
				return err
			}
			r, err := a.Report()
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return reports, nil
}

// choose returns the accounts that a change is about, opened where it asks for it.
func (s *State) choose(c Change) ([]*Account, error) {
	if c.Unit != "" && !slices.Contains(experiment.Units(), c.Unit) {
		return nil, experiment.Unknown("unit", c.Unit, experiment.Units())
	}
	if c.Create {
		return s.open(c)
	}
	found, err := s.Choose(c.Account, c.Unit)
	if err == nil && len(found) > 1 && (c.Epsilon != nil || c.Delta != nil) {
		return nil, mistake("%q has accounts of units %s; say which with --unit, or give the number of one", c.Account,
			unitsOf(found))
	}
	return found, err
}

// unitsOf lists the units of accounts.
func unitsOf(accounts []*Account) string {
	var units []string
	for _, a := range accounts {
		units = append(units, a.Unit)
	}
	return strings.Join(units, " and ")
}

// open adds accounts for a name: of a unit, or of each. Data without a name get theirs by their first
// release.
func (s *State) open(c Change) ([]*Account, error) {
	source, err := s.named(c.Account)
	if err != nil {
		return nil, mistake("%v; accounts are opened for names, and others by the first release of their data", err)
	}
	units := []string{c.Unit}
	if c.Unit == "" {
		units = experiment.Units()
	}
	if source == nil {
		source = s.addSource(c.Account)
	}
	for _, unit := range units {
		old := s.account(source, unit)
		switch {
		case old == nil:
		case c.Unit == "":
			return nil, mistake("%q has an account of unit %s already, number %d; open those of the others with --unit",
				c.Account, unit, old.Number)
		default:
			return nil, mistake("%q has an account of unit %s already, number %d; leave out --create to change it",
				c.Account, unit, old.Number)
		}
	}
	if c.Epsilon == nil || c.Delta == nil {
		return nil, mistake("a new account needs a limit: --epsilon E --delta D")
	}
	var opened []*Account
	for _, unit := range units {
		opened = append(opened, s.add(s.accountOf(source, unit, 1), source))
	}
	return opened, nil
}

// change makes the change, or returns an error; then the state is not written.
func (s *State) change(a *Account, c Change) error {
	if c.Epsilon == nil && c.Delta == nil && c.Label == nil {
		return mistake("nothing to change; give a limit or a label")
	}
	if err := a.Limit.change(c.Epsilon, c.Delta); err != nil {
		return err
	}
	if c.Label == nil {
		return nil
	}
	if *c.Label != "" {
		if err := CheckLabel(*c.Label); err != nil {
			return mistake("%v", err)
		}
	}
	a.source.Label = *c.Label
	for _, other := range s.Sources {
		if other != a.source && a.source.clash(other) != "" {
			return mistake("the label %q names %s already; choose another", *c.Label, other)
		}
	}
	return nil
}

// change replaces ε and δ that are given, by values that a limit may have.
func (l *Limit) change(epsilon, delta *float64) error {
	if epsilon != nil {
		if err := CheckEpsilon(*epsilon); err != nil {
			return mistake("epsilon %s: %v", number(*epsilon), err)
		}
		l.Epsilon = *epsilon
	}
	if delta != nil {
		if err := CheckDelta(*delta); err != nil {
			return mistake("delta %s: %v", number(*delta), err)
		}
		l.Delta = *delta
	}
	return nil
}

// SetDefault changes the limit of new accounts; nil leaves ε or δ as it is, and a δ of 0
// stands for [AutoDelta]. Accounts that are there keep theirs.
func (l *Ledger) SetDefault(epsilon, delta *float64) (Limit, error) {
	var limit Limit
	err := l.update(func(s *State) error {
		limit = s.NewLimit()
		if epsilon == nil && delta == nil {
			return mistake("nothing to change; give --epsilon or --delta")
		}
		if delta != nil && *delta == 0 {
			limit.Delta, delta = 0, nil
		}
		if err := limit.change(epsilon, delta); err != nil {
			return err
		}
		s.Default = &limit
		return nil
	})
	return limit, err
}
