package budget

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/budget/sketch"
	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
)

// Source is the people behind accounts: the data of one group of persons or rows, in all forms in
// which the ledger has met them. It holds no value of them, only HMACs with the ledger's key.
type Source struct {
	ID int `json:"id"` // from 1, never given twice
	// Names are those that releases gave with --account; of linked sources, of both.
	Names []string `json:"names,omitempty"`
	Label string   `json:"label,omitempty"`
	// Places are HMACs of the paths of files and the names of data sets.
	Places []string `json:"places,omitempty"`
	// Sketches are of the first form of the data and of the last ones.
	Sketches []*sketch.Sketch `json:"sketches,omitempty"`
	// Persons are the HMACs of all persons that releases protected.
	Persons sketch.Tokens `json:"persons,omitempty"`
	// Bytes are HMACs of digests of the columns that releases used, by which the first schema found data.
	Bytes []string `json:"bytes,omitempty"`
	// Apart are the declarations that these are other people than those of other sources.
	Apart []Apart `json:"apart,omitempty"`
	// Exports are those registered of these data, one value of an experiment's own form each.
	Exports []json.RawMessage `json:"exports,omitempty"`
}

// Apart is a person's declaration that data are not of the people of some sources.
type Apart struct {
	Time   string `json:"time"`
	Reason string `json:"reason"`
	From   []int  `json:"from,omitempty"` // IDs of sources
	// Ways are those in which the source recognised the data; earlier declarations, of several sources, have none, which
	// stands for all.
	Ways []string `json:"ways,omitempty"`
}

// mostSketches is how many forms of the data a source keeps sketches of.
const mostSketches = 4

// Data are the tables of a release or an export, which the ledger is to recognise.
type Data struct {
	// Place is where they are: the absolute path of a file without links, or the name of a data set.
	place string
	// Files are the names and paths of the tables in them; none where their form is that of a paper.
	files [][2]string
	// Reading is how they are read.
	reading table.Reading
	person  string // the column that names persons; "" for none
	points  *Data  // published with the release; nil for none
}

// At returns the data of a release that publishes the rows of other data as its points.
func (d Data) At(points Data) Data {
	d.points = &points
	return d
}

// DataOf describes the data of a name in a setting, which lie at a path and are read with
// settings. Persons are those that a
// column names; "" for none.
func DataOf(name, path string, reading table.Reading, person string) (Data, error) {
	d := Data{place: "set " + name, person: person, reading: reading}
	if dataset.IsOwn(name) {
		d.files = [][2]string{{name, path}}
		if set, ok := dataset.SetName(name); ok {
			d.place = "set " + set
			return d, nil
		}
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		d.place = "path " + real
		return d, err
	}
	set, err := dataset.Lookup(name)
	if err != nil {
		return d, err
	}
	for _, f := range set.Files {
		if strings.HasSuffix(f.Path, ".csv") && !f.Compressed {
			file := filepath.Join(path, filepath.FromSlash(f.Path))
			d.files = append(d.files, [2]string{dataset.FileName(file), file})
		}
	}
	return d, nil
}

// seen is how data look under the key of a ledger.
type seen struct {
	place    string
	sketches []*sketch.Sketch
	persons  sketch.Tokens
	points   *seen // published with the release; nil for none
}

// under reads the data.
func (d Data) under(key sketch.Key) (*seen, error) {
	out := &seen{place: hex.EncodeToString(key.NewMAC().Sum("place", d.place)[:16])}
	for _, file := range d.files {
		s, persons, err := key.Read(file[0], file[1], d.reading, d.person)
		if err != nil {
			return nil, fmt.Errorf("the data cannot be read for the budget ledger: %w", err)
		}
		out.sketches, out.persons = append(out.sketches, s), out.persons.Union(persons)
	}
	if d.points == nil {
		return out, nil
	}
	var err error
	out.points, err = d.points.under(key)
	return out, err
}

// The ways in which data are found, the strongest first.
const (
	byName    = "name"    // of the account
	byPath    = "path"    // or the name of a data set
	byPersons = "persons" // one of them at least
	bySketch  = "sketch"
	byBytes   = "bytes" // of the columns that are used
	// Opened is the word for data that no source recognises.
	Opened = "opened"
)

// knows returns the strongest way in which the source recognises data; "" for none.
func (s *Source) knows(d *seen, digests []string) string {
	for _, way := range ways {
		if s.knowsBy(way, d, digests) {
			return way
		}
	}
	return ""
}

func (s *Source) knowsBy(way string, d *seen, digests []string) bool {
	switch way {
	case byPath:
		return slices.Contains(s.Places, d.place)
	case byPersons:
		return s.Persons.Shared(d.persons)
	case bySketch:
		return slices.ContainsFunc(d.sketches, func(a *sketch.Sketch) bool {
			return slices.ContainsFunc(s.Sketches, a.Matches)
		})
	default: // byBytes
		return slices.ContainsFunc(digests, func(digest string) bool { return slices.Contains(s.Bytes, digest) })
	}
}

