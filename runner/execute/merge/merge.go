// Package merge unites output folders that hold parts of one plan, such as the
// shards of machines without a shared file system.
//
// The folders must hold the same plan: the digest of its settings and the digests of
// its data sets are equal. Records are copied byte for byte, so that a digest stays
// that of the machine that computed. Nothing is written before all records have been
// compared. Two results of one trial and one class of kernels must be equal in
// every metric but times and in every series: a difference is a [Conflict], since one
// of them is wrong. Between classes of kernels results may differ in their last bits,
// which is reported as a [Deviation].
package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// Union is what was found in the folders, and what was done to unite them.
type Union struct {
	Total   int // trials of the plan
	Copied  int // records that were written
	Kept    int // records that were there already
	Missing int // trials without a record
	Skipped int // trials whose record says that their data were not there
	Foreign int // files of trials that the plan does not have
	// Better are trials with a result in one folder of which another one only has
	// the record of a failure or of missing data, which is not taken.
	Better    int
	Ignored   []store.Aside // files that are no records; those of the united folder were moved
	Conflicts []Conflict
	Plan      *plan.Plan     // of all folders; nil where they were not read
	Classes   record.Classes // classes of kernels of the results in the united folder
	// Rounded are the trials of which folders have different results of different
	// classes of kernels. That is no conflict: such results may differ in their last
	// bits.
	Rounded Deviation
}

// Deviation is how far results of different classes of kernels are apart.
type Deviation struct {
	Trials int
	// Most is the largest difference of a metric, relative to the larger value where
	// that is above 1: below, rounding may be all that a metric measures. It is 0 where
	// only series differ.
	Most   float64
	Metric string // which one that is
}

// Conflict is a trial of which two folders have different results.
type Conflict struct {
	Trial   plan.Trial
	Folders [2]string
	// Differences are texts such as "rmse_cm 1.5, 1.6".
	Differences []string
	// Hosts names what computed the results, where that differs.
	Hosts string
}

// ErrConflicts says that nothing was written because results differ.
var ErrConflicts = errors.New("folders have different results of the same trials; nothing was written")

// ErrBusy says that a run is at work in the united folder.
var ErrBusy = errors.New("a run is at work on trials of the united folder; merge again when it has ended")

// A PlanError says that a folder has another plan than the first.
type PlanError struct {
	First, Folder string
	Difference    string
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("%s and %s hold different plans (%s); parts of one plan can be united",
		e.First, e.Folder, e.Difference)
}

// Folders unites output folders in the folder into, which may be there and hold
// records already. Of a trial with several records one with a result is taken
// before a failed one, and that before a skipped one; times and provenance may
// differ. Where results differ, that of the folder prefer is taken; with "", or
// where it has none, the first one where they are of different classes of kernels,
// and otherwise the conflicts are returned with [ErrConflicts] and nothing is
// written. The other folders are only read. Doing it again, also after
// an interruption, does what is left.
func Folders(into string, from []string, prefer string, experiments *experiment.Registry) (*Union, error) {
	return FoldersOn(disk.System, into, from, prefer, experiments)
}

// FoldersOn is [Folders] on a disk.
func FoldersOn(d disk.Disk, into string, from []string, prefer string,
	experiments *experiment.Registry) (*Union, error) {
	m := &merger{disk: d, experiments: experiments, preferred: -1, report: &Union{Classes: record.Classes{}}}
	if err := m.openAll(into, from, prefer); err != nil {
		return m.report, err
	}
	chosen, err := m.choose()
	if err != nil {
		return m.report, err
	}
	if len(m.report.Conflicts) > 0 {
		return m.report, ErrConflicts
	}
	return m.report, m.write(into, chosen)
}

// source is a folder to be united.
type source struct {
	name  string
	store *store.Store
}

type merger struct {
	disk        disk.Disk
	experiments *experiment.Registry
	preferred   int // source; -1 for none
	report      *Union
	plan        *plan.Plan
	sources     []source
	here        bool // the first source is the united folder
}

