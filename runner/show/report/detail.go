package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/record"
	"privkern/runner/text"
)

// What the page holds of single trials. Beyond these numbers it points to the
// records, so that it can still be opened.
const (
	// maxListed trials stand in the page's table of trials, to be read without
	// scripts.
	maxListed = 300
	// maxDetails trials have their settings, metrics and provenance in the page's
	// data, from which the script fills panels: some 200 bytes a trial.
	maxDetails = 20_000
	// maxMetrics of an experiment are in the page's data.
	maxMetrics = 60
	// maxLinks trials of a value are linked one by one.
	maxLinks = 30
)

// detail is one trial that has a record. Numbers are positions in the lists of
// the tally and of the experiment's settings.
type detail struct {
	settings *settings
	params   map[string]int
	metrics  map[int]float64
	key      string
	seed     int64
	status   record.Status
	reason   int // in texts; -1: none
	warnings []int
	privacy  int // -1: none
	source   int
	timing   record.Timing
}

// source is what computed a trial, and from which data.
type source struct {
	machine  int
	datasets string
}

func (t *TrialTally) addDetail(s *settings, params map[string]int, r *record.Record, privacy, machine int) {
	if len(t.details) == maxDetails {
		return
	}
	d := detail{settings: s, params: params, metrics: make(map[int]float64, len(r.Metrics)), key: r.Key,
		seed: r.Seed, status: r.Status,
		reason: -1, privacy: privacy, timing: r.Timing}
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		if i := s.metrics.add(name); i < maxMetrics {
			d.metrics[i] = r.Metrics[name]
		}
	}
	if r.Error != nil && *r.Error != "" {
		d.reason = t.texts.add(*r.Error)
	}
	for _, w := range r.Warnings {
		d.warnings = append(d.warnings, t.texts.add(w))
	}
	var data []string
	for _, name := range slices.Sorted(maps.Keys(r.Provenance.Datasets)) {
		data = append(data, fmt.Sprintf("%s (SHA-256 %.12s)", name, r.Provenance.Datasets[name]))
	}
	from := source{machine, strings.Join(data, ", ")}
	if d.source = t.origins.add(fmt.Sprint(from)); d.source == len(t.sources) {
		t.sources = append(t.sources, from)
	}
	t.byKey[r.Key] = len(t.details)
	t.details = append(t.details, d)
}

// Finished is the number of trials with a record.
func (t *TrialTally) Finished() int { return t.Total() - t.notRun }

// listed says whether the page's table of trials has the trial.
func (t *TrialTally) listed(key string) bool {
	i, ok := t.byKey[key]
	return ok && i < maxListed
}

// link is where the page says more of a trial: its line in the table of trials,
// or its record beside the page.
func (t *TrialTally) link(key string) string {
	if t.listed(key) {
		return "#" + trialAnchor(key)
	}
	return recordPath(key)
}

// numbers returns the positions of those of the trials that the data block has.
func (t *TrialTally) numbers(keys []string) []int {
	out := make([]int, 0, len(keys))
	for _, key := range keys {
		if i, ok := t.byKey[key]; ok {
			out = append(out, i)
		}
	}
	return out
}

// seedText is the seed of a trial, or the beginning of its key where it is not
// known.
func (t *TrialTally) seedText(key string) string {
	if i, ok := t.byKey[key]; ok {
		return fmt.Sprint(t.details[i].seed)
	}
	return fmt.Sprintf("%.12s", key)
}

func trialAnchor(key string) string { return anchor("trial", fmt.Sprintf("%.16s", key)) }

// recordPath is the file of a record, relative to the page.
func recordPath(key string) string { return "trials/" + key + ".json" }

// TrialLine is a line of the table of trials.
type TrialLine struct {
	Anchor, Record, Key string
	Experiment          string
	Settings            string // what differs from the defaults
	Seed                int64
	Status              record.Status
	Seconds             float64
	Machine             int // number of the machine, from 1
	Guarantee           string
	Remarks             []string // why it failed, and warnings
}

// Lines returns the trials that the page lists, in the order of the plan.
func (t *TrialTally) Lines() []TrialLine {
	var out []TrialLine
	for _, d := range t.details[:min(len(t.details), maxListed)] {
		l := TrialLine{
			Anchor: trialAnchor(d.key), Record: recordPath(d.key), Key: fmt.Sprintf("%.12s", d.key), Experiment: d.settings.name,
			Settings: d.text(), Seed: d.seed, Status: d.status, Seconds: d.timing.WallS,
			Machine: t.sources[d.source].machine + 1,
		}
		if d.privacy >= 0 {
			l.Guarantee = t.privacy[d.privacy].Statement()
		}
		if d.reason >= 0 {
			l.Remarks = append(l.Remarks, t.texts.texts[d.reason])
		}
		for _, w := range d.warnings {
			l.Remarks = append(l.Remarks, t.texts.texts[w])
		}
		out = append(out, l)
	}
	return out
}

// Omitted is how many finished trials are not listed.
func (t *TrialTally) Omitted() int { return max(t.Finished()-maxListed, 0) }

// text names the settings that are not defaults.
func (d *detail) text() string {
	var words []string
	for _, name := range d.settings.names() {
		i, ok := d.params[name]
		if !ok {
			continue
		}
		value := d.settings.values[name].texts[i]
		if def, ok := d.settings.defaults[name]; !ok || def != value {
			words = append(words, text.Quote(name+"="+value))
		}
	}
	return strings.Join(words, " ")
}