// ways are those in which data are recognised without a name, the strongest first.
var ways = []string{byPath, byPersons, bySketch, byBytes}

// parts reports whether a declaration keeps data of the source apart from those of another one: the
// source itself must recognise them in every way in which the other does, and the other did when it was declared.
// Data of the other's people that come under the name or at the path of the source, or are added to its own, are no
// such data.
func (s *Source) parts(other *Source, d *seen, digests []string) bool {
	declared := func(way string) bool {
		return slices.ContainsFunc(s.Apart, func(a Apart) bool {
			return slices.Contains(a.From, other.ID) && (a.Ways == nil || slices.Contains(a.Ways, way))
		})
	}
	return s.apartFrom(other.ID) && !slices.ContainsFunc(ways, func(way string) bool {
		return other.knowsBy(way, d, digests) && (!s.knowsBy(way, d, digests) || !declared(way))
	})
}

// learnsWith reports whether the source takes data for its own that are charged to all of these: not
// where it was declared to be apart from one of them.
func (s *Source) learnsWith(all []found) bool {
	return !slices.ContainsFunc(all, func(f found) bool { return s.apartFrom(f.ID) })
}

// learn adds a form of the data.
func (s *Source) learn(d *seen) {
	if !slices.Contains(s.Places, d.place) {
		s.Places = append(s.Places, d.place)
	}
	s.Persons = s.Persons.Union(d.persons)
	for _, a := range d.sketches {
		if len(a.Sets) > 0 {
			s.keep(a)
		}
	}
}

// keep adds a sketch, in the place of one that it is nearly the same as, or else of the oldest but
// the first.
func (s *Source) keep(a *sketch.Sketch) {
	for i, old := range s.Sketches {
		switch {
		case !old.Similar(a):
		case i == 0: // of the first form
			return
		default:
			s.Sketches[i] = a
			return
		}
	}
	if len(s.Sketches) >= mostSketches { // those of linked sources stay as many as they were
		s.Sketches = slices.Delete(s.Sketches, 1, 2)
	}
	s.Sketches = append(s.Sketches, a)
}

// String names the source: by its name, or by its number.
func (s *Source) String() string {
	if len(s.Names) > 0 {
		return s.Names[0]
	}
	return dataPrefix + strconv.Itoa(s.ID)
}

// dataPrefix begins the word for a source without a name: data-3.
const dataPrefix = "data-"

// is reports whether a word names the source.
func (s *Source) is(word string) bool {
	return slices.Contains(s.Names, word) || s.Label == word || word == dataPrefix+strconv.Itoa(s.ID)
}