// openAll opens the folders and compares their plans.
func (m *merger) openAll(into string, from []string, prefer string) error {
	names := from
	if _, err := m.disk.Stat(filepath.Join(into, "plan.json")); err == nil {
		m.here = true
		names = append([]string{into}, from...)
	}
	var opened []fs.FileInfo
	for _, name := range names {
		s, err := store.OpenOn(m.disk, name)
		if err != nil {
			return err
		}
		info, err := m.disk.Stat(name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(opened, func(o fs.FileInfo) bool { return m.disk.SameFile(o, info) }) {
			continue // named twice
		}
		opened = append(opened, info)
		p, err := s.ReadPlan(m.experiments)
		if err != nil {
			return err
		}
		switch {
		case m.plan == nil:
			m.plan = p
		case p.Digest != m.plan.Digest || !maps.Equal(p.Datasets, m.plan.Datasets):
			return &PlanError{First: m.sources[0].name, Folder: name, Difference: plan.Difference(m.plan, p)}
		}
		m.sources = append(m.sources, source{name, s})
	}
	if prefer == "" {
		return nil
	}
	if info, err := m.disk.Stat(prefer); err == nil {
		m.preferred = slices.IndexFunc(opened, func(o fs.FileInfo) bool { return m.disk.SameFile(o, info) })
	}
	if m.preferred < 0 {
		return fmt.Errorf("%s, which is to be preferred, is none of the folders", prefer)
	}
	return nil
}

// choose returns, for every trial, the number of the source that its record is
// taken from; -1 for none.
func (m *merger) choose() ([]int, error) {
	planned := map[string]bool{}
	chosen := make([]int, len(m.plan.Trials))
	for i, t := range m.plan.Trials {
		planned[t.Key] = true
		records := make([]*record.Record, len(m.sources))
		for n, s := range m.sources {
			var err error
			if records[n], _, err = s.store.Get(t.Key); err != nil {
				return nil, err
			}
		}
		var err error
		if chosen[i], err = m.best(t, records); err != nil {
			return nil, err
		}
		if n := chosen[i]; n >= 0 && records[n].Status == record.Skipped {
			m.report.Skipped++
		} else if n >= 0 && records[n].Status == record.OK {
			m.report.Classes.Add(records[n].Provenance.Class(), 1)
		}
	}
	m.report.Total, m.report.Plan = len(chosen), m.plan
	for _, s := range m.sources {
		for _, a := range s.store.Asides() {
			a.File = filepath.Join(s.name, a.File)
			m.report.Ignored = append(m.report.Ignored, a)
		}
		keys, err := s.store.Keys()
		if err != nil {
			return nil, err
		}
		for key := range keys {
			if !planned[key] {
				m.report.Foreign++
			}
		}
	}
	return chosen, nil
}

// best returns the number of the source whose record of a trial is taken, -1
// where none has one. The first of several equal ones is taken, so that what is
// in the united folder already stays; a sealed one before one that is not.
func (m *merger) best(t plan.Trial, records []*record.Record) (int, error) {
	best, better := -1, false
	for n, r := range records {
		switch {
		case r == nil:
		case best < 0:
			best = n
		case rank(r) != rank(records[best]):
			better = true
			if rank(r) > rank(records[best]) {
				best = n
			}
		case r.Sealed() && !records[best].Sealed():
			best = n
		}
	}
	if better {
		m.report.Better++
	}
	if best < 0 || records[best].Status != record.OK {
		return best, nil
	}
	if p := m.preferred; p >= 0 && records[p] != nil && records[p].Status == record.OK {
		differences, err := m.compare(records[best], records[p])
		if len(differences) > 0 {
			best = p
		}
		return best, err
	}
	rounded := false
	firsts := map[string]int{} // of every other class
	for n, r := range records {
		if r == nil || r.Status != record.OK {
			continue
		}
		with := best
		if class := r.Provenance.Class(); otherClass(records[best], r) {
			apart, err := m.measure(records[best], r)
			if err != nil {
				return 0, err
			}
			rounded = rounded || apart
			first, ok := firsts[class]
			if !ok {
				firsts[class] = n
				continue
			}
			with = first
		}
		differences, err := m.compare(records[with], r)
		if err != nil {
			return 0, err
		}
		if len(differences) > 0 {
			m.report.Conflicts = append(m.report.Conflicts, Conflict{
				Trial: t, Folders: [2]string{m.sources[with].name, m.sources[n].name}, Differences: differences,
				Hosts: hosts(records[with], r),
			})
		}
	}
	if rounded {
		m.report.Rounded.Trials++
	}
	return best, nil
}

// otherClass says that two records are known to be of different classes of kernels.
func otherClass(a, b *record.Record) bool {
	x, y := a.Provenance.Class(), b.Provenance.Class()
	return x != "" && y != "" && x != y
}

// measure takes into account how far two results are apart, and says whether they
// are.
func (m *merger) measure(a, b *record.Record) (apart bool, err error) {
	differences, err := m.compare(a, b)
	if err != nil || len(differences) == 0 {
		return false, err
	}
	timing, err := m.timing(a.Experiment)
	if err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(a.Metrics)) {
		x, y := a.Metrics[name], b.Metrics[name]
		if x == y || timing(name) {
			continue
		}
		if d := math.Abs(x-y) / max(1, math.Abs(x), math.Abs(y)); d > m.report.Rounded.Most {
			m.report.Rounded.Most, m.report.Rounded.Metric = d, name
		}
	}
	return true, nil
}