// The data block of the page: what the script shows of single trials.
type (
	block struct {
		Experiments []blockExperiment `json:"experiments"`
		Texts       []string          `json:"texts"`
		Privacy     []blockPrivacy    `json:"privacy"`
		Machines    []string          `json:"machines"`
		Sources     []blockSource     `json:"sources"`
		Trials      []blockTrial      `json:"trials"`
		// Cells maps the identifier of a value to the trials that it is made of.
		Cells map[string][]int `json:"cells"`
		// Listed is how many of the trials stand in the table of trials.
		Listed int `json:"listed"`
	}
	blockExperiment struct {
		Name     string       `json:"name"`
		Params   []blockParam `json:"params"`
		Metrics  []string     `json:"metrics"`
		Withheld int          `json:"withheld"` // metrics that are in the records only
	}
	blockParam struct {
		Name    string   `json:"name"`
		Unit    string   `json:"unit"`
		Doc     string   `json:"doc"`
		Values  []string `json:"values"`
		Default int      `json:"default"` // position in Values; -1: none of them
	}
	blockPrivacy struct {
		Guarantee string   `json:"guarantee"`
		Unit      string   `json:"unit"`
		Mechanism string   `json:"mechanism"`
		RNG       string   `json:"rng"`
		Notes     []string `json:"notes"`
	}
	blockSource struct {
		Machine  int    `json:"machine"`
		Datasets string `json:"datasets"`
	}
	// blockTrial is an array: experiment, key, seed, status, positions of the
	// parameters' values (-1: none), metrics, reason, warnings, privacy, source,
	// wall time in s, processor time in s, memory in bytes. Members' names would
	// make the page several times as long.
	blockTrial [13]any
)

// data returns the block, in pieces, as JSON that can stand in a page: <, > and & are
// escaped.
func (t *TrialTally) data(cells map[string][]int) (iter.Seq[template.JS], error) {
	b := block{Texts: list(t.texts.texts), Cells: cells, Listed: min(len(t.details), maxListed), Trials: []blockTrial{},
		Experiments: []blockExperiment{}, Privacy: []blockPrivacy{}, Machines: []string{}, Sources: []blockSource{}}
	names := make(map[*settings][]string)
	number := make(map[*settings]int)
	for i, s := range t.experiments {
		number[s] = i
		names[s] = s.names()
		shown := min(len(s.metrics.texts), maxMetrics)
		e := blockExperiment{Name: s.name, Metrics: list(s.metrics.texts[:shown]), Withheld: len(s.metrics.texts) -
			shown, Params: []blockParam{}}
		for _, name := range names[s] {
			p := blockParam{Name: name, Values: s.values[name].texts, Default: -1}
			p.Unit, p.Doc = s.doc(name)
			if def, ok := s.defaults[name]; ok {
				p.Default = slices.Index(p.Values, def)
			}
			e.Params = append(e.Params, p)
		}
		b.Experiments = append(b.Experiments, e)
	}
	for _, p := range t.privacy {
		b.Privacy = append(b.Privacy, blockPrivacy{p.Statement(), p.Unit, p.Mechanism, p.RNG, list(p.Notes)})
	}
	for _, m := range t.Machines() {
		b.Machines = append(b.Machines, m.text())
	}
	for _, s := range t.sources {
		b.Sources = append(b.Sources, blockSource{s.machine, s.datasets})
	}
	for i := range t.details {
		d := &t.details[i]
		params := make([]int, len(names[d.settings]))
		for k, name := range names[d.settings] {
			params[k] = -1
			if at, ok := d.params[name]; ok {
				params[k] = at
			}
		}
		metrics := make([]json.RawMessage, min(len(d.settings.metrics.texts), maxMetrics))
		for k := range metrics {
			metrics[k] = json.RawMessage("null")
			if v, ok := d.metrics[k]; ok {
				metrics[k] = strconv.AppendFloat(nil, v, 'g', 7, 64)
			}
		}
		b.Trials = append(b.Trials, blockTrial{number[d.settings], d.key, d.seed, d.status, params, metrics,
			d.reason, list(d.warnings),
			d.privacy, d.source, round(d.timing.WallS), round(d.timing.CPUS), d.timing.PeakRSSBytes})
	}
	raw, err := json.Marshal(b)
	return func(yield func(template.JS) bool) {
		for piece := range slices.Chunk(raw, 64<<10) {
			if !yield(template.JS(piece)) { //nolint:gosec // JSON with <, > and & escaped
				return
			}
		}
	}, err
}

// round keeps milliseconds.
func round(seconds float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(seconds, 'f', 3, 64))
}

// list is never null in JSON.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

// text is the machine in a line.
func (m *MachineGroup) text() string {
	parts := []string{"privkern " + cmp.Or(m.Version, "of unknown version")}
	for _, p := range []struct{ label, value string }{{"revision ", m.Revision}, {"", m.Go}, {"", m.CPU},
		{"", m.GPU}, {"", m.BLAS}} {
		if p.value != "" {
			parts = append(parts, p.label+p.value)
		}
	}
	return strings.Join(append(parts, m.Backend+" "+m.DType), "; ")
}