// check refuses a source that no version of the program writes.
func (s *Source) check() error {
	if s.ID < 1 {
		return fmt.Errorf("its id is %d", s.ID)
	}
	for _, name := range s.Names {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	if s.Label != "" {
		if err := CheckLabel(s.Label); err != nil {
			return err
		}
	}
	for _, digests := range [][]string{s.Places, s.Bytes} {
		for _, text := range digests {
			if raw, err := hex.DecodeString(text); err != nil || len(raw) < 16 {
				return errors.New("it has a wrong HMAC")
			}
		}
	}
	for _, a := range s.Sketches {
		if a == nil {
			return errors.New("it has a sketch that is null")
		}
		if err := a.Check(); err != nil {
			return err
		}
	}
	for _, a := range s.Apart {
		if !printable(a.Time) || !printable(a.Reason) {
			return errors.New("it has a reason that is not printable")
		}
	}
	return nil
}

// source returns the source that has a name, or nil.
func (s *State) source(name string) *Source {
	for _, source := range s.Sources {
		if slices.Contains(source.Names, name) {
			return source
		}
	}
	return nil
}

// addSource opens a source.
func (s *State) addSource(names ...string) *Source {
	source := &Source{ID: 1, Names: names}
	for _, other := range s.Sources {
		source.ID = max(source.ID, other.ID+1)
	}
	for _, a := range s.Accounts { // of one that was linked away, too
		source.ID = max(source.ID, a.Source+1)
	}
	s.Sources = append(s.Sources, source)
	return source
}

// secure gives the ledger a key where it has none, as before its first booking, and replaces the
// digests of the first schema by their HMACs.
func (s *State) secure() {
	if s.Key != (sketch.Key{}) {
		return
	}
	_, _ = rand.Read(s.Key[:]) // it never fails
	for _, source := range s.Sources {
		source.Bytes = s.digests(source.Bytes...)
	}
}

// digests returns the HMACs of digests of data.
func (s *State) digests(digests ...string) (out []string) {
	mac := s.Key.NewMAC()
	for _, digest := range digests {
		if digest != "" {
			out = append(out, hex.EncodeToString(mac.Sum("bytes", digest)))
		}
	}
	return out
}

// found is a source that data belong to.
type found struct {
	*Source
	how string
}

// KnownError is the refusal of a new name for data that other accounts know.
type KnownError struct {
	Name     string
	Accounts []string // that know them
}

func (e *KnownError) Error() string {
	know, name := " knows", "that account"
	if len(e.Accounts) > 1 {
		know, name = " know", "one of these accounts"
	}
	return fmt.Sprintf("data of these people have spent before: %s%s them, and an account %s would give them a fresh "+
		"budget; leave --account out, or name %s; `run budget link` makes two accounts one; if these are other people, "+
		"--new-people REASON says so, in the ledger alone", strings.Join(e.Accounts, " and "), know, e.Name, name)
}

// Request is the operator's choice of the account of a release.
type Request struct {
	// Account is a word that names an account, or the name of a new one; "" for those that know the
	// data.
	Account string
	// NewPeople is the reason why data that other accounts know are of other people; "" for none.
	NewPeople string
}

// Check refuses a request that cannot be met.
func (r Request) Check() error {
	if r.NewPeople == "" {
		return nil
	}
	if r.Account == "" {
		return mistake("--new-people: new people need an account of their own; add --account NAME")
	}
	if strings.TrimSpace(r.NewPeople) == "" || !printable(r.NewPeople) {
		return mistake("--new-people: the reason %q is empty or not printable", r.NewPeople)
	}
	return nil
}

// find returns the sources that a release of data is charged to, opened where there is none.
func (s *State) find(d *seen, digests []string, r Request, time string) ([]found, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	var all []found
	digests = s.digests(digests...)
	for _, source := range s.Sources {
		if how := source.knows(d, digests); how != "" {
			all = append(all, found{source, how})
		}
	}
	all = s.sameBytes(all)
	if r.Account == "" {
		return s.nearest(all, d, digests), nil
	}
	named, err := s.named(r.Account)
	if err != nil {
		if strings.Trim(r.Account, "0123456789") == "" || strings.HasPrefix(r.Account, dataPrefix) {
			_, err = s.Find(r.Account) // a new name would not look like this
		}
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.Source == named })
	switch {
	case r.NewPeople != "":
		if named == nil {
			named = s.addSource(r.Account)
		}
		for _, f := range others {
			by := slices.DeleteFunc(slices.Clone(ways), func(way string) bool { return !f.knowsBy(way, d, digests) })
			named.Apart = append(named.Apart, Apart{Time: time, Reason: r.NewPeople, From: []int{f.ID}, Ways: by})
		}
		if len(others) == 0 {
			named.Apart = append(named.Apart, Apart{Time: time, Reason: r.NewPeople})
		}
	case named == nil && len(others) > 0:
		known := &KnownError{Name: r.Account}
		for _, f := range others {
			known.Accounts = append(known.Accounts, f.String())
		}
		return nil, known
	case named == nil:
		named = s.addSource(r.Account)
	}
	out := []found{{named, byName}}
	for _, f := range others {
		if r.NewPeople == "" && !named.parts(f.Source, d, digests) {
			out = append(out, f)
		}
	}
	return out, nil
}

// sameBytes links sources that know the very same bytes: the first schema had one for rows and one
// for the rest.
func (s *State) sameBytes(all []found) []found {
	for i := 0; i < len(all); i++ {
		for j := i + 1; j < len(all); j++ {
			if all[i].old() && all[j].old() {
				s.link(all[i].Source, all[j].Source)
				all = slices.Delete(all, j, j+1)
				j--
			}
		}
	}
	return all
}

// old reports whether the source is of the first schema, without a name, and knows bytes alone.
func (s *Source) old() bool { return len(s.Bytes) > 0 && len(s.Places) == 0 && len(s.Names) == 0 }

// nearest returns the sources that know data without those that one of them is apart from, unless
// they know the place itself; a new one for none.
func (s *State) nearest(all []found, d *seen, digests []string) []found {
	if len(all) == 0 {
		return []found{{s.addSource(), Opened}}
	}
	return slices.DeleteFunc(slices.Clone(all), func(f found) bool {
		return f.how != byPath && slices.ContainsFunc(all, func(g found) bool {
			return g.how == byPath && g.parts(f.Source, d, digests)
		})
	})
}

func (s *Source) apartFrom(id int) bool {
	return slices.ContainsFunc(s.Apart, func(a Apart) bool { return slices.Contains(a.From, id) })
}

