// Package live serves a view of a sweep while it runs: how far it is, and its
// tables as they fill. It reads the output folder and writes nothing.
//
// The files are all that it knows: runners on other machines count as those on this
// one, and a view can be opened and closed while a sweep runs. It looks at the
// folder when a page asks, for a bounded time each, and reads a record again only
// where its file has changed. It has no login, so it listens on the loopback
// interface alone.
package live

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privkern/runner/claims/ledger"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show"
	"privkern/runner/show/report"
	"privkern/runner/store"
)

const (
	// readTime bounds how long one update reads records; a large folder is read
	// over several.
	readTime = 700 * time.Millisecond
	// restat is how often records that are known are looked at for a newer one,
	// as --retry leaves it.
	restat = 5 * time.Second
	// settled is how old a folder's time must be before an equal one means that
	// nothing was added: file systems round times, to 2 s at worst.
	settled = 2 * time.Second
	// between is how long after a trial a sweep counts as running though no
	// trial does: it is about to begin the next.
	between = 5 * time.Second
	// recent is the span that the throughput is taken of.
	recent = 10 * time.Minute

	latestTrials   = 8
	latestWarnings = 6
)

// stamp distinguishes versions of a file.
type stamp struct {
	modified time.Time
	size     int64
}

// folder follows an output folder. Every record is read once, and again where
// its file has changed.
type folder struct {
	dir  string
	book *ledger.Book

	store   *store.Store
	plan    *plan.Plan
	planned stamp
	trials  map[string]int // key to position in the plan
	problem string

	listed  time.Time // the time of the folder of records when it was listed
	statted time.Time
	unread  []string
	records map[string]entry
	version int // of plan and records: it grows with every change

	logs logs
}

// entry is a record without its series.
type entry struct {
	stamp
	record *record.Record // nil where the file is none
}

func newFolder(dir string, book *ledger.Book) *folder {
	return &folder{dir: dir, book: book, records: map[string]entry{}, logs: logs{}}
}

// update reads what is new.
func (f *folder) update(now time.Time) error {
	if err := f.readPlan(); err != nil || f.plan == nil {
		return err
	}
	if err := f.list(now); err != nil {
		return err
	}
	if err := f.read(); err != nil {
		return err
	}
	return f.logs.read(f.dir)
}

// readPlan reads the plan where it is new. One that cannot be used is a problem
// to be shown: the next may be good.
func (f *folder) readPlan() error {
	info, err := os.Stat(filepath.Join(f.dir, "plan.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if f.planned != (stamp{}) {
			f.reset()
		}
		return nil
	}
	if err != nil {
		return err
	}
	at := stamp{info.ModTime(), info.Size()}
	if at == f.planned {
		return nil
	}
	s, err := store.Open(f.dir)
	if err != nil {
		return err
	}
	p, err := s.ReadPlan(f.book.Experiments)
	known := f.records
	f.reset()
	f.planned = at
	if err != nil {
		f.problem = err.Error()
		return nil //nolint:nilerr // it is shown; the next plan may be good
	}
	f.store, f.plan, f.trials = s, p, make(map[string]int, len(p.Trials))
	for i, t := range p.Trials {
		f.trials[t.Key] = i
		// Records that both plans have need not be read again.
		if k, ok := known[t.Key]; ok {
			f.records[t.Key] = k
		}
	}
	return nil
}

// reset forgets everything, and makes what was computed of it out of date.
func (f *folder) reset() {
	version := f.version + 1
	*f = *newFolder(f.dir, f.book)
	f.version = version
}