// timing returns which metrics of an experiment are times.
func (m *merger) timing(name string) (func(metric string) bool, error) {
	e, err := m.experiments.Lookup(name)
	if err != nil {
		return nil, err
	}
	return func(metric string) bool {
		return slices.ContainsFunc(e.Metrics, func(x experiment.Metric) bool { return x.Timing && x.Covers(metric) })
	}, nil
}

// rank orders records by what they are worth.
func rank(r *record.Record) int {
	switch r.Status {
	case record.OK:
		return 2
	case record.Failed:
		return 1
	default:
		return 0
	}
}

// compare says in which metrics and series two results differ, times aside.
func (m *merger) compare(a, b *record.Record) ([]string, error) {
	timing, err := m.timing(a.Experiment)
	if err != nil {
		return nil, err
	}
	var out []string
	names := maps.Clone(a.Metrics)
	maps.Copy(names, b.Metrics)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, inA := a.Metrics[name]
		y, inB := b.Metrics[name]
		if (x != y || inA != inB) && !timing(name) {
			out = append(out, fmt.Sprintf("%s %s, %s", name, value(x, inA), value(y, inB)))
		}
	}
	series, err := json.Marshal(a.Series)
	if err != nil {
		return nil, err
	}
	other, err := json.Marshal(b.Series)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(series, other) {
		out = append(out, "series")
	}
	return out, nil
}

func value(v float64, ok bool) string {
	if !ok {
		return "none"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// hosts names what computed two records, as far as it differs.
func hosts(a, b *record.Record) string {
	var out []string
	for _, p := range [][2]string{
		{a.Provenance.BLAS, b.Provenance.BLAS}, {a.Provenance.CPU, b.Provenance.CPU}, {a.Provenance.GPU, b.Provenance.GPU},
		{a.Provenance.Revision, b.Provenance.Revision}, {a.Provenance.Go, b.Provenance.Go},
	} {
		if p[0] != p[1] {
			out = append(out, fmt.Sprintf("%q and %q", p[0], p[1]))
		}
	}
	return strings.Join(out, ", ")
}

// write copies the chosen records.
func (m *merger) write(into string, chosen []int) error {
	s, err := store.CreateOn(m.disk, into)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(m.plan, m.experiments, false); err != nil {
		return err
	}
	for i, t := range m.plan.Trials {
		if err := m.writeOne(s, t.Key, chosen[i]); err != nil {
			return err
		}
	}
	// Those that were kept, too: the other folders may be removed now.
	if err := s.Settle(); err != nil {
		return err
	}
	if !m.here {
		return nil
	}
	// What was ignored in the united folder has been moved, and is reported as such.
	m.report.Ignored = slices.DeleteFunc(m.report.Ignored, func(a store.Aside) bool {
		return filepath.Dir(filepath.Dir(a.File)) == filepath.Clean(into)
	})
	for _, a := range s.Asides() {
		a.File, a.Moved = filepath.Join(into, a.File), filepath.Join(into, a.Moved)
		m.report.Ignored = append(m.report.Ignored, a)
	}
	return nil
}

// writeOne brings the record of one trial into the united folder.
func (m *merger) writeOne(s *store.Store, key string, from int) error {
	if m.here && from == 0 {
		m.report.Kept++
		return nil
	}
	unlock, ok, err := s.Lock(key)
	if err != nil {
		return err
	}
	if !ok {
		return ErrBusy
	}
	defer unlock()
	if err := s.PutAside(key); err != nil {
		return err
	}
	if from < 0 {
		m.report.Missing++
		return nil
	}
	r, ok, err := m.sources[from].store.Get(key)
	if err != nil {
		return err
	}
	if !ok {
		return gone(key, m.sources[from].name)
	}
	// A run in the united folder may have finished the trial since.
	now, ok, err := s.Get(key)
	if err != nil {
		return err
	}
	if ok && rank(now) > rank(r) {
		m.report.Kept++
		return nil
	}
	// Byte for byte: the digest is that of what was computed.
	if ok, err = s.Copy(key, m.sources[from].store); err != nil {
		return fmt.Errorf("the record %.12s cannot be written; what was copied before is kept: %w", key, err)
	} else if !ok {
		return gone(key, m.sources[from].name)
	}
	m.report.Copied++
	if r.Status == record.Failed {
		// It may name its log. A log is a convenience: there may be none.
		_ = s.CopyLog(key, m.sources[from].store)
	}
	return nil
}

func gone(key, folder string) error {
	return fmt.Errorf("the record %.12s has gone from %s; merge again", key, folder)
}
