package report

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/text"
)

// TrialTally collects a sweep's trials for the report: groups and counts, and the details
// that panels show. Shared texts are stored once, so that one of 10,000 trials takes a few
// hundred bytes; see detail.
type TrialTally struct {
	reg    *experiment.Registry
	counts map[record.Status]int
	notRun int

	details []detail
	byKey   map[string]int // position in details
	texts   *values        // warnings and errors
	origins *values        // of provenance; see origin
	sources []source

	shown int // number of details in the page's data, see encode

	experiments []*settings
	byName      map[string]*settings
	problems    map[problemID]*Incident
	machines    []*MachineGroup           // in the order of first use
	datasets    map[string]map[string]int // name to digest to trials
	classes     record.Classes            // of the results
	privacy     []*PrivacyGroup           // the first keptPrivacy
	privacyOf   map[[sha256.Size]byte]int // hash of a block to its index in privacy, -1 for none

	WallS, CPUS float64 // sums over the trials
	PeakRSS     int64   // of the largest trial
}

// NewTrialTally returns an empty tally. The registry gives parameters their order and units; it
// may be nil.
func NewTrialTally(reg *experiment.Registry) *TrialTally {
	return &TrialTally{reg: reg, counts: map[record.Status]int{}, byKey: map[string]int{}, texts: newValues(),
		origins: newValues(), byName: map[string]*settings{}, problems: map[problemID]*Incident{},
		datasets: map[string]map[string]int{}, classes: record.Classes{}, privacyOf: map[[sha256.Size]byte]int{}}
}

// Add adds a planned trial with its record, nil where it has not run. The report has the order
// of the plan.
func (t *TrialTally) Add(name string, params experiment.Params, seed int64, r *record.Record) {
	s := t.byName[name]
	if s == nil {
		s = newSettings(name, t.reg)
		t.byName[name] = s
		t.experiments = append(t.experiments, s)
	}
	at := s.add(params, seed)
	if r == nil {
		t.notRun++
		return
	}
	t.counts[r.Status]++
	t.WallS += r.Timing.WallS
	t.CPUS += r.Timing.CPUS
	t.PeakRSS = max(t.PeakRSS, r.Timing.PeakRSSBytes)
	if r.Status == record.OK {
		t.classes.Add(r.Provenance.Class(), 1)
	} else {
		reason := "no reason is recorded"
		if r.Error != nil && *r.Error != "" {
			reason = *r.Error
		}
		t.problem(problemID{string(r.Status), name, reason}, params, seed, r)
	}
	for _, w := range r.Warnings {
		t.problem(problemID{"warning", name, w}, params, seed, r)
	}
	privacy := -1
	if r.Privacy.Stated() {
		privacy = t.addPrivacy(name, r.Privacy)
	}
	t.addDetail(s, at, r, privacy, t.addProvenance(r))
}

// Count is a number of trials of one status.
type Count struct {
	Status string
	Count  int
}

// Counts returns the statuses that occur, and Total all trials.
func (t *TrialTally) Counts() []Count {
	var out []Count
	for _, s := range []record.Status{record.OK, record.Failed, record.Skipped} {
		if n := t.counts[s]; n > 0 {
			out = append(out, Count{string(s), n})
		}
	}
	if t.notRun > 0 {
		out = append(out, Count{"not run", t.notRun})
	}
	return out
}

// Total is the number of planned trials.
func (t *TrialTally) Total() int {
	n := t.notRun
	for _, c := range t.counts {
		n += c
	}
	return n
}

type problemID struct{ kind, experiment, text string }

// Incident is a failure, a reason for skipping, or a warning, with the number of its trials
// and an example.
type Incident struct {
	Kind, Experiment, Text string
	Count                  int
	Example                []string // the arguments of a command that runs the first of them

	order int
	first func() []string
}

// Command is the example in one line.
func (i *Incident) Command() string {
	words := []string{"run"}
	for _, a := range i.Example {
		words = append(words, text.Quote(a))
	}
	return strings.Join(words, " ")
}

func (t *TrialTally) problem(id problemID, params experiment.Params, seed int64, r *record.Record) {
	p := t.problems[id]
	if p == nil {
		backend, dtype := r.Backend, r.DType
		p = &Incident{Kind: id.kind, Experiment: id.experiment, Text: id.text, order: len(t.problems),
			first: func() []string { return t.example(id.experiment, params, seed, backend, dtype) }}
		t.problems[id] = p
	}
	p.Count++
}

// example returns the arguments of the command that runs one trial again.
func (t *TrialTally) example(name string, params experiment.Params, seed int64, backend, dtype string) []string {
	s := t.byName[name]
	words, seeds := []string{"trial", name}, "--seed"
	switch {
	case s.known == nil:
		for _, p := range s.ordered(params) {
			words = append(words, p+"="+experiment.FormatValue(params[p]))
		}
	case s.known.External: // a program, which only a sweep runs: it has it, as the first setting
		words, seeds = []string{"sweep", "FILE"}, "--seeds"
		for _, p := range s.ordered(params) {
			value := experiment.FormatValue(params[p])
			if d, ok := s.defaults[p]; p != s.params[0].Name && (!ok || d != value) {
				words = append(words, p+"="+value)
			}
		}
	default:
		words = append(words, s.known.Arguments(params)...)
	}
	words = append(words, seeds, strconv.FormatInt(seed, 10))
	for _, flag := range []struct{ name, value, absent string }{{"--backend", backend, "cpu"},
		{"--dtype", dtype, "float64"}} {
		if flag.value != "" && flag.value != flag.absent {
			words = append(words, flag.name, flag.value)
		}
	}
	return words
}

