// Package merge unites output folders that hold parts of one plan, such as the
// shards of machines without a shared file system.
//
// The folders must hold the same plan: the digest of its settings and the digests of
// its data sets are equal. Records are copied byte for byte, so that their digests
// hold. Nothing is written before all records have been
// compared. Two results of one trial and one BLAS class must be equal in every
// metric but times and in every series: a difference is a [Conflict], since one of them
// is wrong. Between BLAS classes results may differ in their last bits, which is reported
// as a [Deviation].
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

// Union reports a merge.
type Union struct {
	Total   int // trials of the plan
	Copied  int // records that were written
	Kept    int // records that were there already
	Missing int // trials without a record
	Skipped int // trials whose record reports missing data
	Foreign int // files of trials that the plan does not have
	// Better counts trials with a result in one folder and only a failure or missing data
	// in another.
	Better int
	// Ignored are files that are no records; those of the united folder were moved, unless results
	// are in conflict.
	Ignored   []store.Aside
	Conflicts []Conflict
	Plan      *plan.Plan     // of all folders; nil where they were not read
	Classes   record.Classes // BLAS classes of the results in the united folder
	Rounded   Deviation
}

// Deviation is the distance of results of different BLAS classes, which may differ in
// their last bits.
type Deviation struct {
	Trials int // with different results
	// Most is the largest difference of a metric, relative to the larger value where that
	// is above 1. It is 0 where only series differ.
	Most   float64
	Metric string // with that difference
}

// Conflict is a trial with different results in two folders.
type Conflict struct {
	Trial   plan.Trial
	Folders [2]string
	// Differences are texts such as "rmse_cm 1.5, 1.6".
	Differences []string
	// Hosts names the machines that computed the results, where they differ.
	Hosts string
}

// ErrConflicts is the error where nothing was written because results differ.
var ErrConflicts = errors.New("folders have different results of the same trials; nothing was written")

// ErrBusy is the error where a run is at work in the united folder.
var ErrBusy = errors.New("a run is at work on trials of the united folder; merge again when it has ended")

// A PlanError is the error where a folder has another plan than the first.
type PlanError struct {
	First, Folder string
	Difference    string
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("%s and %s hold different plans (%s); parts of one plan can be united",
		e.First, e.Folder, e.Difference)
}