// named returns the source of a word of --account, or nil for a name that is new.
func (s *State) named(word string) (*Source, error) {
	accounts, err := s.Find(word)
	if err == nil {
		return accounts[0].source, nil
	}
	if source := s.source(word); source != nil {
		return source, nil // without accounts
	}
	return nil, CheckName(word)
}

// Link makes one of the accounts that two words name: both have spent together, and the smaller
// limit holds. Where from is given, b is in that ledger, whose accounts are copied: its sketches
// have another key, so that the data are recognised by those of a alone.
func (l *Ledger) Link(a, b string, from *Ledger) ([]*Report, error) {
	var other *State
	if from != nil {
		if l.is(from) {
			return nil, mistake("%s is this ledger; link its accounts without --from", from.path)
		}
		var err error
		if other, err = from.Read(); errors.Is(err, ErrNone) {
			return nil, mistake("there is no budget ledger %s", from.path)
		} else if err != nil {
			return nil, err
		}
	}
	var reports []*Report
	err := l.update(func(s *State) error {
		one, err := s.linked(a)
		if err != nil {
			return err
		}
		var two *Source
		if other == nil {
			two, err = s.linked(b)
		} else if two, err = other.linked(b); err == nil {
			two = s.adopt(other, two)
		}
		if err != nil {
			return err
		}
		if one == two {
			return mistake("%q and %q name accounts of the same data, which are one already", a, b)
		}
		s.link(one, two)
		reports, err = s.reports(one)
		return err
	})
	return reports, err
}

// is reports whether both are the same file, by any of its names.
func (l *Ledger) is(other *Ledger) bool {
	a, errA := l.disk.Stat(l.path)
	b, errB := l.disk.Stat(other.path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// linked returns the source of the accounts that a word names.
func (s *State) linked(word string) (*Source, error) {
	accounts, err := s.Find(word)
	if err != nil {
		return nil, err
	}
	return accounts[0].source, nil
}

// adopt copies a source of another ledger, without the forms of the data that another key hides.
func (s *State) adopt(other *State, source *Source) *Source {
	copied := s.addSource()
	if other.Key == s.Key { // a copy of this ledger
		copied.Places, copied.Sketches, copied.Persons = source.Places, source.Sketches, source.Persons
	}
	copied.Label = source.Label
	for _, name := range source.Names {
		if s.source(name) == nil {
			copied.Names = append(copied.Names, name)
		}
	}
	for _, a := range other.Accounts {
		if a.source == source {
			s.add(&Account{Unit: a.Unit, Rows: a.Rows, Limit: a.Limit, Entries: a.Entries, Published: a.Published}, copied)
		}
	}
	return copied
}

// link moves the accounts and the forms of source b to a.
func (s *State) link(a, b *Source) {
	a.Names = append(a.Names, b.Names...)
	if a.Label == "" {
		a.Label = b.Label
	}
	a.Places = union(a.Places, b.Places)
	a.Bytes = union(a.Bytes, b.Bytes)
	a.Persons = a.Persons.Union(b.Persons)
	a.Sketches = append(a.Sketches, b.Sketches...)
	a.Exports = append(a.Exports, b.Exports...)
	a.Apart = append(a.Apart, b.Apart...)
	s.Sources = slices.DeleteFunc(s.Sources, func(x *Source) bool { return x == b })
	for _, x := range s.Sources {
		for i := range x.Apart {
			from := &x.Apart[i].From
			if at := slices.Index(*from, b.ID); at >= 0 {
				(*from)[at] = a.ID
			}
			if x == a {
				*from = slices.DeleteFunc(*from, func(id int) bool { return id == a.ID })
			}
		}
	}
	for _, moved := range slices.Clone(s.Accounts) {
		if moved.source != b {
			continue
		}
		kept := s.account(a, moved.Unit)
		if kept == nil {
			moved.Source, moved.source = a.ID, a
			continue
		}
		kept.join(moved)
		s.Accounts = slices.DeleteFunc(s.Accounts, func(x *Account) bool { return x == moved })
	}
	for _, x := range s.Accounts {
		if x.source == a {
			s.inherit(x)
		}
	}
}

// join adds the releases of another account, in the order of their times.
func (a *Account) join(b *Account) {
	a.Entries = append(a.Entries, b.Entries...)
	slices.SortStableFunc(a.Entries, func(x, y Entry) int { return strings.Compare(x.Time, y.Time) })
	a.Published = append(a.Published, b.Published...)
	a.Rows = max(a.Rows, b.Rows)
	a.Limit = Limit{Epsilon: min(a.Limit.Epsilon, b.Limit.Epsilon), Delta: min(a.Limit.Delta, b.Limit.Delta)}
}

// union appends the texts of b that a lacks.
func union(a, b []string) []string {
	for _, text := range b {
		if !slices.Contains(a, text) {
			a = append(a, text)
		}
	}
	return a
}
