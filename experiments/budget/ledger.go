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
	if _, _, err = l.read(); err != nil && !errors.Is(err, ErrNone) {
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
	s, old, err := l.read()
	if errors.Is(err, ErrNone) {
		s = &State{}
	} else if err != nil {
		return err
	}
	if err := change(s); err != nil {
		return err
	}
	return l.write(s, old)
}

// Book writes a release into the accounts of all its units, durably, or into none.
// The accounts are those of the data, or with as, those of that budget id. An
// account that is not there is opened with the default limit.
//
// An error means that nothing may be released. Where the release does not fit it
// is a *[LimitError], where the ledger cannot be used a *[FileError]. After nil the
// release has spent, even if it fails later.
func (l *Ledger) Book(s experiment.Spending, as string) error {
	if err := checkSpending(s, as); err != nil {
		return fmt.Errorf("this release cannot be booked: %w", err)
	}
	err := l.update(func(state *State) error { return state.book(s, as, l.now()) })
	var limit *LimitError
	if errors.As(err, &limit) && l.chosen {
		limit.File = l.path
	}
	if err != nil {
		return fmt.Errorf("nothing is released: %w", err)
	}
	return nil
}

// checkSpending refuses values that no release spends. Its errors show no digest.
func checkSpending(s experiment.Spending, as string) error {
	if as != "" {
		if err := CheckName(as); err != nil {
			return err
		}
	} else if !isDigest(s.Data) || s.Row != "" && !isDigest(s.Row) {
		return errors.New("its data have no SHA-256") // which is private and not shown
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
		for _, earlier := range s.Units[:i] {
			if u == earlier {
				return fmt.Errorf("it names the unit %s twice", u)
			}
		}
	}
	if !printable(s.Experiment) {
		return fmt.Errorf("the name %q of the experiment is not printable", s.Experiment)
	}
	return checkGuarantee(s.Epsilon, s.Delta)
}

// book adds the release to the state: to the account of the unit that its guarantee
// names, and to those of the finer units that it protects as well, since whoever
// may replace a row may replace its output or its inputs. After an error the state is of no use,
// and is not written.
func (s *State) book(spending experiment.Spending, as string, now time.Time) error {
	for i, unit := range spending.Units {
		key := Account{Name: as}
		switch {
		case as != "":
		case unit == experiment.UnitRow && spending.Row != "":
			key.Data = spending.Row
		default:
			key.Data = spending.Data
		}
		a := s.account(key.id(), unit)
		if a == nil {
			a = &Account{Data: key.Data, Name: key.Name, Unit: unit, Limit: s.limit(spending.Rows),
				Label: s.label(key.id()), Entries: []Entry{}}
			for _, b := range s.Accounts {
				if a.clashes(b) {
					return fmt.Errorf("the budget id %q is the label of account %d; choose another", as, b.number)
				}
			}
		}
		// Rows of a budget id may grow. Then the limit, with its δ, stays.
		if a.Data != "" && a.Rows > 0 && a.Rows != spending.Rows {
			return fmt.Errorf("%s is of %d rows, and the release of %d: equal data have equal numbers of rows",
				describe(a), a.Rows, spending.Rows)
		}
		e, err := a.entry(spending)
		if err != nil {
			return err
		}
		// A text, since a clock may be in a year that a time in JSON cannot have.
		e.Time = now.UTC().Format(time.RFC3339)
		if i > 0 {
			e.Note = "protects unit " + spending.Units[0]
		}
		if err := a.admit(e); err != nil {
			return err
		}
		if a.Rows == 0 {
			a.Rows = spending.Rows
		}
		if a.number == 0 {
			s.add(a)
		}
	}
	return nil
}

// label returns the label that accounts of an id have.
func (s *State) label(id string) string {
	for _, a := range s.Accounts {
		if a.id() == id && a.Label != "" {
			return a.Label
		}
	}
	return ""
}

// Change is a person's change of an account. Fields that are nil or "" leave it as it is.
type Change struct {
	Account string // as [State.Find] takes it; the budget id with Create
	Unit    string // "" for the only one, for a label, and with Create for each
	Epsilon *float64
	Delta   *float64
	Label   *string // "" removes it; all units of the data get it
	Create  bool    // open the account
}

// Set changes the limit or the label of an account, or opens those of a
// budget id before its first release, and returns the reports of the changed accounts. A
// limit may be lowered below the sum of releases: then nothing more is released. A mistake
// is an *[ArgumentError], an *[AmbiguousError] or an *[experiment.UnknownError].
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

// open adds accounts for a budget id: of a unit, or of each. Accounts of data are not
// opened in advance: nobody types their digest.
func (s *State) open(c Change) ([]*Account, error) {
	if err := CheckName(c.Account); err != nil {
		return nil, mistake("%v; accounts are opened for budget ids, and those of data by their first release", err)
	}
	units := []string{c.Unit}
	if c.Unit == "" {
		units = experiment.Units()
	}
	for _, unit := range units {
		old := s.account(c.Account, unit)
		switch {
		case old == nil:
		case c.Unit == "":
			return nil, mistake("%q has an account of unit %s already, number %d; open those of the others with --unit",
				c.Account, unit, old.number)
		default:
			return nil, mistake("%q has an account of unit %s already, number %d; leave out --create to change it",
				c.Account, unit, old.number)
		}
	}
	if c.Epsilon == nil || c.Delta == nil {
		return nil, mistake("a new account needs a limit: --epsilon E --delta D")
	}
	var opened []*Account
	for _, unit := range units {
		a := &Account{Name: c.Account, Unit: unit, Label: s.label(c.Account), Entries: []Entry{}}
		for _, b := range s.Accounts {
			if a.clashes(b) {
				return nil, mistake("%q is the label of account %d; choose another budget id", c.Account, b.number)
			}
		}
		s.add(a)
		opened = append(opened, a)
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
	for _, b := range s.Accounts {
		if b.id() == a.id() {
			b.Label = *c.Label
		}
	}
	for _, b := range s.Accounts {
		if a.clashes(b) {
			return mistake("the label %q names account %d already; choose another", *c.Label, b.number)
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