// Folders unites output folders in the folder into, which may exist and hold records. Of
// a trial with several records a result is taken before a failure, and that before
// missing data; times and provenance may differ. Where results differ, that of the folder
// prefer is taken; without one, the first where they are of different BLAS classes, and
// otherwise the conflicts are returned with [ErrConflicts] and nothing is written. The
// other folders are only read. Repeating it completes an interrupted merge.
func Folders(d disk.Disk, into string, from []string, prefer string,
	experiments *experiment.Registry) (*Union, error) {
	m := &merger{disk: d, experiments: experiments, preferred: -1, report: &Union{Classes: record.Classes{}}}
	if err := m.openAll(into, from, prefer); err != nil {
		return m.report, err
	}
	chosen := make([]int, len(m.plan.Trials))
	for i, t := range m.plan.Trials {
		var err error
		if chosen[i], err = m.choose(t); err != nil {
			return m.report, err
		}
	}
	if err := m.survey(); err != nil {
		return m.report, err
	}
	if len(m.report.Conflicts) > 0 {
		if m.here { // otherwise write reports the files of the united folder, which it moves
			m.ignored(into, m.sources[0].store)
		}
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
		s, err := store.Open(m.disk, name)
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

// choose returns the number of the source whose record of a trial is taken; -1 where none
// has one. Of equal records the first is taken, so that the united folder keeps its own, but
// a sealed one before one that is not.
func (m *merger) choose(t plan.Trial) (int, error) {
	records := make([]*record.Record, len(m.sources))
	best, better := -1, false
	for n, s := range m.sources {
		r, ok, err := s.store.Get(t.Key)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		records[n] = r
		if best < 0 {
			best = n
			continue
		}
		better = better || rank(r) != rank(records[best])
		if rank(r) > rank(records[best]) {
			best = n
		} else if rank(r) == rank(records[best]) && r.Sealed() && !records[best].Sealed() {
			best = n
		}
	}
	if better {
		m.report.Better++
	}
	switch {
	case best < 0:
	case records[best].Status == record.Skipped:
		m.report.Skipped++
	case records[best].Status == record.OK:
		var err error
		if best, err = m.settle(t, records, best); err != nil {
			return 0, err
		}
		m.report.Classes.Add(records[best].Provenance.Class(), 1)
	}
	return best, nil
}

// settle compares the best result of a trial with the others, and returns the number of
// the one that is taken.
func (m *merger) settle(t plan.Trial, records []*record.Record, best int) (int, error) {
	e, err := m.experiments.Lookup(t.Experiment)
	if err != nil {
		return 0, err
	}
	if p := m.preferred; p >= 0 && records[p] != nil && records[p].Status == record.OK {
		if !compare(e, records[best], records[p]).equal() {
			best = p
		}
		return best, nil
	}
	rounded := false
	firsts := map[string]int{} // of every other class
	for n, r := range records {
		if r == nil || r.Status != record.OK {
			continue
		}
		with, d := best, compare(e, records[best], r)
		ours, class := records[best].Provenance.Class(), r.Provenance.Class()
		if ours != "" && class != "" && ours != class {
			rounded = rounded || !d.equal()
			if d.most > m.report.Rounded.Most {
				m.report.Rounded.Most, m.report.Rounded.Metric = d.most, d.metric
			}
			first, ok := firsts[class]
			if !ok {
				firsts[class] = n
				continue
			}
			with, d = first, compare(e, records[first], r)
		}
		if !d.equal() {
			m.report.Conflicts = append(m.report.Conflicts, Conflict{
				Trial: t, Folders: [2]string{m.sources[with].name, m.sources[n].name}, Differences: d.texts,
				Hosts: hosts(records[with], r),
			})
		}
	}
	if rounded {
		m.report.Rounded.Trials++
	}
	return best, nil
}

// survey counts the files of the folders that are not united.
func (m *merger) survey() error {
	m.report.Total, m.report.Plan = len(m.plan.Trials), m.plan
	planned := map[string]bool{}
	for _, t := range m.plan.Trials {
		planned[t.Key] = true
	}
	for n, s := range m.sources {
		if n > 0 || !m.here { // those of the united folder are moved
			m.ignored(s.name, s.store)
		}
		keys, err := s.store.Keys()
		if err != nil {
			return err
		}
		for key := range keys {
			if !planned[key] {
				m.report.Foreign++
			}
		}
	}
	return nil
}

// ignored reports the files of a folder that are no records.
func (m *merger) ignored(folder string, s *store.Store) {
	for _, a := range s.Asides() {
		if a.File = filepath.Join(folder, a.File); a.Moved != "" {
			a.Moved = filepath.Join(folder, a.Moved)
		}
		m.report.Ignored = append(m.report.Ignored, a)
	}
}

// rank orders records by their use.
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

// difference is the difference of two results, times aside.
type difference struct {
	texts  []string // such as "rmse_cm 1.5, 1.6"
	most   float64  // largest difference of a metric that both have; see [Deviation]
	metric string   // with that difference
}

func (d difference) equal() bool { return len(d.texts) == 0 }

// compare compares two results of an experiment.
func compare(e *experiment.Experiment, a, b *record.Record) (d difference) {
	names := maps.Clone(a.Metrics)
	maps.Copy(names, b.Metrics)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, inA := a.Metrics[name]
		y, inB := b.Metrics[name]
		if x == y && inA == inB ||
			slices.ContainsFunc(e.Metrics, func(m experiment.Metric) bool { return m.Timing && m.Covers(name) }) {
			continue
		}
		d.texts = append(d.texts, fmt.Sprintf("%s %s, %s", name, value(x, inA), value(y, inB)))
		if apart := math.Abs(x-y) / max(1, math.Abs(x), math.Abs(y)); inA && inB && apart > d.most {
			d.most, d.metric = apart, name
		}
	}
	// Series were read from JSON, and are written without an error.
	ours, _ := json.Marshal(a.Series)
	theirs, _ := json.Marshal(b.Series)
	if !bytes.Equal(ours, theirs) {
		d.texts = append(d.texts, "series")
	}
	return d
}

func value(v float64, ok bool) string {
	if !ok {
		return "none"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// hosts names the differences of the machines that computed two records.
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
	s, err := store.Create(m.disk, into)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	defer m.ignored(into, s) // of an interrupted merge, too: files were moved
	if err := s.FreezePlan(m.plan, m.experiments, false); err != nil {
		return err
	}
	for i, t := range m.plan.Trials {
		if err := m.writeOne(s, t.Key, chosen[i]); err != nil {
			return err
		}
	}
	// Kept records, too: the other folders may be removed now.
	return s.Settle()
}

// writeOne copies the record of one trial into the united folder.
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
	// Byte for byte, so that the digest holds.
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
