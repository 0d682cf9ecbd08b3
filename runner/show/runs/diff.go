package runs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/tables"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// Difference is how two runs differ. Its JSON is public.
type Difference struct {
	Runs [2]string `json:"runs"`
	// Identity lists the differences apart from settings: result versions, backend, element type, data, program.
	Identity []Change `json:"identity"`
	// Experiments are those that both have, with the trials of both.
	Experiments []ExperimentDifference `json:"experiments"`
	OnlyIn      [2][]string            `json:"experiments_only_in"`
}

// Change is a property with its value in each run.
type Change struct {
	Name   string    `json:"name"`
	Values [2]string `json:"values"`
}

// ExperimentDifference compares the trials of an experiment that have equal settings, apart from those that differ, and
// equal seeds.
type ExperimentDifference struct {
	Experiment string   `json:"experiment"`
	Settings   []Change `json:"settings"` // with one value in each run, and another
	Values     []Change `json:"values"`   // of further settings, some of which one run has only
	Paired     int      `json:"paired"`   // trials with a result in both
	BitEqual   int      `json:"bit_equal"`
	OnlyIn     [2]int   `json:"trials_only_in"`
	NoResult   [2]int   `json:"trials_without_result"` // of those planned in both
	Seeds      int      `json:"seeds"`
	Metrics    []Paired `json:"metrics"`
}

// Paired is the difference of a metric, the second run minus the first.
//
// The trials of a seed share their random numbers, so that they are no independent pairs: the differences of a seed are
// averaged over its settings, and Student's t-test for pairs takes these averages, one a seed. Its p-value, adjusted
// over the metrics by Holm's procedure, concerns other seeds, and no other data.
type Paired struct {
	Metric        string     `json:"metric"`
	Timing        bool       `json:"timing"` // of the machine's speed, which is not tested
	Means         [2]float64 `json:"means"`  // of the runs, averaged as the difference
	Mean          float64    `json:"mean_difference"`
	StandardError *float64   `json:"standard_error"` // nil for a single seed
	Pairs         int        `json:"pairs"`
	Seeds         int        `json:"seeds"`
	P             *float64   `json:"p"` // nil where nothing is tested

	bySeed []float64 // mean differences
}

func (p Paired) tested() bool { return p.P != nil }

// DisjointError is the error of runs without a common experiment.
type DisjointError struct {
	Folders     []string
	Experiments [][]string
}

func (e *DisjointError) Error() string {
	var parts []string
	for i, f := range e.Folders {
		parts = append(parts, fmt.Sprintf("%s has %s", f, strings.Join(e.Experiments[i], ", ")))
	}
	return "the runs have no experiment in common: " + strings.Join(parts, "; ")
}

// loaded is a run in memory: its plan, and the records of its results without their series.
type loaded struct {
	dir     string
	plan    *plan.Plan
	names   []string // of the experiments
	records map[string]*record.Record
	digests map[string]string // of the series, by key
}

// load reads all records of a run.
func load(d disk.Disk, dir string, experiments *experiment.Registry) (*loaded, error) {
	s, p, err := store.OpenPlan(d, dir, experiments)
	if err != nil {
		return nil, err
	}
	l := &loaded{dir: dir, plan: p, records: map[string]*record.Record{}, digests: map[string]string{}}
	for _, t := range p.Trials {
		if !slices.Contains(l.names, t.Experiment) {
			l.names = append(l.names, t.Experiment)
		}
		rec, ok, err := s.Get(t.Key)
		if err != nil {
			return nil, err
		}
		if !ok || rec.Status != record.OK {
			continue
		}
		if l.digests[t.Key], err = seriesDigest(rec); err != nil {
			return nil, err
		}
		rec.Series = nil
		l.records[t.Key] = rec
	}
	return l, nil
}

// Diff compares two runs.
func Diff(d disk.Disk, a, b string, experiments *experiment.Registry) (*Difference, error) {
	both, err := loadAll(d, []string{a, b}, experiments)
	if err != nil {
		return nil, err
	}
	out := &Difference{Runs: [2]string{a, b}, Identity: identity(both[0], both[1])}
	for i := range both {
		out.OnlyIn[i] = []string{}
		for _, name := range both[i].names {
			if !slices.Contains(both[1-i].names, name) {
				out.OnlyIn[i] = append(out.OnlyIn[i], name)
			}
		}
	}
	for _, name := range both[0].names {
		if !slices.Contains(both[1].names, name) {
			continue
		}
		e, err := experiments.Lookup(name)
		if err != nil {
			return nil, err
		}
		out.Experiments = append(out.Experiments, *compare(e, both))
	}
	return out, nil
}

// loadAll reads runs, which must have an experiment in common.
func loadAll(d disk.Disk, folders []string, experiments *experiment.Registry) ([]*loaded, error) {
	var out []*loaded
	disjoint := &DisjointError{Folders: folders}
	for _, f := range folders {
		l, err := load(d, f, experiments)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
		disjoint.Experiments = append(disjoint.Experiments, l.names)
	}
	common := slices.ContainsFunc(out[0].names, func(name string) bool {
		return !slices.ContainsFunc(out, func(l *loaded) bool { return !slices.Contains(l.names, name) })
	})
	if !common {
		return nil, disjoint
	}
	return out, nil
}