// list finds the records that are new or have changed.
func (f *folder) list(now time.Time) error {
	path := filepath.Join(f.dir, "trials")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	all := now.Sub(f.statted) >= restat
	if info.ModTime().Equal(f.listed) && now.Sub(f.listed) > settled {
		// Nothing is new; but a record that took another's place is found only
		// by a look at all of them, which has to come after it.
		if looked := f.statted.Sub(f.listed) > settled; looked || !all {
			return nil
		}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	queued := make(map[string]bool, len(f.unread))
	for _, key := range f.unread {
		queued[key] = true
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
		key, isRecord := strings.CutSuffix(e.Name(), ".json")
		if _, planned := f.trials[key]; !isRecord || !planned || queued[key] {
			continue
		}
		if k, ok := f.records[key]; ok {
			if !all {
				continue
			}
			info, err := e.Info()
			if err != nil || (stamp{info.ModTime(), info.Size()}) == k.stamp {
				continue // put aside just now, or as it was
			}
		}
		f.unread = append(f.unread, key)
	}
	for key := range f.records {
		if !there[key+".json"] { // put aside, or removed
			delete(f.records, key)
			f.version++
		}
	}
	f.listed = info.ModTime()
	if all {
		f.statted = now
	}
	return nil
}

// read reads records for a while.
func (f *folder) read() error {
	until := time.Now().Add(readTime)
	for len(f.unread) > 0 && time.Now().Before(until) {
		key := f.unread[0]
		f.unread = f.unread[1:]
		info, err := os.Stat(filepath.Join(f.dir, "trials", key+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			delete(f.records, key) // put aside
			f.version++
			continue
		}
		if err != nil {
			return err
		}
		r, _, err := f.store.Get(key)
		if err != nil {
			return err
		}
		if r != nil {
			r.Series = nil
		}
		f.records[key] = entry{stamp{info.ModTime(), info.Size()}, r}
		f.version++
	}
	return nil
}

// results evaluates what has been read.
func (f *folder) results() (*show.Results, error) {
	return show.Evaluate(f.book, f.store, f.plan, func(key string) (*record.Record, bool, error) {
		k := f.records[key]
		return k.record, k.record != nil, nil
	})
}

// snapshot is how far the sweep is.
func (f *folder) snapshot(now time.Time) (report.SweepProgress, error) {
	p := report.SweepProgress{Title: filepath.Base(f.dir), Dir: f.dir, State: report.Awaited, Now: now,
		Problem: f.problem, Log: f.logs.tail()}
	if f.plan == nil {
		return p, nil
	}
	if f.plan.Title != "" {
		p.Title = f.plan.Title
	}
	p.Total, p.Unread = len(f.plan.Trials), len(f.unread)
	done := make([]entry, 0, len(f.records))
	for _, k := range f.records {
		if k.record == nil {
			continue
		}
		done = append(done, k)
		switch k.record.Status {
		case record.OK:
			p.OK++
		case record.Failed:
			p.Failed++
		case record.Skipped:
			p.Skipped++
		}
	}
	slices.SortFunc(done, func(a, b entry) int {
		return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.record.Key, b.record.Key))
	})
	f.latest(&p, done)
	for key, began := range f.logs.started() {
		if _, planned := f.trials[key]; !planned || f.records[key].modified.After(began) {
			continue
		}
		held, err := f.store.Held(key)
		if err != nil {
			return p, err
		}
		if held {
			p.Running++
		}
	}
	p.PerMinute, p.Left = f.rate(now, done, p.Total-p.Done()-p.Unread)
	switch {
	case p.Done() == p.Total && p.Unread == 0:
		p.State = report.Complete
	case p.Running > 0, len(done) > 0 && now.Sub(done[0].modified) < between:
		p.State = report.Running
	default:
		p.State = report.Paused
		p.Left = 0
	}
	return p, nil
}

// latest lists the newest trials and warnings.
func (f *folder) latest(p *report.SweepProgress, done []entry) {
	for _, k := range done[:min(len(done), latestTrials)] {
		t := f.plan.Trials[f.trials[k.record.Key]]
		l := report.FinishedTrial{When: k.modified, Key: t.Key, Experiment: t.Experiment, Seed: t.Seed,
			Status: k.record.Status, Seconds: k.record.Timing.WallS}
		if e, err := f.book.Experiments.Lookup(t.Experiment); err == nil {
			l.Settings = e.Describe(t.Params)
		}
		if k.record.Error != nil {
			l.Error = *k.record.Error
		}
		p.Latest = append(p.Latest, l)
	}
	for _, k := range done {
		for _, w := range k.record.Warnings {
			if text := k.record.Experiment + ": " + w; !slices.Contains(p.Warnings, text) && len(p.Warnings) < latestWarnings {
				p.Warnings = append(p.Warnings, text)
			}
		}
	}
	for _, a := range f.store.Asides() {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s is ignored: %s", a.File, a.Reason))
	}
}

// rate is the recent throughput in trials a minute, and from it the time that
// the trials left will take. Trials that take turns in cost make both rough.
func (f *folder) rate(now time.Time, done []entry, left int) (perMinute float64, eta time.Duration) {
	n := 0
	for n < len(done) && now.Sub(done[n].modified) < recent {
		n++
	}
	if n < 2 {
		return 0, 0
	}
	// From the first of them on, which itself began before.
	span := now.Sub(done[n-1].modified)
	if left == 0 {
		span = done[0].modified.Sub(done[n-1].modified)
	}
	if span <= 0 {
		return 0, 0
	}
	perMinute = float64(n-1) / span.Minutes()
	return perMinute, time.Duration(float64(left) / perMinute * float64(time.Minute))
}