// maxProblems bounds the listed groups of one kind.
const maxProblems = 50

// Problems is a list of groups of one kind.
type Problems struct {
	Kind    string
	Total   int // trials
	Listed  []*Incident
	Omitted int // groups
}

// Problems returns failures, skipped trials and warnings, the most frequent
// first.
func (t *TrialTally) Problems() []Problems {
	var out []Problems
	for _, kind := range []string{string(record.Failed), string(record.Skipped), "warning"} {
		ps := Problems{Kind: kind}
		for _, p := range t.problems {
			if p.Kind == kind {
				ps.Listed = append(ps.Listed, p)
				ps.Total += p.Count
			}
		}
		if len(ps.Listed) == 0 {
			continue
		}
		slices.SortFunc(ps.Listed, func(a, b *Incident) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.order, b.order))
		})
		if n := len(ps.Listed); n > maxProblems {
			ps.Listed, ps.Omitted = ps.Listed[:maxProblems], n-maxProblems
		}
		for _, p := range ps.Listed {
			p.Example = p.first()
		}
		out = append(out, ps)
	}
	return out
}

// PrivacyGroup is a privacy block with the experiments whose trials have it.
type PrivacyGroup struct {
	experiment.Privacy
	Experiments []string
	Trials      int
}

// addPrivacy returns the position of the block, -1 for one that is not kept.
func (t *TrialTally) addPrivacy(name string, p *experiment.Privacy) int {
	id := sha256.Sum256(fmt.Appendf(nil, "%q", append([]string{p.Statement(), p.Unit, p.Mechanism, p.RNG}, p.Notes...)))
	at, known := t.privacyOf[id]
	if !known {
		at = -1
		if len(t.privacy) < keptPrivacy {
			at = len(t.privacy)
			t.privacy = append(t.privacy, &PrivacyGroup{Privacy: *p})
		}
		t.privacyOf[id] = at
	}
	if at >= 0 {
		q := t.privacy[at]
		q.Trials++
		if !slices.Contains(q.Experiments, name) {
			q.Experiments = append(q.Experiments, name)
		}
	}
	return at
}

// maxPrivacy bounds the listed privacy blocks, keptPrivacy those in the panels of trials.
const (
	maxPrivacy  = 40
	keptPrivacy = 2000
)

// Privacy returns the distinct privacy blocks, at most maxPrivacy of them.
func (t *TrialTally) Privacy() []*PrivacyGroup { return t.privacy[:min(len(t.privacy), maxPrivacy)] }

// PrivacyOmitted returns the number of further blocks.
func (t *TrialTally) PrivacyOmitted() int { return len(t.privacyOf) - len(t.Privacy()) }

// MachineGroup is a program on a machine that computed trials.
type MachineGroup struct {
	record.Provenance
	Backend, DType string
	Trials         int
}

// addProvenance returns the number of the machine, from 0.
func (t *TrialTally) addProvenance(r *record.Record) int {
	p := r.Provenance
	at := slices.IndexFunc(t.machines, func(m *MachineGroup) bool {
		return m.Version == p.Version && m.Revision == p.Revision && m.Go == p.Go && m.CPU == p.CPU && m.GPU == p.GPU &&
			m.BLAS == p.BLAS && m.Backend == r.Backend && m.DType == r.DType
	})
	if at < 0 {
		at = len(t.machines)
		t.machines = append(t.machines, &MachineGroup{Provenance: p, Backend: r.Backend, DType: r.DType})
	}
	t.machines[at].Trials++
	for name, digest := range p.Datasets {
		if t.datasets[name] == nil {
			t.datasets[name] = map[string]int{}
		}
		t.datasets[name][digest]++
	}
	return at
}

// Classes names the BLAS classes of the results; it is empty for a single one.
func (t *TrialTally) Classes() string { return t.classes.Sentence() }

// Machines returns the machines of the trials, in the order of first use.
func (t *TrialTally) Machines() []*MachineGroup { return t.machines }

// DatasetGroup is a data set that trials have read.
type DatasetGroup struct {
	Name, Digest string
	Trials       int
}

// Datasets returns the data sets in the order of their names.
func (t *TrialTally) Datasets() []DatasetGroup {
	var out []DatasetGroup
	for _, name := range slices.Sorted(maps.Keys(t.datasets)) {
		for _, digest := range slices.Sorted(maps.Keys(t.datasets[name])) {
			out = append(out, DatasetGroup{name, digest, t.datasets[name][digest]})
		}
	}
	return out
}