// identity returns the differences of two runs apart from settings.
func identity(a, b *loaded) []Change {
	out := []Change{}
	add := func(name, x, y string) {
		if x != y {
			out = append(out, Change{name, [2]string{cmp.Or(x, "-"), cmp.Or(y, "-")}})
		}
	}
	for _, name := range a.names {
		if slices.Contains(b.names, name) {
			add("result version of "+name, fmt.Sprint(a.plan.Versions[name]), fmt.Sprint(b.plan.Versions[name]))
		}
	}
	add("backend", a.plan.Backend, b.plan.Backend)
	add("dtype", a.plan.DType, b.plan.DType)
	datasets := maps.Clone(a.plan.Datasets)
	maps.Copy(datasets, b.plan.Datasets)
	for _, name := range sorted(datasets) {
		add("data "+name, short(a.plan.Datasets[name]), short(b.plan.Datasets[name]))
	}
	if len(a.records) == 0 || len(b.records) == 0 {
		return out // nothing is known of the machine
	}
	for _, of := range []struct {
		name string
		get  func(p record.Provenance) string
	}{
		{"program", func(p record.Provenance) string { return strings.TrimSpace(p.Version + " " + p.Revision) }},
		{"BLAS class", record.Provenance.Class},
		{"processor", func(p record.Provenance) string { return p.CPU }},
		{"GPU", func(p record.Provenance) string { return p.GPU }},
	} {
		add(of.name, a.distinct(of.get), b.distinct(of.get))
	}
	return out
}

func short(digest string) string { return digest[:min(len(digest), 12)] }

// distinct lists what the records have, each once.
func (l *loaded) distinct(get func(p record.Provenance) string) string {
	all := map[string]bool{}
	for _, r := range l.records {
		all[get(r.Provenance)] = true
	}
	return strings.Join(sorted(all), ", ")
}

// valuesOf returns the texts of the values of each setting in the trials of an experiment.
func (l *loaded) valuesOf(e *experiment.Experiment) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, t := range l.plan.Trials {
		if t.Experiment != e.Name {
			continue
		}
		whole := e.Whole(t.Params)
		for _, p := range e.Params {
			if out[p.Name] == nil {
				out[p.Name] = map[string]bool{}
			}
			out[p.Name][valueOf(whole, p.Name)] = true
		}
	}
	return out
}

// valueOf is the text of a setting; trials of programs need not have all settings.
func valueOf(p experiment.Params, name string) string {
	if v, ok := p[name]; ok {
		return experiment.FormatValue(v)
	}
	return "-"
}

// fixedDifferently returns the settings with one value in every run, and not the same in all, with these values.
func fixedDifferently(e *experiment.Experiment, all []*loaded) (names []string, values map[string][]string) {
	values = map[string][]string{}
	of := make([]map[string]map[string]bool, len(all))
	for i, l := range all {
		of[i] = l.valuesOf(e)
	}
	for _, p := range e.Params {
		var texts []string
		for i := range all {
			if len(of[i][p.Name]) == 1 {
				texts = append(texts, sorted(of[i][p.Name])...)
			}
		}
		if len(texts) == len(all) && len(slices.Compact(slices.Sorted(slices.Values(texts)))) > 1 {
			names = append(names, p.Name)
			values[p.Name] = texts
		}
	}
	return names, values
}

// otherValues lists the settings whose values are not the same in both runs, apart from some.
func otherValues(e *experiment.Experiment, both []*loaded, without []string) []Change {
	out := []Change{}
	a, b := both[0].valuesOf(e), both[1].valuesOf(e)
	for _, p := range e.Params {
		if !slices.Contains(without, p.Name) && !maps.Equal(a[p.Name], b[p.Name]) {
			out = append(out, Change{p.Name, [2]string{several(a[p.Name]), several(b[p.Name])}})
		}
	}
	return out
}

// several lists the first few values.
func several(values map[string]bool) string {
	const most = 12
	all := sorted(values)
	if n := len(all) - most; n > 0 {
		return fmt.Sprintf("%s, … (%d values)", strings.Join(all[:most], ", "), len(all))
	}
	return strings.Join(all, ", ")
}

// setting identifies a setting apart from some of its parameters.
func setting(e *experiment.Experiment, p experiment.Params, without []string) string {
	var parts []string
	whole := e.Whole(p)
	for _, q := range e.Params {
		if !slices.Contains(without, q.Name) {
			parts = append(parts, q.Name+"="+valueOf(whole, q.Name))
		}
	}
	return strings.Join(parts, "\x00")
}

// pair is two trials of equal settings and seeds.
type pair struct {
	seed int64
	keys [2]string
}

// compare compares the trials of an experiment in two runs.
func compare(e *experiment.Experiment, both []*loaded) *ExperimentDifference {
	names, values := fixedDifferently(e, both)
	out := &ExperimentDifference{Experiment: e.Name, Settings: []Change{}, Values: otherValues(e, both, names)}
	for _, name := range names {
		out.Settings = append(out.Settings, Change{name, [2]string(values[name])})
	}
	type id struct {
		setting string
		seed    int64
	}
	second := map[id]string{}
	for _, t := range both[1].plan.Trials {
		if t.Experiment == e.Name {
			second[id{setting(e, t.Params, names), t.Seed}] = t.Key
		}
	}
	var pairs []pair
	for _, t := range both[0].plan.Trials {
		if t.Experiment != e.Name {
			continue
		}
		at := id{setting(e, t.Params, names), t.Seed}
		key, ok := second[at]
		if !ok {
			out.OnlyIn[0]++
			continue
		}
		delete(second, at)
		keys := [2]string{t.Key, key}
		missing := false
		for i := range keys {
			if both[i].records[keys[i]] == nil {
				out.NoResult[i]++
				missing = true
			}
		}
		if !missing {
			pairs = append(pairs, pair{t.Seed, keys})
		}
	}
	out.OnlyIn[1] = len(second)
	out.Paired = len(pairs)
	seeds := map[int64]bool{}
	for _, p := range pairs {
		seeds[p.seed] = true
		if bitEqual(e, both, p) {
			out.BitEqual++
		}
	}
	out.Seeds = len(seeds)
	out.Metrics = pairedMetrics(e, both, pairs)
	return out
}

// bitEqual reports whether two trials have the same metrics and series to the last bit, apart from times.
func bitEqual(e *experiment.Experiment, both []*loaded, p pair) bool {
	var bits [2]map[string]uint64
	for i := range both {
		bits[i] = map[string]uint64{}
		for name, v := range both[i].records[p.keys[i]].Metrics {
			if !isTiming(e, name) {
				bits[i][name] = math.Float64bits(v)
			}
		}
	}
	return maps.Equal(bits[0], bits[1]) && both[0].digests[p.keys[0]] == both[1].digests[p.keys[1]]
}

func isTiming(e *experiment.Experiment, metric string) bool {
	return slices.ContainsFunc(e.Metrics, func(m experiment.Metric) bool { return m.Timing && m.Covers(metric) })
}

// Lines describes the difference for people, in lines of a width.
func (x *Difference) Lines(width int) string {
	p := &page{width: width}
	p.line("A: ", x.Runs[0])
	p.line("B: ", x.Runs[1])
	p.section("Apart from settings", changeLines(x.Identity))
	for i, name := range []string{"A", "B"} {
		if len(x.OnlyIn[i]) > 0 {
			p.WriteString("\n")
			p.line("only in "+name+": ", strings.Join(x.OnlyIn[i], ", "))
		}
	}
	tested := false
	for i := range x.Experiments {
		x.Experiments[i].lines(p)
		tested = tested || x.Experiments[i].shown() && slices.ContainsFunc(x.Experiments[i].Metrics, Paired.tested)
	}
	if tested {
		p.WriteString("\n")
		p.line("", "p: Student's t-test for pairs, one difference a seed, which is the mean over its settings; by Holm over "+
			"the metrics. It concerns other seeds, and no other data.")
	}
	return p.String()
}

func changeLines(changes []Change) [][2]string {
	var out [][2]string
	for _, c := range changes {
		out = append(out, [2]string{c.Name, "A: " + c.Values[0] + ", B: " + c.Values[1]})
	}
	return out
}

// shown reports whether the metrics are worth a table.
func (x *ExperimentDifference) shown() bool { return x.BitEqual < x.Paired }

// lines describes the difference of one experiment.
func (x *ExperimentDifference) lines(p *page) {
	p.WriteString("\n" + x.Experiment + "\n")
	sentence := fmt.Sprintf("%s in both with a result, %d of them bit-equal", text.Count(x.Paired, "trial"), x.BitEqual)
	if x.Paired > 0 && x.BitEqual == x.Paired {
		sentence = text.Count(x.Paired, "trial") + " bit-equal"
	}
	for i, name := range []string{"A", "B"} {
		if n := x.OnlyIn[i]; n > 0 {
			sentence += fmt.Sprintf("; %d in %s only", n, name)
		}
		if n := x.NoResult[i]; n > 0 {
			sentence += fmt.Sprintf("; %d without a result in %s", n, name)
		}
	}
	p.line("  ", sentence)
	p.section("  Settings that differ", indented(changeLines(x.Settings)))
	p.section("  Settings with values that one run lacks", indented(changeLines(x.Values)))
	if x.shown() {
		p.WriteString("\n")
		_ = grid(x).WriteText(p, tables.TextOptions{Width: p.width})
	}
}

func indented(lines [][2]string) [][2]string {
	for i := range lines {
		lines[i][0] = "  " + lines[i][0]
	}
	return lines
}
